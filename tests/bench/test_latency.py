"""Matched calls without a store and with it, through an arm that does as it is told: cases 10 to 18, 24."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from pytest_retrieval.arms.base import Arm
from pytest_retrieval.arms.observed import Call
from pytest_retrieval.arms.registry import ArmSpec
from pytest_retrieval.bench.hiding import hidden
from pytest_retrieval.bench.judge import Outcome
from pytest_retrieval.bench.latency import LatencyJudge, is_there
from pytest_retrieval.errors import ArmError, SnapshotError, VoidError
from pytest_retrieval.model import Answer, ArmRow, Capabilities, Hit, Query, Sample
from pytest_retrieval.programs.process import Completed
from pytest_retrieval.snapshots.base import Snapshot
from tests.arms.support import snapshot_of
from tests.bench.test_judge import SAMPLE

HIT, MISS = "OBSERVED_HIT", "OBSERVED_MISS"


@dataclass
class Said:
    """What one call says."""

    ranked: tuple[str, ...] = ("b.c",)
    state: str = "READY"
    top_score: float | None = None
    abstained: bool = False
    observation: str | None = None
    error: str | None = None
    output: bytes = b"{}"


@dataclass
class Told(Arm):
    """An arm with a store that a test directs: what it says without the store and with it."""

    cold: Said = field(default_factory=Said)
    hit: Said = field(default_factory=Said)
    deed: Callable[[Path], None] = lambda store: None
    index_error: str | None = None
    indexed: int = 0
    asked: list[bool] = field(default_factory=list)
    last: Call | None = None
    observation: str = "UNKNOWN"

    name = "told"
    capabilities = Capabilities(worktree=True)

    @property
    def store(self) -> Path:
        return self.snapshot.worktree() / ".git" / "corvint" / "index"

    def index(self) -> None:
        self.indexed += 1
        if self.index_error is not None:
            raise ArmError(self.index_error)
        self.store.mkdir(parents=True)
        (self.store / "snap.bin").write_text("abc")

    def rank(self, query: Query) -> Answer:
        there = self.store.exists()
        self.asked.append(there)
        said = self.hit if there else self.cold
        self.last = Call(("context",), Completed(0, said.output, b"", False, False, False, 0.1), True)
        self.observation = said.observation or (HIT if there else MISS)
        if not there:
            self.deed(self.store)
        if said.error is not None:
            raise ArmError(said.error)
        hits = tuple(map(Hit, said.ranked))
        return Answer(hits, top_score=said.top_score, state=said.state, abstained=said.abstained)


@pytest.fixture
def snapshot() -> Iterator[Snapshot]:
    made = snapshot_of({"a.c": b"ring", "b.c": b"wrap", "c.c": b"head"})
    yield made
    made.close()


def judge_of(arm: Arm, *others: ArmSpec) -> LatencyJudge:
    return LatencyJudge([ArmSpec("told", "told", lambda: arm), *others], 20, "told")


def judged(arm: Told, snapshot: Snapshot, sample: Sample = SAMPLE) -> Outcome:
    return judge_of(arm).judge(sample, lambda: snapshot)


def voided(arm: Told, snapshot: Snapshot, sample: Sample = SAMPLE) -> str:
    with pytest.raises(VoidError) as caught:
        judged(arm, snapshot, sample)
    line = str(caught.value)
    assert line.startswith("s1: ")
    assert "\n" not in line
    return line.removeprefix("s1: ")


def prime(arm: Told, snapshot: Snapshot) -> Path:
    """The store of ``arm``, there before the first call."""
    arm.prepare(snapshot)
    arm.index()
    return arm.store


def answer_of(outcome: Outcome) -> dict[str, Any]:
    answer: dict[str, Any] = outcome.detail["arms"]["told"]
    return answer


def test_a_pair(snapshot: Snapshot) -> None:
    arm = Told()
    judge = judge_of(arm)
    for number in range(3):
        answer = answer_of(judge.judge(SAMPLE, lambda: snapshot))
        assert answer["cache_state"] == HIT
        assert answer["cold_wall_ms"] > 0
        assert answer["wall_ms"] > 0
        assert ("build_ms" in answer) == (number == 0)
        assert "packet_differs" not in answer
    assert arm.asked == [False, True] * 3
    assert arm.indexed == 1
    assert judge.differing == 0
    assert list(snapshot.worktree().parent.iterdir()) == [snapshot.worktree()]


def alternating(arm: Arm) -> LatencyJudge:
    return LatencyJudge([ArmSpec("told", "told", lambda: arm)], 20, "told", alternate=True)


def numbered(number: int) -> Sample:
    return replace(SAMPLE, id=f"s{number}")


def test_alternating_every_other_sample_begins_with_the_store(snapshot: Snapshot) -> None:
    """Weakness 6: the original always asks without the store first, so the page cache favours the hit."""
    arm = Told()
    judge = alternating(arm)
    answers = [answer_of(judge.judge(numbered(number), lambda: snapshot)) for number in range(4)]
    assert arm.asked == [False, True, True, False, False, True, True, False]
    assert arm.indexed == 1
    orders = ["cold-first", "hit-first", "cold-first", "hit-first"]
    assert [answer["matched_order"] for answer in answers] == orders
    assert [answer["cache_state"] for answer in answers] == [HIT] * 4
    assert all(answer["cold_wall_ms"] > 0 for answer in answers)
    assert ["build_ms" in answer for answer in answers] == [True, False, False, False]


def test_alternating_a_sample_asked_again_keeps_its_order(snapshot: Snapshot) -> None:
    judge = alternating(Told())
    numbers = (0, 0, 1, 1, 0)
    orders = [
        answer_of(judge.judge(numbered(number), lambda: snapshot))["matched_order"] for number in numbers
    ]
    assert orders == ["cold-first", "cold-first", "hit-first", "hit-first", "cold-first"]


def test_alternating_the_store_is_made_before_the_first_call_with_it(snapshot: Snapshot) -> None:
    other = snapshot_of({"b.c": b"wrap"})
    arm = Told()
    judge = alternating(arm)
    judge.judge(numbered(0), lambda: snapshot)
    answer = answer_of(judge.judge(numbered(1), lambda: other))
    other.close()
    assert arm.asked == [False, True, True, False]
    assert arm.indexed == 2
    assert "build_ms" in answer


@pytest.mark.parametrize(
    ("cold", "told"),
    [
        (Said(observation=HIT), f"the call without the store is {HIT}, not {MISS}"),
        (Said(("c.c",)), "rank 1 is 'c.c' without the store and 'b.c' with it"),
    ],
)
def test_alternating_a_bad_pair_voids_the_run_in_either_order(
    cold: Said, told: str, snapshot: Snapshot
) -> None:
    arm = Told()
    judge = alternating(arm)
    judge.judge(numbered(0), lambda: snapshot)
    arm.cold = cold
    with pytest.raises(VoidError) as caught:
        judge.judge(numbered(1), lambda: snapshot)
    assert told in str(caught.value)
    assert arm.asked[2:] == [True, False]
    assert (arm.store / "snap.bin").read_text() == "abc"


class Cancelled(KeyboardInterrupt):
    pass


def cancel(store: Path) -> None:
    raise Cancelled


def test_case_10_a_cancelled_cold_call_gives_the_store_back(snapshot: Snapshot) -> None:
    arm = Told(deed=cancel)
    store = prime(arm, snapshot)
    with pytest.raises(Cancelled):
        judged(arm, snapshot)
    assert (store / "snap.bin").read_text() == "abc"


def test_case_11_a_cold_call_that_hits_ends_the_run_and_the_store_is_back(snapshot: Snapshot) -> None:
    arm = Told(cold=Said(observation=HIT))
    store = prime(arm, snapshot)
    assert voided(arm, snapshot) == f"the call without the store is {HIT}, not {MISS}"
    assert (store / "snap.bin").read_text() == "abc"


@pytest.mark.parametrize("observation", ["UNKNOWN", HIT])
def test_only_an_observed_miss_is_a_miss(observation: str, snapshot: Snapshot) -> None:
    arm = Told(cold=Said(observation=observation))
    assert observation in voided(arm, snapshot)
    assert arm.asked == [False]


def make_a_store(store: Path) -> None:
    store.mkdir()
    (store / "other.bin").write_text("other")


def test_case_12_a_cold_call_that_makes_a_store_ends_the_run(snapshot: Snapshot) -> None:
    """Weakness 3 repaired: the original loses the good store; here it is back, the other one put aside."""
    arm = Told(deed=make_a_store)
    store = prime(arm, snapshot)
    assert "the store was to be moved back" in voided(arm, snapshot)
    assert [path.name for path in store.iterdir()] == ["snap.bin"]
    assert (store / "snap.bin").read_text() == "abc"


def test_errors_of_the_call_and_of_the_move_are_joined(snapshot: Snapshot) -> None:
    arm = Told(cold=Said(error="no luck"), deed=make_a_store)
    prime(arm, snapshot)
    line = voided(arm, snapshot)
    assert "the call without the store failed: no luck" in line
    assert "the store was to be moved back" in line


@pytest.mark.parametrize(
    ("cold", "hit", "told"),
    [
        pytest.param(Said(), Said(observation="PRIMED_SHARED"), "is PRIMED_SHARED", id="case 14"),
        pytest.param(Said(), Said(observation="UNKNOWN"), "is UNKNOWN", id="case 14 unknown"),
        pytest.param(Said(), Said(observation=MISS), "is OBSERVED_MISS", id="case 14 warm miss"),
        pytest.param(
            Said(), Said(state="READY/unsupported-conjunction"), "READY/unsupported-conjunction", id="case 15"
        ),
        pytest.param(Said(top_score=2), Said(top_score=3), "top_score is 2", id="case 16"),
        pytest.param(Said(abstained=True), Said(), "abstained is True", id="abstained"),
        pytest.param(Said(), Said(error="the disk is gone"), "the disk is gone", id="case 17"),
        pytest.param(Said(error="the disk is gone"), Said(), "the disk is gone", id="a failed cold call"),
    ],
)
def test_pairs_that_void_the_run(cold: Said, hit: Said, told: str, snapshot: Snapshot) -> None:
    assert told in voided(Told(cold=cold, hit=hit), snapshot)


def test_long_rankings_are_told_apart_where_they_part(snapshot: Snapshot) -> None:
    same = tuple(f"a-long-folder/{number}.c" for number in range(15))
    told = voided(Told(cold=Said((*same, "x.c")), hit=Said((*same, "y.c"))), snapshot)
    assert "rank 16 is 'x.c' without the store and 'y.c' with it" in told
    told = voided(Told(cold=Said((*same, "x.c")), hit=Said(same)), snapshot)
    assert "rank 16 is 'x.c' without the store and None with it" in told


def test_case_13_other_rankings(snapshot: Snapshot) -> None:
    arm = Told(cold=Said(("b.c",)), hit=Said(("a.c",)))
    assert "rank 1 is 'b.c' without the store and 'a.c' with it" in voided(
        arm, snapshot, replace(SAMPLE, given=())
    )


@pytest.mark.parametrize("hit", [("a.c", "b.c"), ("b.c", "a.c")])
def test_case_24_given_files_are_compared_by_no_pair(hit: tuple[str, ...], snapshot: Snapshot) -> None:
    """``a.c`` is given: where it stands in either ranking does not matter."""
    arm = Told(cold=Said(("a.c", "b.c")), hit=Said(hit))
    assert answer_of(judged(arm, snapshot))["ranked"] == ["b.c"]


def test_weakness_2_an_output_with_other_bytes_is_reported(snapshot: Snapshot) -> None:
    """The original does not compare packets at all."""
    judge = judge_of(Told(cold=Said(output=b'{"evidence": 1}')))
    answer = answer_of(judge.judge(SAMPLE, lambda: snapshot))
    assert answer["packet_differs"] is True
    assert judge.differing == 1


def test_case_18_an_index_call_that_fails(snapshot: Snapshot) -> None:
    assert voided(Told(index_error="ended with exit status 3"), snapshot) == (
        "priming the store failed: ended with exit status 3"
    )


def leak(store: Path) -> None:
    (store.parents[2] / "leak.txt").write_text("leak")


def test_a_dirty_copy_ends_this_run(snapshot: Snapshot) -> None:
    assert voided(Told(deed=leak), snapshot) == "work tree left dirty: ?? leak.txt"


class Leaking(Arm):
    capabilities = Capabilities(worktree=True)

    def rank(self, query: Query) -> list[str]:
        leak(self.snapshot.worktree() / ".git" / "corvint" / "index")
        return []


def test_another_arm_that_leaves_dirt_ends_this_run_too(snapshot: Snapshot) -> None:
    judge = judge_of(Told(), ArmSpec("leaking", "leaking", Leaking))
    with pytest.raises(VoidError, match=r"^s1: work tree left dirty: \?\? leak\.txt$"):
        judge.judge(SAMPLE, lambda: snapshot)


class Failing(Arm):
    def rank(self, query: Query) -> list[str]:
        raise ValueError("no")


def test_another_arm_that_fails_is_a_fault_of_its_own(snapshot: Snapshot) -> None:
    outcome = judge_of(Told(), ArmSpec("failing", "failing", Failing)).judge(SAMPLE, lambda: snapshot)
    assert outcome.faults == ("failing: ValueError: no",)
    assert answer_of(outcome)["cache_state"] == HIT


def test_a_snapshot_that_cannot_be_had_ends_the_run() -> None:
    def fail() -> Snapshot:
        raise SnapshotError("no snapshot for acme/ring")

    with pytest.raises(VoidError, match=r"^s1: no snapshot for acme/ring$"):
        judge_of(Told()).judge(SAMPLE, fail)


def test_a_store_that_cannot_be_looked_at() -> None:
    with pytest.raises(SnapshotError, match="the store cannot be looked at: File name too long"):
        is_there(Path("x" * 300))


def test_the_witness_sees_both_calls(snapshot: Snapshot) -> None:
    seen: list[tuple[str, str, str]] = []

    def witness(sample: Sample, label: str, arm: Arm | None, row: ArmRow) -> None:
        assert isinstance(arm, Told)
        seen.append((sample.id, label, arm.observation))

    LatencyJudge([ArmSpec("told", "told", Told)], 20, "told", witness).judge(SAMPLE, lambda: snapshot)
    assert seen == [("s1", "told", MISS), ("s1", "told", HIT)]


# --- the store out of the way


def test_hidden_and_back(tmp_path: Path) -> None:
    store = tmp_path / "store"
    store.mkdir()
    (store / "snap.bin").write_text("abc")
    with hidden(store, tmp_path):
        assert not store.exists()
    assert (store / "snap.bin").read_text() == "abc"
    assert list(tmp_path.iterdir()) == [store]


def test_a_store_that_cannot_be_moved_back_is_kept(tmp_path: Path) -> None:
    """Weakness 3: nothing is cleaned up before the store is where it was."""
    store = tmp_path / "gone" / "store"
    store.mkdir(parents=True)
    (store / "snap.bin").write_text("abc")
    with (
        pytest.raises(SnapshotError, match="could not be moved back and is kept at") as caught,
        hidden(store, tmp_path),
    ):
        store.parent.rmdir()
    kept = Path(str(caught.value).partition("kept at ")[2].rpartition(": ")[0])
    assert (kept / "snap.bin").read_text() == "abc"


def test_a_store_that_cannot_be_moved_away(tmp_path: Path) -> None:
    with (
        pytest.raises(SnapshotError, match="cannot be moved away: No such file"),
        hidden(tmp_path / "store", tmp_path),
    ):
        raise AssertionError
    assert list(tmp_path.iterdir()) == []
