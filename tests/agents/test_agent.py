"""Agents at work: cases 72 and 75 to 80 of trial.md, each with a stand-in for the real program."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import sys
import threading
from pathlib import Path

import pytest

from pytest_retrieval.agents.agent import Agent, ToolServer, load_agent
from pytest_retrieval.agents.observe import invoke, unobserved
from pytest_retrieval.errors import UsageError
from tests.agents.support import PLAIN, executable
from tests.processes import is_alive, wait_until_gone

ENOUGH = 60.0
REPLY_BOUND, STDOUT_BOUND = 1_048_576, 8_388_608


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with ``bin`` first on PATH, the run's ``scratch`` and a directory ``run``."""
    for name in ("bin", "scratch", "run"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    return tmp_path


def script(room: Path, text: str, program: str = "/bin/sh") -> Agent:
    executable(room / "fake", text, program)
    return load_agent("script:fake", room)


def asked(agent: Agent, room: Path, prompt: str = "PROMPT", timeout: float = ENOUGH) -> dict[str, object]:
    record = invoke(agent, room / "run", prompt, timeout=timeout, scratch=room / "scratch")
    assert list((room / "scratch").iterdir()) == []
    return record


def codex(room: Path, text: str, effort: str = "") -> Agent:
    said = 'if [ "$1" = --version ]; then echo "codex-cli 0.149.0 "; exit; fi\n'
    find = 'last=; for word; do [ "$last" = -o ] && reply=$word; last=$word; done\n'
    executable(room / "bin" / "codex", said + find + text)
    return load_agent("codex", room, model="m1", effort=effort)


def test_case_72_the_argv_of_codex(room: Path) -> None:
    agent = codex(room, 'printf "%s\\n" "$@" > argv; printf "%s" "$reply" > place', effort="high")
    asked(agent, room)
    words = (room / "run" / "argv").read_text().splitlines()
    place = (room / "run" / "place").read_text()
    assert words == [
        *["exec", "--json", "--ephemeral", "-s", "read-only", "--skip-git-repo-check", "-C"],
        str(room / "run"),
        *["-m", "m1", "-c", "model_reasoning_effort=high", "-o"],
        place,
        "PROMPT",
    ]
    assert not Path(place).parent.exists()


def test_case_72_the_identity_of_codex(room: Path) -> None:
    identity = codex(room, "", effort="high").identity()
    whole = hashlib.sha256((room / "bin" / "codex").read_bytes()).hexdigest()
    assert identity == {
        "kind": "codex",
        "version": "codex-cli 0.149.0",
        "command": "exec --json --ephemeral -s read-only --skip-git-repo-check -C ROOT -m m1 "
        "-c model_reasoning_effort=high -o REPLY PROMPT",
        "effort": "high",
        "sha256": whole,
    }


def test_case_72_without_an_effort_the_pair_is_absent(room: Path) -> None:
    agent = codex(room, 'printf "%s\\n" "$@" > argv')
    asked(agent, room)
    assert "-c" not in (room / "run" / "argv").read_text().splitlines()
    assert agent.identity()["effort"] == "NOT_OBSERVED"
    assert " -c " not in agent.identity()["command"]


def test_a_program_that_tells_no_version_ends_the_run(room: Path) -> None:
    executable(room / "bin" / "codex", "exit 3")
    agent = load_agent("codex", room, model="m1")
    with pytest.raises(UsageError, match=r"agent codex: codex --version told no version \(exit status 3\)"):
        agent.identity()


def test_codex_is_told_of_a_tools_server_on_its_command_line(room: Path) -> None:
    agent = codex(room, 'printf "%s\\n" "$@" > argv')
    server = ToolServer("/usr/bin/python 3", ("-I", 'a "b".py'))
    invoke(agent, room / "run", "P", timeout=ENOUGH, scratch=room / "scratch", server=server)
    words = (room / "run" / "argv").read_text().splitlines()
    assert 'mcp_servers.retrieval.command="/usr/bin/python 3"' in words
    assert 'mcp_servers.retrieval.args=["-I", "a \\"b\\".py"]' in words


MESSAGE = '{"type":"item.completed","item":{"type":"agent_message","text":"last message"}}'
CALL = '{"type":"item.completed","item":{"type":"command_execution","command":"ls"}}'
USAGE = '{"type":"turn.completed","usage":{"input_tokens":3}}'
OVERFLOW = f"head -c {STDOUT_BOUND + 1024} /dev/zero | tr '\\0' x\n"


def test_case_75_a_reply_and_an_output_beyond_their_bounds(room: Path) -> None:
    agent = codex(room, f"head -c {REPLY_BOUND + 4096} /dev/zero | tr '\\0' r > \"$reply\"\n{OVERFLOW}")
    seen = agent.run(room / "run", "PROMPT", ENOUGH, room / "scratch")
    assert len(seen.reply) == REPLY_BOUND + 1
    record = asked(agent, room)
    assert record["reply"] == "r" * REPLY_BOUND + "\n[TRUNCATED]"
    assert record["reply_truncated"] is True
    assert record["stdout_truncated"] is True
    assert (record["tokens"], record["tool_calls"]) == ("NOT_OBSERVED", "NOT_OBSERVED")
    assert record["exit_code"] == 0


def test_case_75_tokens_that_were_told_before_the_bound_are_not_observed(room: Path) -> None:
    """A later event, which was cut off, may have told more."""
    record = asked(codex(room, f"echo '{CALL}'; echo '{USAGE}'; echo fine > \"$reply\"; {OVERFLOW}"), room)
    assert (record["tokens"], record["tool_calls"]) == ("NOT_OBSERVED", "NOT_OBSERVED")
    assert record["commands"] == ["ls"]
    assert (record["reply"], record["reply_truncated"]) == ("fine\n", False)


def test_case_75_a_small_output_tells_tokens(room: Path) -> None:
    record = asked(codex(room, f"echo '{MESSAGE}'; echo '{USAGE}'; echo fine > \"$reply\""), room)
    assert (record["tokens"], record["tool_calls"]) == ({"input_tokens": 3}, 0)
    assert (record["reply"], record["reply_truncated"]) == ("fine\n", False)
    assert "stdout_truncated" not in record


def test_case_75_without_a_reply_file_the_last_message_is_the_reply(room: Path) -> None:
    record = asked(codex(room, f"echo '{MESSAGE}'; {OVERFLOW}"), room)
    assert (record["reply"], record["reply_truncated"]) == ("last message", True)
    record = asked(codex(room, f"echo '{MESSAGE}'"), room)
    assert (record["reply"], record["reply_truncated"]) == ("last message", False)


def test_case_75_an_empty_reply_file_is_an_empty_reply(room: Path) -> None:
    assert asked(codex(room, f"echo '{MESSAGE}'; : > \"$reply\""), room)["reply"] == ""


def test_a_reply_that_is_no_file_of_its_own_is_not_followed(room: Path) -> None:
    (room / "secret").write_text("secret")
    record = asked(codex(room, f"echo '{MESSAGE}'; ln -s {room / 'secret'} \"$reply\""), room)
    assert record["reply"] == "last message"


def test_case_76_a_script_that_says_too_much(room: Path) -> None:
    record = asked(script(room, OVERFLOW), room)
    assert record["reply"] == "x" * REPLY_BOUND + "\n[TRUNCATED]"
    assert (record["reply_truncated"], record["stdout_truncated"]) == (True, True)
    assert (record["tokens"], record["tool_calls"]) == ("NOT_OBSERVED", "NOT_OBSERVED")


def test_what_is_said_beyond_the_bound_stops_nobody(room: Path) -> None:
    """Section 9.3: the rest is drained, the program goes on, and its exit status is its own."""
    record = asked(script(room, f"{OVERFLOW}echo done > {room}/after; exit 7"), room)
    assert (room / "after").read_text() == "done\n"
    assert record["exit_code"] == 7


@pytest.mark.parametrize(("end", "code"), [("exit 0", 0), ("exit 23", 23), ("kill -KILL $$", -1)])
def test_case_77_exit_codes(room: Path, end: str, code: int) -> None:
    record = asked(script(room, f"printf 'out\\0\\n'; {end}"), room)
    assert (record["exit_code"], record["reply"]) == (code, "out\x00\n")


def test_the_last_words_of_an_agent_that_failed_are_kept(room: Path) -> None:
    record = asked(script(room, "echo one >&2; printf 'two\\007\\n\\n' >&2; exit 4"), room)
    assert record["stderr"] == "two\N{REPLACEMENT CHARACTER}"
    assert "stderr" not in asked(script(room, "echo one >&2"), room)
    told = '{"type":"turn.failed","error":{"message":"no such model"}}'
    assert asked(codex(room, f"echo '{told}'; echo reading >&2; exit 1"), room)["stderr"] == "no such model"


def test_case_78_what_a_child_sees(room: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OF_THE_CALLER", "inherited")
    record = asked(script(room, 'pwd; echo "$OF_THE_CALLER"; cat; echo "$PWD:$1"'), room)
    assert record["reply"] == f"{room / 'run'}\ninherited\n{room / 'run'}:PROMPT\n"


def test_a_child_sees_nothing_of_the_run_that_asks_it(room: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """25-33: pytest's own variable names the test that is running, ``OLDPWD`` the caller's folder."""
    for name in ("PYTEST_XDIST_WORKER", "OLDPWD", "GIT_DIR"):
        monkeypatch.setenv(name, "of the caller")
    reply = str(asked(script(room, "env"), room)["reply"])
    assert "of the caller" not in reply
    assert "PYTEST_CURRENT_TEST" not in reply


def test_case_78_a_name_on_path_an_absolute_and_an_unclean_path(room: Path) -> None:
    executable(room / "bin" / "fake-agent", "echo found")
    for text in (
        "fake-agent",
        f"{room}/bin/fake-agent",
        f"{room}/run/..//bin/./fake-agent",
        "bin/fake-agent",
    ):
        assert asked(load_agent(f"script:{text}", room), room)["reply"] == "found\n"


def test_case_78_a_relative_path_is_the_callers(room: Path) -> None:
    """The repaired rule of 25-2: the original looked for ``./x`` in the run directory, and hashed another."""
    executable(room / "x", "echo caller")
    executable(room / "run" / "x", "echo run")
    agent = load_agent("script:./x", room)
    assert asked(agent, room)["reply"] == "caller\n"
    digest = hashlib.sha256((room / "x").read_bytes()).hexdigest()
    assert agent.identity() == {"kind": "script", "command": "./x", "sha256": digest}


def test_case_79_no_time_and_no_program_are_errors_without_an_exit_code(room: Path) -> None:
    agent = script(room, "touch started")
    record = asked(agent, room, timeout=0)
    assert record["error"] == "script: a timeout of 0s leaves no time to run"
    agent.program.unlink()
    gone = asked(agent, room)
    assert str(gone["error"]).startswith("script: cannot start")
    for each in (record, gone):
        assert isinstance(each.pop("wall_ms"), int)
        assert {**each, "wall_ms": "NOT_OBSERVED", "error": ""} == {**unobserved(), "error": ""}
    assert list((room / "run").iterdir()) == []


def test_an_argument_with_a_nul_or_too_long_is_one_clear_line(room: Path) -> None:
    agent = script(room, "touch started")
    assert "holds a NUL character" in str(asked(agent, room, prompt="a\0b")["error"])
    error = str(asked(agent, room, prompt="x" * 140_000)["error"])
    assert "an argument of 140,000 bytes is longer than this system passes" in error
    assert '"stdin": "{{.Prompt}}"' in error
    assert list((room / "run").iterdir()) == []


def test_a_long_prompt_goes_by_standard_input_or_in_a_file(room: Path) -> None:
    """25-17: NUL bytes too."""
    prompt = "x" * 140_000 + "\0é"
    for change in ({"command": ["cat"], "stdin": "{{.Prompt}}"}, {"command": ["cat", "{{.PromptFile}}"]}):
        (room / "mine.json").write_text(json.dumps({**PLAIN, **change}))
        assert asked(load_agent("mine.json", room), room, prompt=prompt)["reply"] == prompt


CHILD = """\
sh -c 'trap "" TERM; echo $$ > child; sleep 600; echo late > late' &
while [ ! -s child ]; do sleep 0.02; done
"""


def child_of(room: Path) -> int:
    return int((room / "run" / "child").read_text())


def test_case_80_a_timeout_ends_a_child_that_ignores_the_signal(room: Path) -> None:
    record = asked(script(room, f"echo $$ > leader; {CHILD} wait"), room, timeout=1)
    assert record["error"] == "script fake: deadline exceeded after 1s"
    assert record["exit_code"] == "NOT_OBSERVED"
    assert wait_until_gone(child_of(room))
    assert wait_until_gone(int((room / "run" / "leader").read_text()))
    assert not (room / "run" / "late").exists()


def test_case_80_an_interrupt_ends_it_too(room: Path) -> None:
    agent = script(room, f"{CHILD} wait")
    stop = threading.Event()

    def interrupt() -> None:
        while not stop.wait(0.02):
            if (room / "run" / "child").is_file() and (room / "run" / "child").read_text().strip():
                os.kill(os.getpid(), signal.SIGINT)
                return

    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            asked(agent, room)
    finally:
        stop.set()
        thread.join()
    assert wait_until_gone(child_of(room))
    assert list((room / "scratch").iterdir()) == []


def test_case_80_a_child_that_is_left_behind_is_gone_with_its_leader(room: Path) -> None:
    record = asked(script(room, f"{CHILD} exit 0"), room)
    assert (record["exit_code"], "error" in record) == (0, False)
    assert not is_alive(child_of(room))


def test_a_child_in_a_session_of_its_own_is_gone_too(room: Path) -> None:
    """What the original could not see: it waited for such a child's pipe, and lost the reply."""
    text = (
        "import os, sys, time\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    open('child', 'w').write(str(os.getpid()))\n"
        "    time.sleep(600)\n"
        "while not (os.path.exists('child') and os.path.getsize('child')):\n"
        "    time.sleep(0.02)\n"
        "print('reply')\n"
    )
    record = asked(script(room, text, sys.executable), room)
    assert (record["reply"], record["exit_code"]) == ("reply\n", 0)
    assert not is_alive(child_of(room))


def test_only_named_variables_are_passed_where_a_description_names_them(
    room: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MINE_KEY", "key")
    monkeypatch.setenv("OTHER_KEY", "other")
    value = {"command": ["sh", "-c", "env", "{{.Prompt}}"], "env_pass": ["MINE_*"], "env": ["AT={{.Here}}"]}
    (room / "mine.json").write_text(json.dumps({**PLAIN, **value}))
    lines = str(asked(load_agent("mine.json", room), room)["reply"]).splitlines()
    assert {"MINE_KEY=key", f"AT={room}"} <= set(lines)
    assert not any(line.startswith("OTHER_KEY") for line in lines)


def test_the_identity_knows_the_scripts_that_a_command_names(room: Path) -> None:
    value = {**PLAIN, "command": ["{{.Python}}", "{{.Here}}/agent.py", "{{.Prompt}}"]}
    (room / "mine.json").write_text(json.dumps(value))
    identities = []
    for text in ("print(1)", "print(2)"):
        (room / "agent.py").write_text(text)
        identities.append(load_agent("mine.json", room).identity())
    first, second = identities
    assert first["command"] == "HERE/agent.py PROMPT"
    assert first["scripts_sha256"] != second["scripts_sha256"]
    assert {**first, "scripts_sha256": ""} == {**second, "scripts_sha256": ""}
    assert first["description_sha256"] == hashlib.sha256((room / "mine.json").read_bytes()).hexdigest()


CLAUDE = """
import json, pathlib, sys
if "--version" in sys.argv:
    print("2.1.0 (Claude Code)")
    sys.exit()
prompt = sys.stdin.read()
pathlib.Path("argv").write_text(json.dumps(sys.argv[1:]))
call = {"type": "tool_use", "name": "Bash", "input": {"command": "ls -a"}}
spent = {"input_tokens": 5, "output_tokens": 6, "server_tool_use": {"web_search_requests": 0}}
for event in (
    {"type": "system", "subtype": "init", "tools": []},
    {"type": "assistant", "message": {"role": "assistant", "content": [call]}},
    {"type": "result", "subtype": "success", "is_error": False, "result": prompt.upper(), "usage": spent},
):
    print(json.dumps(event))
"""


def test_claude_code_as_described_over_a_stand_in(room: Path) -> None:
    executable(room / "bin" / "claude", CLAUDE, sys.executable)
    agent = load_agent("claude", room, model="opus")
    record = asked(agent, room, prompt="who?")
    assert (record["reply"], record["tool_calls"], record["commands"]) == ("WHO?", 1, ["ls -a"])
    assert record["tokens"] == {"input_tokens": 5, "output_tokens": 6}
    words = json.loads((room / "run" / "argv").read_text())
    assert words[:5] == ["-p", "--output-format", "stream-json", "--verbose", "--no-session-persistence"]
    assert words[words.index("--model") + 1] == "opus"
    assert not {"--effort", "--mcp-config", "--allowedTools"} & set(words)
    assert agent.identity()["version"] == "2.1.0 (Claude Code)"


def test_claude_code_is_given_the_configuration_of_a_tools_server(room: Path) -> None:
    keep = 'import shutil\nif "--mcp-config" in sys.argv:\n'
    keep += '    shutil.copy(sys.argv[sys.argv.index("--mcp-config") + 1], "config")\n'
    executable(room / "bin" / "claude", CLAUDE + keep, sys.executable)
    server = ToolServer("/usr/bin/python", ("-I", "server.py", "/s"))
    agent = load_agent("claude", room)
    invoke(agent, room / "run", "P", timeout=ENOUGH, scratch=room / "scratch", server=server)
    assert json.loads((room / "run" / "config").read_text()) == {
        "mcpServers": {"retrieval": {"command": "/usr/bin/python", "args": ["-I", "server.py", "/s"]}}
    }
    words = json.loads((room / "run" / "argv").read_text())
    assert words[words.index("--allowedTools") + 1] == "mcp__retrieval__search,mcp__retrieval__read"
