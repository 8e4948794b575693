"""The measures of a stored detail, computed again from its rankings: a file is not asked for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_retrieval.measures.chosen import stored as recomputed
from pytest_retrieval.measures.grading import ceiling, grade
from pytest_retrieval.measures.names import OF_SPANS
from pytest_retrieval.model import ArmRow, Sample, Span
from pytest_retrieval.report.codesearch.searched import stored_query, stored_slots

NEGATIVES = "hard_negative_hits@k"


def regrade(detail: Mapping[str, Any], limit: int, measures: Sequence[str] = ()) -> dict[str, Any]:
    """``detail`` with the metrics of all its arms, and its ceiling if it has one, computed from the paths.

    ``hard_negative_hits@k`` of an answer stays as stored where the detail names no hard negatives: those of
    the original's reports and of early ones of ours never do. So do ContextBench's measures where the report
    has no spans (the original's), and of ``measures``, which are asked for beside those of every report, the
    users' own. Nothing else is kept.
    """
    sample = _sample(detail)
    graded = {label: _measures(sample, detail, label, limit, measures) for label in detail["arms"]}
    if "ceiling" not in detail:
        return {**detail, "metrics": graded}
    present = set(sample.gold).difference(detail["gold_absent"])
    return {**detail, "metrics": graded, "ceiling": ceiling(sample, present, limit)}


def _measures(
    sample: Sample, detail: Mapping[str, Any], label: str, limit: int, measures: Sequence[str]
) -> dict[str, float]:
    answer = detail["arms"][label]
    ranked = tuple(path for path in answer["ranked"] if path not in sample.given)
    row = ArmRow(
        ranked=ranked,
        abstained=answer["abstained"],
        fault=answer.get("error"),
        slots=stored_slots(answer),
        file_only=answer.get("file_only", False),
        priced=answer.get("priced", False),
    )
    chosen = recomputed(measures, limit)
    graded = grade(sample, row, limit, detail.get("lines"), chosen)
    stored = detail["metrics"].get(label, {})
    own = set(measures).difference(measure.name for measure in chosen)
    if not sample.gold or row.error is not None:
        return graded | {name: stored[name] for name in own if name in stored}
    if not sample.negatives:
        del graded[NEGATIVES]
    return {name: stored[name] for name in (NEGATIVES, *OF_SPANS, *own) if name in stored} | graded


def _sample(detail: Mapping[str, Any]) -> Sample:
    return Sample(
        id=detail["id"],
        task=detail["task_type"],
        repo=detail["repo"],
        commit=detail["base_commit"],
        query_text="",
        query={},
        gold=tuple(detail["gold"]),
        given=tuple(detail["given"]),
        negatives=tuple(detail.get("negatives", detail.get("explain", {}).get("negatives", ()))),
        stratum=detail["stratum"],
        gold_spans=tuple(Span(**span) for span in detail.get("gold_spans", ())),
        searched=stored_query(detail),
    )
