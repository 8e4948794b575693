"""The grading loop over gold that is lines: what the detail keeps, and what it cannot measure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import jsonschema
import pytest

from pytest_retrieval.arms.base import Arm
from pytest_retrieval.arms.registry import ArmSpec
from pytest_retrieval.bench.judge import Judge, Outcome
from pytest_retrieval.errors import SnapshotError
from pytest_retrieval.measures.grading import grade
from pytest_retrieval.model import Answer, ArmRow, Sample, Span
from pytest_retrieval.report import schema
from pytest_retrieval.snapshots.base import MemoryContents, Snapshot, Tree, TreeFile
from tests.arms.support import snapshot_of

FILES = {"a.c": b"1\n" * 10, "n.md": b"x\ny", "z.c": b""}
SAMPLE = Sample(
    id="acme__ring-7",
    task="contextbench",
    repo="acme/ring",
    commit="1" * 40,
    query_text="The ring loses its tail.",
    query={"problem_statement": "The ring loses its tail."},
    gold=("a.c", "b.c"),
    gold_spans=(Span("a.c", 3, 5), Span("a.c", 6, 8), Span("b.c", 2, 3)),
    source="ab" * 32,
)


class Says(Arm):
    """Answers what it was made with."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def rank(self, query: Any) -> Any:
        return self.answer


def judged(sample: Sample = SAMPLE, snapshot: Snapshot | None = None, **answers: Any) -> Outcome:
    specs = [ArmSpec(name, name, partial(Says, answer)) for name, answer in answers.items()]
    outcome = Judge(specs, 20).judge(sample, lambda: snapshot or snapshot_of(FILES))
    detail_schema = {"$ref": "#/$defs/detail", "$defs": schema()["$defs"]}
    jsonschema.Draft202012Validator(detail_schema).validate(outcome.detail)
    return outcome


def context(outcome: Outcome, label: str) -> dict[str, float]:
    metrics: dict[str, float] = outcome.detail["metrics"][label]
    return {name: value for name, value in metrics.items() if name.startswith("cb_")}


def test_case_101_through_the_loop() -> None:
    outcome = judged(x=["a.c", "n.md"], silent=[], lost=["b.c", "a.c"])
    assert context(outcome, "x") == {
        "cb_file_coverage": 0.5,
        "cb_file_precision": 0.5,
        "cb_line_coverage": 0.75,
        "cb_line_precision": 0.5,
    }
    assert list(context(outcome, "silent").values()) == [0.0, 1.0, 0.0, 1.0]
    assert list(context(outcome, "lost").values()) == [1.0, 1.0, 0.75, 0.6]
    assert outcome.detail["gold_absent"] == ["b.c"]


def test_the_detail_has_what_grading_again_needs() -> None:
    outcome = judged(x=["z.c", "a.c"], y=["n.md", "gone.c"])
    detail = outcome.detail
    assert detail["lines"] == {"a.c": 10, "n.md": 2, "z.c": 0}
    assert detail["gold_spans"][0] == {"path": "a.c", "start": 3, "end": 5}
    again = replace(SAMPLE, gold_spans=tuple(Span(**span) for span in detail["gold_spans"]))
    for label in ("x", "y"):
        row = ArmRow(ranked=tuple(detail["arms"][label]["ranked"]))
        assert grade(again, row, 20, detail["lines"]) == detail["metrics"][label]


def test_an_error_has_no_measure_of_contextbench() -> None:
    outcome = judged(refused=Answer(refusal="too long"), faulty=[3], fine=["a.c"])
    assert context(outcome, "refused") == context(outcome, "faulty") == {}
    assert context(outcome, "fine")["cb_line_coverage"] == 0.75


def test_without_a_snapshot_nothing_is_counted() -> None:
    outcome = Judge([ArmSpec("x", "x", partial(Says, []))], 20).lost(SAMPLE, "no tree", status="fault")
    assert "lines" not in outcome.detail
    assert context(outcome, "x") == {}


def test_other_tasks_keep_spans_and_count_no_lines() -> None:
    outcome = judged(replace(SAMPLE, task="queryset"), x=["a.c"])
    assert len(outcome.detail["gold_spans"]) == 3
    assert "lines" not in outcome.detail
    assert context(outcome, "x") == {}


def test_functions_are_kept_and_full_is_measured() -> None:
    sample = replace(SAMPLE, task="locbench", gold_spans=(), gold_symbols=("a.c:Ring.push",))
    outcome = judged(sample, x=["b.c", "a.c"], y=["a.c"])
    assert outcome.detail["gold_symbols"] == ["a.c:Ring.push"]
    assert [outcome.detail["metrics"][label]["full@k"] for label in "xy"] == [1.0, 0.0]


class Vanished(MemoryContents):
    """Contents that can no longer be read."""

    def stream(self, files: Iterable[TreeFile]) -> Iterator[tuple[TreeFile, Iterator[bytes]]]:
        raise SnapshotError("a.c: no longer what it was")


def test_a_file_that_can_no_longer_be_read_is_a_fault() -> None:
    tree = Tree((TreeFile("a.c", 1, "d", True),), Vanished({}), "full")
    outcome = judged(SAMPLE, Snapshot("acme/ring", "1" * 40, "memory", tree), x=["a.c"])
    assert outcome.detail["status"] == "fault"
    assert outcome.faults == ("snapshot: a.c: no longer what it was",)


@pytest.mark.parametrize("task", ["contextbench", "swebench", "locbench", "code2test"])
def test_the_kind_of_gold_follows_the_task(task: str) -> None:
    kinds = {"contextbench": "spans", "swebench": "patch", "locbench": "patch", "code2test": "files"}
    assert replace(SAMPLE, task=task).gold_kind == kinds[task]
    assert replace(SAMPLE, task="contextbench", gold_spans=()).gold_kind == "files"
