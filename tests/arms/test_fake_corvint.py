"""The reference program itself: what its description promises, switch by switch."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.arms.corvint_support import FAKE, RING
from tests.processes import is_alive
from tests.snapshots.repos import checkout

Said = tuple[int, bytes, bytes]
Ask = Callable[..., Said]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    checkout(tmp_path / "copy", dict(RING))
    return tmp_path / "copy"


@pytest.fixture
def ask(copy: Path) -> Ask:
    """Ask about the copy, with switches: exit status, output and diagnostics."""

    def asked(*words: str, switches: str = "", trace: bool = False) -> Said:
        variables = {"PATH": os.environ["PATH"], "FAKE_CORVINT": switches}
        if trace:
            variables["CORVINT_BENCH_SNAPSHOT_TRACE"] = "1"
        done = subprocess.run(
            [FAKE, "--root", copy, *words], env=variables, capture_output=True, check=False, timeout=60
        )
        return done.returncode, done.stdout, done.stderr

    return asked


def packet(said: Said) -> Any:
    code, out, err = said
    assert (code, err) == (0, b"")
    return json.loads(out)


def refusal(said: Said) -> tuple[str, str]:
    code, out, err = said
    assert (code, out) == (2, b"")
    assert err.count(b"\n") == 1
    row = json.loads(err)
    assert row["ok"] is False
    return row["code"], row["error"]


def context_ids(said: Said) -> list[str]:
    return [row["id"] for row in packet(said)["results"]]


def test_every_switch_is_described_and_every_described_one_exists() -> None:
    text = FAKE.read_text()
    described, code = text.split('"""', 2)[1:]
    rows = re.findall(r"^    ([a-z0-9-]+)(?:=[A-Z]+)? {2,}", described, re.MULTILINE)
    mentioned = set(rows) | {"stubborn"}
    used = set(re.findall(r'"([a-z0-9-]+)" (?:not )?in switches', code))
    used |= set(re.findall(r'switches\.get\(["\']([a-z]+)["\']', code))
    used |= set(re.findall(r'^    "([a-z0-9-]+)": [b\'"]', code, re.MULTILINE))
    assert mentioned == used


def test_the_version() -> None:
    said = subprocess.run([FAKE, "--version"], capture_output=True, check=True)
    assert (said.stdout, said.stderr) == (b"fake-corvint 1.0\n", b"")
    other = subprocess.run(
        [FAKE, "--version"], env={**os.environ, "FAKE_CORVINT": "version=2"}, capture_output=True, check=True
    )
    assert other.stdout == b"2\n"


def test_query_and_context_rank_by_distinct_words(ask: Ask) -> None:
    # ring_test.c holds three of these words, spare_test.c one in its path, the others one in their text.
    rows = packet(ask("query", "--task", "assert a ring test", "--limit", "10"))["context"]["results"]
    assert [row["evidence"][0]["path"] for row in rows] == [
        "ring_test.c",
        "notes.md",
        "ring.c",
        "spare_test.c",
    ]
    assert context_ids(ask("context", "--task", "wrap a ring")) == ["ring.c", "ring_test.c", "notes.md"]
    assert context_ids(ask("context", "--task", "wrap a ring", "--limit", "1")) == ["ring.c"]


def test_nothing_found(ask: Ask) -> None:
    assert packet(ask("query", "--task", "zebra"))["context"] == {"state": "OUT_OF_SCOPE", "results": []}
    answer = packet(ask("context", "--task", "zebra"))
    assert (answer["state"], answer["results"]) == ("NO_CANDIDATES", [])


def test_impact_names_the_files_that_name_the_changed_one(ask: Ask) -> None:
    results = packet(ask("impact", "ring.c", "--limit", "10"))["context"]["results"]
    assert results == [
        {"evidence": [{"path": "ring.c"}, {"path": "notes.md"}]},
        {"evidence": [{"path": "ring.c"}, {"path": "ring_test.c"}]},
    ]


def test_affected_looks_at_what_is_dirty(ask: Ask, copy: Path) -> None:
    assert packet(ask("affected"))["plan"] == {"scope": "BOUNDED", "selected": [], "unknowns": []}
    (copy / "ring.c").write_bytes(RING["ring.c"] + b"\n\n")
    assert packet(ask("affected"))["plan"]["selected"] == [{"unit": "", "tests": ["ring_test.c"]}]
    (copy / "notes.md").write_bytes(b"")
    plan = packet(ask("affected"))["plan"]
    assert (plan["scope"], plan["unknowns"]) == (
        "UNKNOWN",
        [{"path": "notes.md", "reason": "UNOWNED_DIRTY_PATH"}],
    )


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["query", "--task", "x" * 2_001], "unsupported-query-task"),
        (["context", "--task", "x" * 32_001], "unsupported-context-task"),
        (["context", "--task", "x", "--limit", "51"], "invalid-arguments"),
        (["context", "--task", "x", "--limit", "0"], "invalid-arguments"),
        (["context", "--task", " "], "invalid-arguments"),
        (["context"], "invalid-arguments"),
        (["impact", "notes.md"], "unsupported-impact-path-suffix"),
        (["impact", "gone.c"], "unsupported-impact-path"),
        (["impact"], "invalid-arguments"),
        (["affected", "--what"], "invalid-arguments"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_refusals(words: list[str], code: str, ask: Ask) -> None:
    assert refusal(ask(*words))[0] == code


def test_bounds_are_inclusive(ask: Ask) -> None:
    assert ask("query", "--task", "é" * 2_000)[0] == 0
    assert ask("context", "--task", "é" * 32_000, "--limit", "50")[0] == 0


def test_a_command_line_it_does_not_know_is_a_usage_text() -> None:
    done = subprocess.run([FAKE, "--root", "."], capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"usage: ")
    assert done.stderr.count(b"\n") == 2


def test_a_refused_impact_is_observed_and_ignored_by_git(ask: Ask, copy: Path) -> None:
    for path in ("notes.md", "gone.c"):
        ask("impact", path)
    lines = (copy / ".corvint" / "self-observations.jsonl").read_text().splitlines()
    assert [json.loads(line)["code"] for line in lines] == [
        "unsupported-impact-path-suffix",
        "unsupported-impact-path",
    ]
    assert not ask("index")[0]
    status = subprocess.run(
        ["git", "-C", copy, "status", "--porcelain", "--untracked-files=all"], capture_output=True, check=True
    )
    assert status.stdout == b""


def test_the_store_is_used_and_told(ask: Ask, copy: Path) -> None:
    words = ("context", "--task", "wrap a ring")
    cold = ask(*words, trace=True)
    assert cold[2] == b"corvint-bench-snapshot: hit=false\n"
    assert packet(ask("index")) == {"ok": True}
    assert (copy / ".git" / "corvint" / "index").is_dir()
    warm = ask(*words, trace=True)
    assert warm == (0, cold[1], b"corvint-bench-snapshot: hit=true\n")
    assert ask(*words)[2] == b""
    assert ask("query", "--task", "ring", trace=True)[2] == b""


@pytest.mark.parametrize(
    ("switches", "said"),
    [
        ("exit=3", (3, b"", b"asked to fail\n")),
        ("exit=3,said=one%ntwo", (3, b"", b"one\ntwo\n")),
        ("exit=4,partial", (4, b"part", b"asked to fail\n")),
        ("index:exit=3,context:signal=9", (-signal.SIGKILL, b"", b"")),
        ("empty", (0, b"", b"")),
        ("garbage", (0, b"oops\n", b"")),
        ("junk-json", (0, b'{"hello": "world"}\n', b"")),
        ("refuse-text", (2, b"", b"asked to refuse\n")),
    ],
)
def test_failures(switches: str, said: Said, ask: Ask) -> None:
    assert ask("context", "--task", "ring", switches=switches) == said


def test_floods_and_odd_bytes(ask: Ask) -> None:
    words = ("context", "--task", "ring")
    assert len(ask(*words, switches="flood-stdout")[1]) > 8 << 20
    assert len(ask(*words, switches="flood-stderr")[2]) == 140_000
    assert b"\xff.py" in ask(*words, switches="non-utf8")[1]
    assert ask(*words, switches="deep-json")[1].startswith(b"[" * 100_000)
    assert json.loads(ask(*words, switches="wrong-type")[1])["results"] == 7
    assert refusal(ask(*words, switches="refuse"))[0] == "unsupported-by-request"


def test_a_switch_of_another_verb_does_nothing(ask: Ask) -> None:
    assert context_ids(ask("context", "--task", "ring", switches="index:exit=3,query:empty"))


def test_changed_answers(ask: Ask) -> None:
    words = ("context", "--task", "wrap a ring")
    plain = context_ids(ask(*words))
    assert context_ids(ask(*words, switches="repeat")) == ["", *(path for path in plain for _ in range(2))]
    withheld = packet(ask(*words, switches="withhold"))
    assert withheld["coverage"]["answerability"]["verdict"] == "unsupported-conjunction"
    assert len(withheld["results"]) == 1
    assert packet(ask(*words, switches="out-of-scope"))["state"] == "NO_CANDIDATES"
    assert context_ids(ask(*words, switches="unequal")) == plain
    assert context_ids(ask(*words, switches="unequal,recreate-store")) == plain
    assert context_ids(ask(*words, switches="unequal")) == plain[::-1]


def test_dirt(ask: Ask, copy: Path) -> None:
    ask("context", "--task", "ring", switches="dirty,dirty-tracked")
    assert (copy / "junk.txt").exists()
    assert (copy / "notes.md").read_bytes() == RING["notes.md"] + b"more\n"
    (copy / "ring.c").write_bytes(b"dirty")
    ask("affected", switches="drop-changed")
    assert not (copy / "ring.c").exists()
    (copy / "ring_test.c").write_bytes(b"dirty")
    ask("affected", switches="dirty-changed")
    assert (copy / "ring_test.c").is_dir()


def test_a_hanging_program_and_its_grandchild_note_their_numbers(copy: Path, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    variables = {
        "PATH": os.environ["PATH"],
        "FAKE_CORVINT": "hang,grandchild,stubborn",
        "FAKE_CORVINT_PIDS": str(pids),
    }
    process = subprocess.Popen(
        [FAKE, "--root", copy, "index"], env=variables, stdout=subprocess.PIPE, start_new_session=True
    )
    try:
        while not pids.exists() or len(pids.read_text().split()) < 2:
            assert process.poll() is None
        grandchild, itself = map(int, pids.read_text().split())
        assert itself == process.pid
        process.terminate()
        assert is_alive(itself)
        assert is_alive(grandchild)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
