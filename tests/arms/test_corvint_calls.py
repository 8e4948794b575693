"""The arms against the reference program: what it is sent, what comes back, and every way it can fail."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_retrieval.arms.answers import settle
from pytest_retrieval.arms.corvint import corvint_arms
from pytest_retrieval.arms.corvint_context import CorvintContext
from pytest_retrieval.arms.observed import Observed
from pytest_retrieval.arms.program import Program
from pytest_retrieval.errors import ArmError
from pytest_retrieval.model import Query
from pytest_retrieval.snapshots.base import Snapshot
from tests.arms.corvint_support import (
    FAKE,
    RING,
    calls,
    paths,
    query,
    ready,
    unasked_program,
    verb,
)
from tests.arms.support import snapshot_of
from tests.processes import is_alive, wait_until_gone

VERBS = ("corvint", "context", "impact", "affected")
QUESTION = query("wrap a ring", changed_file="ring.c")


@pytest.fixture(scope="module")
def shared() -> Iterator[Snapshot]:
    """A snapshot for tests that leave its work tree as it was."""
    snapshot = snapshot_of(RING)
    yield snapshot
    snapshot.close()


@pytest.fixture
def snapshot() -> Iterator[Snapshot]:
    """A snapshot whose work tree a test may spoil."""
    snapshot = snapshot_of(RING)
    yield snapshot
    snapshot.close()


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FAKE_CORVINT_LOG", str(tmp_path / "log"))
    return tmp_path / "log"


@pytest.fixture
def pids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FAKE_CORVINT_PIDS", str(tmp_path / "pids"))
    return tmp_path / "pids"


# --- what is asked


def test_the_four_arms_by_name() -> None:
    arms = corvint_arms(Program.find(str(FAKE)))
    assert tuple(arms) == VERBS
    for name, make in arms.items():
        arm = make()
        assert arm.name == name
        assert arm.version.startswith("fake-corvint 1.0 sha256:")
        assert arm.capabilities.worktree
        assert arm.capabilities.timeout == 120


def test_making_four_arms_asks_for_the_version_once(log: Path) -> None:
    for make in corvint_arms(Program.find(str(FAKE))).values():
        make()
    assert [call["argv"] for call in calls(log)] == [["--version"]]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("corvint", ["query", "--task", "wrap a ring", "--limit", "7"]),
        ("context", ["context", "--task", "wrap a ring", "--limit", "7"]),
        ("impact", ["impact", "ring.c", "--limit", "7"]),
        ("affected", ["affected"]),
    ],
)
def test_the_words_of_the_command_line(
    name: str, words: list[str], shared: Snapshot, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CORVINT_BENCH_SNAPSHOT_TRACE", "1")
    arm = ready(name, shared)
    arm.rank(query("wrap a ring", limit=7, changed_file="ring.c"))
    traced = "1" if name == "context" else None
    assert calls(log) == [{"argv": ["--root", str(shared.worktree()), *words], "traced": traced}]


def test_only_query_cuts_the_task(shared: Snapshot, log: Path) -> None:
    text = "ring " + "é" * 3_000
    for name, sent in (("corvint", text[:2_000]), ("context", text)):
        ready(name, shared).rank(query(text))
        assert calls(log)[-1]["argv"][4] == sent


def test_half_a_character_is_sent_as_a_replacement(shared: Snapshot, log: Path) -> None:
    arm = ready("context", shared)
    arm.rank(query("ring \ud800 \udc80"))
    assert calls(log)[-1]["argv"][4] == "ring \ufffd \ufffd"
    assert arm.last is not None
    assert arm.last.task == "ring \ufffd \ufffd".encode()


# --- what comes back


@pytest.mark.parametrize(
    ("name", "ranking", "state"),
    [
        ("corvint", ["ring.c", "ring_test.c", "notes.md"], "READY"),
        ("context", ["ring.c", "ring_test.c", "notes.md"], "READY"),
        ("impact", ["notes.md", "ring_test.c"], "READY"),
        ("affected", ["ring_test.c"], "BOUNDED"),
    ],
)
def test_an_answer(name: str, ranking: list[str], state: str, shared: Snapshot) -> None:
    arm = ready(name, shared)
    answer = arm.rank(QUESTION)
    assert paths(answer) == ranking
    assert (answer.state, answer.abstained, answer.refusal) == (state, False, None)
    assert arm.last is not None
    assert arm.last.completed is not None
    assert answer.packet_bytes == len(arm.last.completed.stdout)
    assert arm.last.parsed is True


@pytest.mark.parametrize("switches", ["repeat", "flood-stderr", "grandchild"])
def test_an_answer_is_the_same_beside(
    switches: str, shared: Snapshot, pids: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arm = ready("context", shared)
    monkeypatch.setenv("FAKE_CORVINT", switches)
    assert paths(arm.rank(QUESTION)) == ["ring.c", "ring_test.c", "notes.md"]
    if switches == "grandchild":
        assert wait_until_gone(int(pids.read_text()))


@pytest.mark.parametrize(
    ("name", "switches", "state"),
    [
        ("corvint", "out-of-scope", "OUT_OF_SCOPE"),
        ("context", "out-of-scope", "NO_CANDIDATES"),
        ("context", "withhold", "READY/unsupported-conjunction"),
        ("impact", "out-of-scope", "OUT_OF_SCOPE"),
    ],
)
def test_an_abstention(
    name: str, switches: str, state: str, shared: Snapshot, monkeypatch: pytest.MonkeyPatch
) -> None:
    arm = ready(name, shared)
    monkeypatch.setenv("FAKE_CORVINT", switches)
    answer = arm.rank(QUESTION)
    assert (answer.abstained, answer.state, answer.refusal) == (True, state, None)


def test_affected_abstains_for_a_file_that_no_language_owns(shared: Snapshot) -> None:
    answer = ready("affected", shared).rank(query(changed_file="notes.md"))
    assert (paths(answer), answer.abstained, answer.state) == ([], True, "UNKNOWN")


def test_the_row_keeps_what_the_answer_says_beside_the_ranking(shared: Snapshot) -> None:
    arm = ready("impact", shared)
    answer = arm.rank(QUESTION)
    row = settle(answer, QUESTION, shared)
    assert row.ranked == ("notes.md", "ring_test.c")
    assert (row.state, row.packet_bytes, row.cache_state) == ("READY", answer.packet_bytes, "COLD_UNIQUE")
    refused = settle(arm.rank(query(changed_file="notes.md")), QUESTION, shared)
    assert (refused.cache_state, refused.ranked, refused.abstained) == ("COLD_UNIQUE", (), False)
    assert refused.error == "unsupported-impact-path-suffix: no reverse-import rule for this suffix"
    unasked = settle(arm.rank(query()), QUESTION, shared)
    assert (unasked.cache_state, unasked.error) == ("NOT_APPLICABLE", "no changed_file in query")


# --- refusals


@pytest.mark.parametrize("name", ["impact", "affected"])
@pytest.mark.parametrize("changed", [None, ""])
def test_without_a_changed_file_nothing_is_asked(
    name: str, changed: str | None, shared: Snapshot, log: Path
) -> None:
    arm = ready(name, shared)
    answer = arm.rank(query(changed_file=changed))
    assert answer.refusal == "no changed_file in query"
    assert answer.cache_state is None
    assert not log.exists()
    assert arm.last is None


@pytest.mark.parametrize("name", ["impact", "affected"])
def test_a_file_that_looks_like_an_option_is_not_passed(name: str, shared: Snapshot) -> None:
    answer = ready(name, shared).rank(query(changed_file="--root=/etc"))
    assert answer.refusal == "changed_file '--root=/etc' would be read as an option"


@pytest.mark.parametrize(
    ("name", "question", "refusal"),
    [
        (
            "context",
            query("x" * 32_001),
            "unsupported-context-task: the task has more than 32,000 characters",
        ),
        ("impact", query(changed_file="notes.md"), "unsupported-impact-path-suffix: no reverse-import rule"),
        ("impact", query(changed_file="gone.py"), "unsupported-impact-path: the path is not tracked"),
        ("impact", query(changed_file="ring.c", limit=51), "invalid-arguments: --limit must be 1 to 50"),
        (
            "context",
            query("x" * 8_000_000),
            "an argument of 8,000,000 characters is too long for this system",
        ),
    ],
    ids=["long-task", "suffix", "untracked", "limit", "too-long-to-pass"],
)
def test_what_the_program_refuses(name: str, question: Query, refusal: str, shared: Snapshot) -> None:
    arm = ready(name, shared)
    answer = arm.rank(question)
    assert answer.refusal is not None
    assert answer.refusal.startswith(refusal)
    assert (answer.hits, answer.cache_state) == ((), "COLD_UNIQUE")
    assert shared.worktree_changes() == ()


def test_a_refused_impact_leaves_its_observation_and_a_clean_copy(snapshot: Snapshot) -> None:
    ready("impact", snapshot).rank(query(changed_file="notes.md"))
    observations = snapshot.worktree() / ".corvint" / "self-observations.jsonl"
    assert "unsupported-impact-path-suffix" in observations.read_text()
    assert snapshot.worktree_changes() == ()


@pytest.mark.parametrize(
    ("switches", "reason"),
    [("refuse", "unsupported-by-request: asked to refuse"), ("refuse-text", "asked to refuse")],
)
@pytest.mark.parametrize("name", VERBS)
def test_which_verbs_have_refusals(
    name: str, switches: str, reason: str, shared: Snapshot, monkeypatch: pytest.MonkeyPatch
) -> None:
    arm = ready(name, shared)
    monkeypatch.setenv("FAKE_CORVINT", switches)
    if name == "affected":
        with pytest.raises(ArmError) as caught:
            arm.rank(QUESTION)
        assert str(caught.value) == f"ended with exit status 2: {reason}"
    else:
        assert arm.rank(QUESTION).refusal == reason


# --- faults


FAILURES = [
    ("exit=1", "ended with exit status 1: asked to fail"),
    ("exit=2,said=a%nb", "ended with exit status 2: a b"),
    ("exit=4,partial,said=why", "ended with exit status 4: why"),
    ("signal=9", "was ended by SIGKILL and said nothing"),
    ("signal=11", "was ended by SIGSEGV and said nothing"),
    ("flood-stdout", "standard output exceeds 8,388,608 bytes"),
    ("empty", "unreadable packet: standard output is empty"),
    ("garbage", "unreadable packet: unexpected character"),
    ("junk-json", "unreadable packet: it has no "),
    ("wrong-type", "must be a list"),
    ("deep-json", "unreadable packet: "),
    ("non-utf8", "unreadable packet: str is not valid UTF-8"),
]


@pytest.mark.parametrize(
    ("name", "switches", "message"),
    [
        *(("context", *failure) for failure in FAILURES),
        *(("affected", *failure) for failure in FAILURES[:4]),
        *((name, "wrong-type", "must be a list") for name in ("corvint", "impact")),
    ],
)
def test_every_failure_is_one_line(
    name: str, switches: str, message: str, shared: Snapshot, monkeypatch: pytest.MonkeyPatch
) -> None:
    arm = ready(name, shared)
    monkeypatch.setenv("FAKE_CORVINT", switches)
    with pytest.raises(ArmError) as caught:
        arm.rank(QUESTION)
    assert message in str(caught.value)
    assert str(caught.value).isprintable()
    assert shared.worktree_changes() == ()
    assert (shared.worktree() / "ring.c").read_bytes() == RING["ring.c"]


@pytest.mark.parametrize("name", ["context", "affected"])
def test_a_program_that_hangs_is_ended_with_its_group(
    name: str, shared: Snapshot, pids: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_CORVINT", "grandchild,hang")
    numbers: list[str] = []
    for timeout in (0.7, 7, 70):  # on a busy machine the program is ended before it hangs
        with pytest.raises(ArmError, match=f"did not end within {timeout} s"):
            ready(name, shared, timeout=timeout).rank(QUESTION)
        numbers = pids.read_text().split() if pids.exists() else []
        if len(numbers) >= 2:
            break
    assert len(numbers) >= 2
    assert all(wait_until_gone(int(number)) for number in numbers)
    assert shared.worktree_changes() == ()
    assert (shared.worktree() / "ring.c").read_bytes() == RING["ring.c"]


def test_a_grandchild_was_there_to_be_ended(pids: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above proves something only if the reference program really leaves a process behind."""
    monkeypatch.setenv("FAKE_CORVINT", "grandchild")
    done = subprocess.run([FAKE, "--version"], stdout=subprocess.DEVNULL, check=False)
    pid = int(pids.read_text())
    assert done.returncode == 0
    assert is_alive(pid)
    os.kill(pid, signal.SIGKILL)


def test_the_last_call_is_kept_also_of_a_failure(shared: Snapshot, monkeypatch: pytest.MonkeyPatch) -> None:
    arm = ready("context", shared)
    for switches, parsed, stdout in (("garbage", False, b"oops\n"), ("exit=4,partial", None, b"part")):
        monkeypatch.setenv("FAKE_CORVINT", switches)
        with pytest.raises(ArmError):
            arm.rank(QUESTION)
        assert arm.last is not None
        assert arm.last.parsed is parsed
        assert arm.last.completed is not None
        assert arm.last.completed.stdout == stdout
        assert arm.last.task == b"wrap a ring"


def test_a_program_that_cannot_be_started_is_a_fault(shared: Snapshot) -> None:
    arm = verb("context", unasked_program())
    arm.prepare(shared)
    with pytest.raises(ArmError, match="cannot start '/nonexistent/corvint'"):
        arm.rank(QUESTION)
    assert arm.last is not None
    assert arm.last.completed is None


# --- the store


@pytest.mark.parametrize("name", VERBS)
def test_the_label_is_the_store_seen_before_the_call(name: str, snapshot: Snapshot) -> None:
    arm = ready(name, snapshot)
    assert arm.store == snapshot.worktree() / ".git" / "corvint" / "index"
    assert arm.rank(QUESTION).cache_state == "COLD_UNIQUE"
    arm.store.mkdir(parents=True)
    assert arm.rank(QUESTION).cache_state == "PRIMED_SHARED" or name == "context"


def test_a_call_that_makes_the_store_was_cold(snapshot: Snapshot, monkeypatch: pytest.MonkeyPatch) -> None:
    arm = ready("context", snapshot)
    monkeypatch.setenv("FAKE_CORVINT", "recreate-store")
    assert [arm.rank(QUESTION).cache_state for _ in range(2)] == ["COLD_UNIQUE", "PRIMED_SHARED"]


def test_hit_and_miss_are_observed_by_the_context_arm_alone(snapshot: Snapshot) -> None:
    arms = {name: ready(name, snapshot) for name in VERBS}
    assert [name for name, arm in arms.items() if isinstance(arm, Observed)] == ["context"]
    arm = arms["context"]
    assert isinstance(arm, CorvintContext)
    assert arm.observation == "UNKNOWN"
    cold = arm.rank(QUESTION)
    assert arm.observation == "OBSERVED_MISS"
    arm.index()
    warm = arm.rank(QUESTION)
    assert arm.observation == "OBSERVED_HIT"
    assert (paths(cold), cold.state) == (paths(warm), warm.state)
    assert snapshot.worktree_changes() == ()


@pytest.mark.parametrize(
    ("switches", "observation"),
    [
        ("trace=true", "OBSERVED_HIT"),
        ("trace=false ", "OBSERVED_MISS"),
        ("trace=TRUE", "UNKNOWN"),
        ("no-trace", "UNKNOWN"),
        ("said=warning: slow disk", "UNKNOWN"),
        ("said=%n%n  ", "OBSERVED_MISS"),
        ("flood-stderr", "UNKNOWN"),
    ],
)
def test_the_trace_line_is_read_exactly(
    switches: str, observation: str, shared: Snapshot, monkeypatch: pytest.MonkeyPatch
) -> None:
    arm = ready("context", shared)
    monkeypatch.setenv("FAKE_CORVINT", switches)
    arm.rank(QUESTION)
    assert isinstance(arm, Observed)
    assert arm.observation == observation


def test_an_index_that_fails_says_why(shared: Snapshot, monkeypatch: pytest.MonkeyPatch) -> None:
    arm = ready("context", shared)
    assert isinstance(arm, Observed)
    for switches, message in (("index:exit=3", "exit status 3: asked"), ("index:refuse", "exit status 2: ")):
        monkeypatch.setenv("FAKE_CORVINT", switches)
        with pytest.raises(ArmError, match=message):
            arm.index()


def test_an_unequal_answer_is_the_programs_own(snapshot: Snapshot, monkeypatch: pytest.MonkeyPatch) -> None:
    arm = ready("context", snapshot)
    assert isinstance(arm, CorvintContext)
    monkeypatch.setenv("FAKE_CORVINT", "unequal")
    cold = paths(arm.rank(QUESTION))
    arm.index()
    assert paths(arm.rank(QUESTION)) == cold[::-1] != cold


# --- the copy


def test_the_callers_git_variables_do_not_reach_the_program(
    shared: Snapshot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    assert paths(ready("affected", shared).rank(QUESTION)) == ["ring_test.c"]


@pytest.mark.parametrize(
    ("switches", "change"),
    [("dirty", "?? junk.txt"), ("dirty-tracked", " M notes.md"), ("index:index-dirty", "?? junk.txt")],
)
def test_a_dirty_copy_is_seen_and_rebuilt_in_place(
    switches: str, change: str, snapshot: Snapshot, monkeypatch: pytest.MonkeyPatch
) -> None:
    arm = ready("context", snapshot)
    assert isinstance(arm, CorvintContext)
    monkeypatch.setenv("FAKE_CORVINT", switches)
    arm.rank(QUESTION)
    arm.index()
    assert snapshot.worktree_changes() == (change,)
    root = snapshot.worktree()
    snapshot.rebuild_worktree()
    assert snapshot.worktree() == root
    assert snapshot.worktree_changes() == ()
    assert {path.name: path.read_bytes() for path in root.iterdir() if path.is_file()} == RING
    assert arm.rank(QUESTION).cache_state == "COLD_UNIQUE"


def test_a_copy_whose_state_cannot_be_told_is_dirty(snapshot: Snapshot) -> None:
    (snapshot.worktree() / ".git" / "HEAD").unlink()
    (change,) = snapshot.worktree_changes()
    assert change.startswith("its state cannot be told: ")
    snapshot.rebuild_worktree()
    assert snapshot.worktree_changes() == ()


def test_a_copy_that_was_never_made_is_clean_and_stays_unmade() -> None:
    snapshot = snapshot_of(RING)
    snapshot.rebuild_worktree()
    assert snapshot.worktree_changes() == ()
    snapshot.close()
