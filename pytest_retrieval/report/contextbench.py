"""A report's answers as the predictions that ContextBench's own evaluation reads (its ``--pred``)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pytest_retrieval.errors import ReportError
from pytest_retrieval.model import CONTEXTBENCH
from pytest_retrieval.report.canonical import encode


def predictions(details: Iterable[Mapping[str, Any]], label: str) -> Iterator[bytes]:
    """One line for each ContextBench sample that the arm ``label`` answered, in the order of ``details``.

    A ranked file predicts all of its lines, in one step; ranked paths that the snapshot does not hold come
    without spans, and rows with an error not at all. No patch is predicted: for want of one that evaluation
    takes the gold patch, so the edit localisation that it prints says nothing of the arm.

    Raises ReportError where no sample is ContextBench's or none has the arm, and for an instance that comes
    twice, which its format cannot tell apart.
    """
    seen: set[str] = set()
    found = answered = False
    for detail in details:
        if detail["task_type"] != CONTEXTBENCH:
            continue
        if detail["id"] in seen:
            raise ReportError(
                f"instance {detail['id']!r} comes twice; predictions name instances by id alone"
            )
        seen.add(detail["id"])
        found = True
        answer = detail["arms"].get(label)
        answered |= answer is not None
        if answer is not None and "error" not in answer:
            yield encode(_prediction(detail, answer["ranked"])) + b"\n"
    if not answered:
        what = f"arm {label!r} was asked about no" if found else "the report has no"
        raise ReportError(f"{what} sample of the task {CONTEXTBENCH}, so there is nothing to predict")


def _prediction(detail: Mapping[str, Any], ranked: Iterable[str]) -> dict[str, Any]:
    files = list(ranked)
    lines = detail.get("lines", {})
    spans = {
        path: [{"type": "line", "start": 1, "end": lines[path]}] for path in files if lines.get(path, 0) > 0
    }
    step = {"files": files, "spans": spans, "symbols": {}}
    return {
        "instance_id": detail["id"],
        "model_patch": "",
        "traj_data": {
            "pred_steps": [step],
            "pred_files": files,
            "pred_spans": spans,
            "pred_symbols": {},
        },
    }
