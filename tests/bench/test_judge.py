"""The grading loop: what an arm sees, what becomes of its answer, and that a fault stays on its row."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import fields, replace
from typing import Any, ClassVar

import jsonschema
import pytest

from pytest_retrieval.arms.base import Arm
from pytest_retrieval.arms.registry import ArmSpec
from pytest_retrieval.bench.judge import Judge, Outcome, question
from pytest_retrieval.errors import SnapshotError
from pytest_retrieval.model import Answer, Capabilities, Query, Sample
from pytest_retrieval.report import schema
from pytest_retrieval.snapshots.base import Snapshot
from tests.arms.support import snapshot_of

FILES = {"a.c": b"ring", "b.c": b"wrap", "docs/c.md": b"text"}
SAMPLE = Sample(
    id="s1",
    task="code2test",
    repo="acme/ring",
    commit="1" * 40,
    query_text='{"text": "wrap"}',
    query={"text": "wrap"},
    gold=("b.c", "gone.c"),
    given=("a.c",),
    negatives=("docs/c.md",),
    changed_file="a.c",
    source="ab" * 32,
)


class Fixed(Arm):
    """Answers what it was made with; counts how often it was prepared and closed."""

    name: ClassVar[str] = "fixed"

    def __init__(self, answer: Callable[[Query], Any]) -> None:
        self.answer = answer
        self.prepared: list[Snapshot] = []
        self.closed = 0
        self.queries: list[Query] = []

    def prepare(self, snapshot: Snapshot) -> None:
        super().prepare(snapshot)
        self.prepared.append(snapshot)

    def rank(self, query: Query) -> Any:
        self.queries.append(query)
        return self.answer(query)

    def close(self) -> None:
        self.closed += 1


def judged(answer: Callable[[Query], Any], sample: Sample = SAMPLE, limit: int = 20) -> Outcome:
    arm = Fixed(answer)
    return Judge([ArmSpec("x", "x", lambda: arm)], limit).judge(sample, lambda: snapshot_of(FILES))


def row(outcome: Outcome) -> dict[str, Any]:
    arm: dict[str, Any] = outcome.detail["arms"]["x"]
    return {key: value for key, value in arm.items() if key not in ("wall_ms", "build_ms")}


def test_a_ranking_is_settled_and_graded() -> None:
    outcome = judged(lambda query: ["a.c", "docs/c.md", "b.c", "b.c", "nowhere"])
    assert row(outcome) == {
        "ranked": ["docs/c.md", "b.c", "nowhere"],
        "abstained": False,
        "cache_state": "NOT_APPLICABLE",
        "duplicates": 1,
        "unknown": 1,
    }
    metrics = outcome.detail["metrics"]["x"]
    assert (metrics["recall@5"], metrics["mrr@k"], metrics["hit@k"]) == (0.5, 0.5, 1.0)
    assert (metrics["precision@k"], metrics["hard_negative_hits@k"]) == (1 / 3, 1.0)
    assert outcome.detail["negatives"] == ["docs/c.md"]
    assert outcome.detail["status"] == "measured"
    assert outcome.faults == ()


def test_what_cannot_be_reached_is_said_and_bounds_the_ceiling() -> None:
    detail = judged(lambda query: []).detail
    assert detail["gold_absent"] == ["gone.c"]
    assert detail["ceiling"] == {"recall@5": 0.5, "recall@10": 0.5, "recall@20": 0.5, "hit@k": 1.0}


def test_an_arm_sees_nothing_that_gives_the_answer_away() -> None:
    assert {field.name for field in fields(Query)} == {
        "text", "object", "changed_file", "given", "limit", "per_file", "spans",
    }  # fmt: skip
    query = question(SAMPLE, 7)
    assert (query.text, query.object, query.limit) == (SAMPLE.query_text, {"text": "wrap"}, 7)
    assert "gone.c" not in repr(query)


@pytest.mark.parametrize(
    ("raised", "reason"),
    [
        (ValueError("no\n  luck"), "ValueError: no luck"),
        (SystemExit(3), "SystemExit: 3"),
        (RecursionError(), "RecursionError"),
        (KeyError("path"), "KeyError: 'path'"),
    ],
)
def test_whatever_an_arm_raises_is_a_fault_of_its_row(raised: BaseException, reason: str) -> None:
    def crash(query: Query) -> Any:
        raise raised

    outcome = judged(crash)
    assert row(outcome) == {
        "ranked": [], "abstained": False, "cache_state": "NOT_APPLICABLE", "error": reason,
    }  # fmt: skip
    assert outcome.detail["metrics"]["x"]["hit@k"] == 0.0
    assert outcome.detail["metrics"]["x"]["abstained"] == 0.0
    assert outcome.detail["status"] == "fault"
    assert outcome.faults == (f"x: {reason}",)


def test_an_interrupt_is_not_swallowed() -> None:
    def interrupt(query: Query) -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        judged(interrupt)


def test_a_refusal_is_an_error_but_no_fault() -> None:
    outcome = judged(lambda query: Answer(refusal="no changed_file in query"))
    assert row(outcome)["error"] == "no changed_file in query"
    assert row(outcome)["refused"] is True
    assert outcome.faults == ()
    assert outcome.detail["status"] == "measured"


def test_one_arms_fault_leaves_the_others_alone() -> None:
    def crash(query: Query) -> Any:
        raise ValueError("no")

    specs = [
        ArmSpec("bad", "bad", lambda: Fixed(crash)),
        ArmSpec("good", "good", lambda: Fixed(lambda q: ["b.c"])),
    ]
    outcome = Judge(specs, 20).judge(SAMPLE, lambda: snapshot_of(FILES))
    assert outcome.detail["metrics"]["good"]["hit@k"] == 1.0
    assert outcome.detail["metrics"]["bad"]["hit@k"] == 0.0


def test_an_arm_that_cannot_be_made_is_a_fault_on_every_row() -> None:
    def broken() -> Arm:
        raise OSError("no model")

    outcome = Judge([ArmSpec("x", "x", broken)], 20).judge(SAMPLE, lambda: snapshot_of(FILES))
    assert outcome.faults == ("x: OSError: no model",)


def test_a_snapshot_that_cannot_be_read_faults_every_arm_and_claims_nothing_of_the_tree() -> None:
    def missing() -> Snapshot:
        raise SnapshotError("no snapshot for acme/ring")

    outcome = Judge([ArmSpec("x", "x", lambda: Fixed(lambda q: []))], 20).judge(SAMPLE, missing)
    assert outcome.snapshot is None
    assert outcome.detail["status"] == "fault"
    assert outcome.detail["gold_absent"] == []
    assert "ceiling" not in outcome.detail
    assert row(outcome)["error"] == "snapshot: no snapshot for acme/ring"


def test_an_arm_is_prepared_once_per_snapshot_and_timed_apart() -> None:
    arm = Fixed(lambda query: ["b.c"])
    judge = Judge([ArmSpec("x", "x", lambda: arm)], 20)
    one, two = snapshot_of(FILES), snapshot_of(FILES)
    rows = [judge.judge(SAMPLE, lambda: tree).detail["arms"]["x"] for tree in (one, one, two)]  # noqa: B023
    assert arm.prepared == [one, two]
    assert ["build_ms" in answer for answer in rows] == [True, False, True]
    assert all(answer["wall_ms"] >= 0 for answer in rows)
    judge.close()
    judge.close()
    assert arm.closed == 1


def test_a_failed_preparation_is_tried_again_for_the_next_sample() -> None:
    class Moody(Fixed):
        def prepare(self, snapshot: Snapshot) -> None:
            super().prepare(snapshot)
            if len(self.prepared) == 1:
                raise OSError("busy")

    arm = Moody(lambda query: ["b.c"])
    judge = Judge([ArmSpec("x", "x", lambda: arm)], 20)
    tree = snapshot_of(FILES)
    assert judge.judge(SAMPLE, lambda: tree).faults == ("x: OSError: busy",)
    assert judge.judge(SAMPLE, lambda: tree).faults == ()


def test_a_limited_arm_is_asked_inside_its_slot() -> None:
    class Limited(Fixed):
        capabilities = Capabilities(max_parallel=1)

    outcome = Judge([ArmSpec("x", "x", lambda: Limited(lambda q: ["b.c"]))], 20).judge(
        SAMPLE, lambda: snapshot_of(FILES)
    )
    assert outcome.faults == ()


def test_a_query_is_known_by_its_digest() -> None:
    sample = Sample(id="s", task="t", repo="a/b", commit="1" * 40, query_text="abc", query={}, gold=("b.c",))
    # FIPS 180-2, B.1
    known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert judged(lambda query: [], sample).detail["query_sha256"] == known


@pytest.mark.parametrize(("length", "truncated"), [(2_000, False), (2_001, True)])
def test_long_queries_are_marked_whatever_the_arms(length: int, truncated: bool) -> None:
    sample = Sample(
        id="s", task="t", repo="a/b", commit="1" * 40, query_text="é" * length, query={}, gold=("b.c",)
    )
    detail = judged(lambda query: [], sample).detail
    assert (detail["query_chars"], detail["query_truncated"]) == (length, truncated)


@pytest.mark.parametrize(
    ("text", "anchors"),
    [('{"t": "set log.level, see https://a.io/x"}', {"config": 1, "url": 1}), ('{"t": "plain"}', None)],
)
def test_anchors_of_the_query_are_counted_by_class(text: str, anchors: dict[str, int] | None) -> None:
    sample = Sample(id="s", task="t", repo="a/b", commit="1" * 40, query_text=text, query={}, gold=("b.c",))
    detail = judged(lambda query: [], sample).detail
    assert detail.get("anchors") == anchors
    assert detail.get("anchors_strict") == anchors
    assert detail.get("anchor_bearing") == (True if anchors else None)


def test_strict_anchors_are_counted_apart() -> None:
    sample = replace(SAMPLE, query_text="self.count: set log.level in Cargo.lock")
    detail = judged(lambda query: [], sample).detail
    assert (detail["anchors"], detail["anchors_strict"]) == ({"config": 3}, {"config": 1})
    detail = judged(lambda query: [], replace(SAMPLE, query_text="self.count")).detail
    assert detail["anchor_bearing"] is True
    assert "anchors_strict" not in detail


def test_details_are_of_the_reports_schema() -> None:
    definitions = schema()
    validator = jsonschema.Draft202012Validator({"$ref": "#/$defs/detail", "$defs": definitions["$defs"]})
    answers: Iterable[Callable[[Query], Any]] = (
        lambda query: [("b.c", 1.5)],
        lambda query: Answer(refusal="no"),
        lambda query: Answer(state="READY", top_score=2, packet_bytes=17),
        lambda query: [("b.c", float("nan"))],
    )
    for answer in answers:
        validator.validate(json.loads(json.dumps(judged(answer).detail)))
