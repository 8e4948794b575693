"""What each arm supplies: cases 53 to 56 and 58 to 60 of trial.md, and other arms of the project."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_retrieval.arms.base import Arm
from pytest_retrieval.errors import UsageError
from pytest_retrieval.model import Answer, Capabilities, Query
from pytest_retrieval.text.tokens import terms
from pytest_retrieval.trial.packets import CorvintPacket
from tests.trial.quota import TEXT, Quota, write


def test_case_53_terms_and_the_body_of_grep(quota: Quota) -> None:
    assert b" ".join(terms(TEXT)) == b"blank covers file input parse quota test to which"
    found = quota.entry("grep")
    assert found["context"] == "score=6 tests/test_quota.py\nscore=3 lib/quota.py\nscore=1 NOTES.md"
    assert (found["context_bytes"], found["context_truncated"]) == (65, False)
    assert quota.entry("grep", limit=1)["context"] == "score=6 tests/test_quota.py"


def test_case_54_nothing_that_matches_is_said_in_a_fixed_sentence(quota: Quota) -> None:
    found = quota.entry("grep", quota.task(text="zzz"))
    assert found["context"] == "(no file of the repository matched any term of the task)"
    assert not {"context_error", "context_state"} & set(found)


def test_case_55_what_grep_looks_at(quota: Quota) -> None:
    write(
        quota.root,
        {
            "whole.txt": "wombat" + " " * (1_048_576 - 6),
            "larger.txt": "wombat" + " " * (1_048_577 - 6),
            ".corvint/in.txt": "wombat",
            ".context-corvint/in.txt": "wombat",
            "a/.git/in.txt": "wombat",
        },
    )
    (quota.root / "link.txt").symlink_to(quota.root / "whole.txt")
    assert quota.entry("grep", quota.task(text="wombat"))["context"] == "score=1 whole.txt"


def test_the_subject_stays_in_the_listing(quota: Quota) -> None:
    assert "lib/quota.py" in quota.entry("grep", quota.change())["context"]


def test_none_is_empty(quota: Quota) -> None:
    found = quota.entry("none")
    assert (found["context"], found["context_bytes"], found["context_truncated"]) == ("", 0, False)


STUB = 'if [ "$1" = --version ]; then echo "stub 1"; exit; fi\n'


def packet(quota: Quota, text: str, task: Any = None, **given: Any) -> dict[str, Any]:
    """What a stand-in for the packet's producer supplies."""
    return quota.entry("corvint", task, corvint=quota.program("stub", STUB + text), **given)


def test_case_58_what_the_packet_is_asked_for(quota: Quota) -> None:
    shown = 'shift; echo "$(basename "$(dirname "$1")") $(basename "$1")"; shift; echo "$@"'
    changed = packet(quota, shown, quota.change())["context"].splitlines()
    assert changed[1] == f"context --task {TEXT} --limit 20 --subject lib/quota.py"
    asked = packet(quota, shown, quota.task(changed_file="lib/quota.py"), limit=7)["context"].splitlines()
    assert asked[1] == f"context --task {TEXT} --limit 7"


def test_case_58_a_packet_that_fails_is_named_and_the_arm_is_not_left_out(quota: Quota) -> None:
    found = packet(quota, "echo no module >&2; exit 2")
    assert found["context_error"] == "ended with exit status 2: no module"
    assert found["context"] == (
        "(the context of arm corvint could not be produced: ended with exit status 2: no module)"
    )
    assert found["context_bytes"] == len(found["context"])
    assert "context_state" not in found


@pytest.mark.parametrize(
    ("output", "state"),
    [
        ("nope", "UNREADABLE"),
        ('{"context":{"state":"READY"}}', "READY"),
        ('{"state":"NO_CANDIDATES","context":{"state":"READY"}}', "NO_CANDIDATES"),
        ('{"results":[]}', None),
        ("[1]", None),
        ('{"state":7}', None),
    ],
)
def test_case_58_the_state_of_a_packet(quota: Quota, output: str, state: str | None) -> None:
    found = packet(quota, f"echo '{output}'")
    assert found["context"] == f"{output}\n"  # as it is, with its line feed
    assert found.get("context_state") == state


def test_case_56_a_packet_that_is_cut_keeps_its_state(quota: Quota) -> None:
    text = json.dumps({"state": "READY", "pad": "x" * 70_000})
    (quota.folder / "packet").write_text(text)
    found = packet(quota, f"cat {quota.folder / 'packet'}")
    assert (found["context_bytes"], found["context_truncated"]) == (65_548, True)
    assert found["context"] == text[:65_536] + "\n[TRUNCATED]"
    assert found["context_state"] == "READY"


def test_a_context_is_cut_between_characters(quota: Quota) -> None:
    """The repaired rule of 25-12: 65,535 bytes and a character of two are no 65,536."""
    (quota.folder / "packet").write_text("x" * 65_535 + "é" * 10)
    found = packet(quota, f"cat {quota.folder / 'packet'}")
    assert found["context"] == "x" * 65_535 + "\n[TRUNCATED]"
    assert found["context_bytes"] == 65_547


def test_a_packet_that_is_no_utf_8_is_recorded_as_it_will_be_read_again(quota: Quota) -> None:
    assert packet(quota, "printf 'a\\377b'")["context"] == "a\N{REPLACEMENT CHARACTER}b"


def test_a_producer_that_leaves_the_copy_dirty_is_named_and_harms_no_other(quota: Quota) -> None:
    """Decision 14."""
    stub = quota.program("stub", STUB + 'echo wombat > "$2/tests/test_wombat.py"; echo {}')
    prepared = quota.prepared(
        quota.contexts("corvint,grep", corvint=stub), quota.task(text="wombat files"), "read-only"
    )
    arms = prepared.detail["arms"]
    assert arms["corvint"]["context_error"] == "work tree left dirty: ?? tests/test_wombat.py"
    assert "wombat" not in arms["grep"]["context"]


def test_case_59_the_repository_map(quota: Quota) -> None:
    text = (
        'echo "rank=1 tests/test_quota.py"; echo "$@"; pwd\n'
        'while [ "$1" != --task-file ]; do shift; done; echo "$2"; cat "$2"; echo'
    )
    stub = quota.program("stub", text)
    contexts = quota.contexts("aider", aider_command=stub)
    lines = quota.prepared(contexts, quota.change()).detail["arms"]["aider"]["context"].splitlines()
    assert lines[0] == "rank=1 tests/test_quota.py"
    root, task_file = lines[2], lines[3]
    assert lines[1] == f"--root {root} --task-file {task_file} --limit 20 --subject lib/quota.py"
    assert lines[4:] == [TEXT]
    assert not Path(task_file).exists()
    assert contexts.facts("none")["aider"] == {"command": stub}
    with quota.workspaces().open(quota.change()) as workspace:
        contexts.produce("aider", quota.change(), workspace, "none")
        beside = [path.name for path in workspace.path.parent.iterdir()]
        assert beside == [workspace.path.name]  # the task's text is gone while the copy still is there


def test_case_59_a_map_that_fails(quota: Quota) -> None:
    stub = quota.program("stub", "echo broken >&2; exit 1")
    found = quota.entry("aider", aider_command=stub)
    assert found["context_error"] == "ended with exit status 1: broken"


def test_the_words_of_a_map_are_the_callers_files(quota: Quota) -> None:
    """The repaired rule of 25-2: the command runs in the copy, where a relative path leads nowhere."""
    quota.program("bridge.sh", "echo 'rank=1 a.py'")
    assert quota.entry("aider", aider_command="sh bridge.sh")["context"] == "rank=1 a.py"
    assert quota.entry("aider", aider_command="./bridge.sh")["context"] == "rank=1 a.py"


def test_case_60_what_the_prompt_says_of_a_packet() -> None:
    said = " ".join(CorvintPacket.prologue.split())
    assert "`action` says what to do with the file: act on it" in said
    assert "`medium` and `low` back at most `likely`" in said
    assert "`NO_CANDIDATES` backs at most `unsure`" in said


class Seer(Arm):
    """Tells what it sees of the task."""

    name = "seer"

    def rank(self, query: Query) -> list[str]:
        told = f"{query.text}|{dict(query.object)}|{query.changed_file}|{query.given}|{query.limit}"
        return [told, "lib/quota.py", "lib/render.py"]


def test_any_arm_of_the_project_supplies_its_first_rows(quota: Quota) -> None:
    found = quota.entry("seer", quota.change(), "seer", limit=2, extra={"seer": Seer})
    seen = {"text": TEXT, "changed_file": "lib/quota.py"}
    assert found["context"].splitlines() == [
        f"rank=1 {TEXT}|{seen}|lib/quota.py|()|2",
        "rank=2 lib/quota.py",
    ]


def test_lexical_arms_and_labels(quota: Quota) -> None:
    contexts = quota.contexts("g=grep,bm25,mine=bm25:all")
    assert contexts.labels == ("g", "bm25:all", "bm25:ident", "mine")
    arms = quota.prepared(contexts).detail["arms"]
    assert arms["g"]["context"].startswith("score=6 tests/test_quota.py\n")
    assert arms["mine"]["context"] == arms["bm25:all"]["context"]
    assert arms["mine"]["context"].startswith("rank=1 tests/test_quota.py\nrank=2 lib/quota.py")


class Odd(Arm):
    name = "odd"

    def rank(self, query: Query) -> Answer | list[str]:
        if "refuse" in query.text:
            return Answer(refusal="not mine")
        if "fail" in query.text:
            raise ValueError("broken")
        return ["a\nb.py", "c\udc80.py"] if "names" in query.text else []


@pytest.mark.parametrize(
    ("text", "context", "error"),
    [
        ("refuse", "(the context of arm odd could not be produced: not mine)", "not mine"),
        ("fail", "(the context of arm odd could not be produced: ValueError: broken)", "ValueError: broken"),
        ("nothing", "(no file was ranked for this task)", None),
        ("names", "rank=1 a\N{REPLACEMENT CHARACTER}b.py\nrank=2 c\N{REPLACEMENT CHARACTER}.py", None),
    ],
)
def test_an_arm_that_answers_oddly(quota: Quota, text: str, context: str, error: str | None) -> None:
    found = quota.entry("odd", quota.task(text=text), "odd", extra={"odd": Odd})
    assert (found["context"], found.get("context_error")) == (context, error)


class Messy(Arm):
    """Writes into the work tree."""

    name = "messy"
    capabilities = Capabilities(worktree=True)

    def rank(self, query: Query) -> list[str]:
        (self.snapshot.worktree() / "junk.txt").write_text("junk")
        return ["lib/quota.py"]


def test_an_arm_that_leaves_the_work_tree_dirty_is_named(quota: Quota) -> None:
    found = quota.entry("messy", None, "messy", extra={"messy": Messy})
    assert found["context_error"] == "work tree left dirty: ?? junk.txt"


def test_the_default_is_none_and_grep(quota: Quota) -> None:
    assert quota.contexts().labels == ("none", "grep")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("bogus", "unknown arm 'bogus'"),
        ("gerp", "did you mean 'grep'?"),
        ("none,none", "two arms have the label 'none'"),
        ("corvint", "give --corvint PATH"),
        ("impact", "give --corvint PATH"),
        ("aider", "give --retrieval-aider-command"),
    ],
)
def test_names_that_are_refused(quota: Quota, text: str, fault: str) -> None:
    with pytest.raises(UsageError) as caught:
        quota.contexts(text)
    assert fault in str(caught.value)


def test_a_missing_command_is_told_before_the_run(quota: Quota) -> None:
    with pytest.raises(UsageError, match="no-such-map"):
        quota.contexts("aider", aider_command="no-such-map --fast")
    with pytest.raises(UsageError, match="no-such-corvint"):
        quota.contexts("corvint", corvint="no-such-corvint")


def test_what_the_head_of_a_report_says_of_contexts(quota: Quota) -> None:
    stub = quota.program("stub", STUB)
    facts = quota.contexts("none,grep,corvint", corvint=stub).facts("none")
    assert facts["aider"] == "NOT_OBSERVED"
    assert facts["corvint"]["version"] == "stub 1"
    assert len(facts["corvint"]["sha256"]) == 64
    assert facts["arms"]["none"]["memorisation"] is True
    assert facts["arms"]["grep"]["baseline"] is True
    assert "memorisation" not in facts["arms"]["grep"]
    assert [*facts["prologues"]] == ["none", "grep", "corvint"]
    assert facts["prologues"]["corvint"]["text"] == CorvintPacket.prologue
