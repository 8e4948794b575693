"""Predictions for ContextBench's own evaluation, read the way that it reads them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_retrieval.errors import ReportError
from pytest_retrieval.measures.contextbench import line_coverage, line_precision
from pytest_retrieval.model import Span
from pytest_retrieval.report.contextbench import predictions
from tests.report.samples import answer, detail

LINES = {"a.c": 10, "n.md": 2, "empty": 0}


def asked(row: int, label: str = "grep", **fields: Any) -> dict[str, Any]:
    arms: dict[str, Any] = {label: (answer(**fields.pop("answer", {})), {})}
    return detail(row, arms, **{"task_type": "contextbench", "lines": LINES, **fields})


def read(details: list[dict[str, Any]], label: str = "grep") -> list[dict[str, Any]]:
    lines = list(predictions(details, label))
    assert all(line.endswith(b"\n") and line.count(b"\n") == 1 for line in lines)
    return [json.loads(line) for line in lines]


def test_one_prediction() -> None:
    (prediction,) = read([asked(0, answer={"ranked": ["a.c", "gone.c", "n.md", "empty"]}, id="acme__ring-7")])
    files = ["a.c", "gone.c", "n.md", "empty"]
    spans = {
        "a.c": [{"type": "line", "start": 1, "end": 10}],
        "n.md": [{"type": "line", "start": 1, "end": 2}],
    }
    assert prediction == {
        "instance_id": "acme__ring-7",
        "model_patch": "",
        "traj_data": {
            "pred_steps": [{"files": files, "spans": spans, "symbols": {}}],
            "pred_files": files,
            "pred_spans": spans,
            "pred_symbols": {},
        },
    }


def test_errors_and_other_tasks_are_left_out_and_abstentions_stay() -> None:
    details = [
        asked(0, answer={"error": "crashed"}),
        asked(1, answer={"abstained": True}),
        detail(2, {"grep": (answer(ranked=["a.c"]), {})}),
        asked(3, "other", answer={"ranked": ["a.c"]}),
        asked(4, answer={"ranked": ["a.c"]}),
    ]
    assert [(line["instance_id"], line["traj_data"]["pred_files"]) for line in read(details)] == [
        ("s1", []),
        ("s4", ["a.c"]),
    ]


@pytest.mark.parametrize(
    ("details", "says"),
    [
        ([], "the report has no sample of the task contextbench"),
        ([detail(0, {"grep": (answer(), {})})], "the report has no sample of the task contextbench"),
        ([asked(0, "other")], "arm 'grep' was asked about no sample of the task contextbench"),
        ([asked(0), asked(1, id="s0")], "instance 's0' comes twice"),
    ],
)
def test_refusals(details: list[dict[str, Any]], says: str) -> None:
    with pytest.raises(ReportError, match=f"^{says}"):
        read(details)


@given(st.lists(st.sampled_from(["a.c", "n.md", "empty", "gone"]), unique=True))
def test_its_evaluation_finds_the_lines_that_we_measure(ranked: list[str]) -> None:
    gold = {("a.c", line) for line in range(3, 13)} | {("gone", 1)}
    (prediction,) = read([asked(0, answer={"ranked": ranked})])
    predicted = {
        (path, line)
        for path, spans in prediction["traj_data"]["pred_spans"].items()
        for span in spans
        for line in range(span["start"], span["end"] + 1)
    }
    spans = [Span("a.c", 3, 12), Span("gone", 1, 1)]
    assert line_coverage(ranked, spans, LINES) == len(gold & predicted) / len(gold)
    assert line_precision(ranked, spans, LINES) == (
        len(gold & predicted) / len(predicted) if predicted else 1.0
    )
