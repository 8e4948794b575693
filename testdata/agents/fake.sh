#!/bin/sh
# A deterministic agent for trials: no model, the same reply to the same prompt on every machine.
#
# It believes what it is told: it claims the first row of the context (score=N PATH, rank=N PATH, or the first
# result of a JSON packet), else the first path in the task, else nothing that could be true. How it behaves is
# decided by the checksum of the task's text: sure, likely, unsure, slow, leaving a child process behind, silent,
# malformed, claiming nothing, crashing after its answer, or wrong on purpose. FAKE_MOOD overrides that, and knows
# two moods more: fail (no answer, exit status 3) and hang.
#
#     fake.sh PROMPT

prompt=$1
task=$(printf '%s\n' "$prompt" | awk '/^CONTEXT \(arm: /{exit} on{print} /^TASK$/{on=1}')
context=$(printf '%s\n' "$prompt" | awk '/^ANSWER FORMAT/{exit} on{print} /^CONTEXT \(arm: /{on=1}')

sum=$(printf '%s' "$task" | cksum)
sum=${sum%% *}
case $((sum / 315 % 11)) in # so that the embedded tasks meet every mood
0 | 1) mood=sure ;;
2) mood=likely ;;
3) mood=unsure ;;
4) mood=slow ;;
5) mood=leak ;;
6) mood=silent ;;
7) mood=malformed ;;
8) mood=empty ;;
9) mood=crash ;;
10) mood=wrong ;;
esac
mood=${FAKE_MOOD:-$mood}

# With an arm as a tool (--access tools) it searches once for the words of the task, and believes the result.
ask() { # CONFIGURATION: what the search tool says
    words=$(printf '%s' "$task" | tr -cs 'A-Za-z0-9_/.-' ' ')
    argument() { sed -n 's/.*"args": *\["\(.*\)"\].*/\1/p' "$1" | awk -F'", *"' -v n="$2" '{print $n}'; }
    set -- "$(sed -n 's/.*"command": *"\([^"]*\)".*/\1/p' "$1")" \
        "$(argument "$1" 1)" "$(argument "$1" 2)" "$(argument "$1" 3)" "$(argument "$1" 4)"
    {
        echo '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"fake","version":"1"}}}'
        echo '{"jsonrpc":"2.0","method":"notifications/initialized"}'
        printf '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"search","arguments":{"query":"%s"}}}\n' "$words"
    } | "$@" | sed -n 's/.*"text": "\(.*\)"}\], "isError": false.*/\1/p' | awk '{gsub(/\\n/, "\n")} 1'
}
[ -z "$RETRIEVAL_MCP_CONFIG" ] || context=$(ask "$RETRIEVAL_MCP_CONFIG")

row=$(printf '%s\n' "$context" | sed -n 's/^\(score\|rank\)=[0-9]* //p' | head -n 1)
[ -n "$row" ] || row=$(printf '%s\n' "$context" | sed -n 's/.*"id": *"\([^":]*\).*/\1/p' | head -n 1)
evidence=${row:-none}
[ -n "$row" ] || row=$(printf '%s\n' "$task" | grep -o '[A-Za-z0-9_-]*/[A-Za-z0-9_/-]*\.[a-z][a-z]*' | head -n 1)
row=${row:-nowhere/at/all.txt}
case $row in
*test*) kind=test-file ;;
*) kind=source-file ;;
esac
case $task in
*'of kind answer.'*) kind=answer ;;
*'claim of kind test-file.'*) kind=test-file ;;
esac
[ "$kind" = answer ] && row=120

claim() { # CONFIDENCE VALUE
    value=$(printf '%s' "$2" | sed 's/\\/\\\\/g; s/"/\\"/g')
    printf 'This is what the context says.\n\n```json\n'
    printf '{"claims":[{"kind":"%s","value":"%s","confidence":"%s","evidence":"%s"}]}\n```\n' \
        "$kind" "$value" "$1" "$(printf '%s' "$evidence" | sed 's/\\/\\\\/g; s/"/\\"/g')"
}

case $mood in
sure) claim certain "$row" ;;
likely) claim likely "$row" ;;
unsure) claim unsure "$row" ;;
slow)
    sleep 1
    claim likely "$row"
    ;;
leak)
    sleep 600 &
    claim certain "$row"
    ;;
silent) echo 'I cannot tell from what I was given.' ;;
malformed) printf '```json\n{"claims":[{"kind":\n```\n' ;;
empty) printf 'Nothing can be said.\n\n```json\n{"claims":[]}\n```\n' ;;
crash)
    claim likely "$row"
    exit 3
    ;;
wrong) claim certain "no/such/file.txt" ;;
fail)
    echo 'out of memory' >&2
    exit 3
    ;;
hang) exec sleep 600 ;;
*)
    echo "fake.sh: no mood '$mood'" >&2
    exit 2
    ;;
esac
