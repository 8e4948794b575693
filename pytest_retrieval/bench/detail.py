"""A sample's row of the report: what it asked, what every arm said, and how that is graded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from hashlib import sha256
from typing import Any

from pytest_retrieval.errors import ArmError
from pytest_retrieval.measures.chosen import Chosen
from pytest_retrieval.measures.grading import ceiling, grade
from pytest_retrieval.model import ArmRow, Gold, Sample, Searched, Slot
from pytest_retrieval.snapshots.base import Snapshot
from pytest_retrieval.snapshots.lines import line_counts
from pytest_retrieval.text.anchors import anchor_counts

TRUNCATED_ABOVE = 2_000  # code points of query text; the flag is the same for every arm (DECISIONS 15)


def describe(
    sample: Sample,
    rows: Mapping[str, ArmRow],
    limit: int,
    snapshot: Snapshot | None,
    *,
    status: str | None = None,
    chosen: Sequence[Chosen] = (),
) -> dict[str, Any]:
    """The sample's row of the report: facts of the sample, answers and measures by arm label.

    Without a snapshot nothing is known of what could be reached, so gold counts neither as absent nor as
    cut and there is no ceiling. What the measures need beside the rankings is kept, so that they can be
    computed again: hard negatives, spans of gold, and the lengths of ranked files where spans are
    measured. An answer that a measure of the user's own fails on is an error. Raises SnapshotError where
    such a file cannot be read any more.
    """
    lines = _ranked_lines(sample, rows, snapshot)
    graded = {label: _graded(sample, row, limit, lines, chosen) for label, row in rows.items()}
    rows = {label: row for label, (row, _) in graded.items()}
    faulty = any(row.fault is not None for row in rows.values())
    detail: dict[str, Any] = {
        "source": sample.source,
        "id": sample.id,
        "ordinal": sample.ordinal,
        "row": sample.row,
        "task_type": sample.task,
        "repo": sample.repo,
        "base_commit": sample.commit,
        "stratum": sample.stratum,
        "partition": sample.fold,
        "gold": list(sample.gold),
        "given": list(sample.given),
        "gold_absent": [] if snapshot is None else [path for path in sample.gold if path not in snapshot],
        "gold_cut": [] if snapshot is None else [path for path in sample.gold if path in snapshot.cut],
        "query_chars": len(sample.query_text),
        "query_sha256": sha256(sample.query_text.encode("utf-8", "surrogatepass")).hexdigest(),
        "query_truncated": len(sample.query_text) > TRUNCATED_ABOVE,
        "status": status or ("fault" if faulty else "measured"),
        "arms": {label: answer_row(row) for label, row in rows.items()},
        "metrics": {label: measures for label, (_, measures) in graded.items()},
    }
    detail.update(_anchors(sample.query_text))
    if sample.negatives:
        detail["negatives"] = list(sample.negatives)
    if sample.cluster is not None:
        detail["cluster"] = sample.cluster
    if sample.gold_spans:
        detail["gold_spans"] = [asdict(span) for span in sample.gold_spans]
    if sample.gold_symbols:
        detail["gold_symbols"] = list(sample.gold_symbols)
    if sample.searched is not None:
        detail["codesearch"] = searched_row(sample, sample.searched)
    if lines is not None:
        detail["lines"] = lines
    if sample.gold and snapshot is not None:
        detail["ceiling"] = ceiling(sample, snapshot, limit)
    return detail


def _anchors(query_text: str) -> dict[str, Any]:
    """The anchors of a query by class, and those that stand alone; nothing where there is none."""
    counts, strict = anchor_counts(query_text)
    if not counts:
        return {}
    told = {"anchors_strict": dict(strict)} if strict else {}
    return {"anchor_bearing": True, "anchors": dict(counts), **told}


def _graded(
    sample: Sample, row: ArmRow, limit: int, lines: Mapping[str, int] | None, chosen: Sequence[Chosen]
) -> tuple[ArmRow, dict[str, float]]:
    """The row and its measures; one that cannot be measured has a fault."""
    try:
        return row, grade(sample, row, limit, lines, chosen)
    except ArmError as error:
        faulty = replace(row, fault=str(error))
        return faulty, grade(sample, faulty, limit, lines, chosen)


def _ranked_lines(
    sample: Sample, rows: Mapping[str, ArmRow], snapshot: Snapshot | None
) -> dict[str, int] | None:
    """How many lines each ranked file has, or None where no measure asks for that."""
    if snapshot is None or sample.gold_kind != "spans":
        return None
    return line_counts(snapshot, {path for row in rows.values() for path in row.ranked})


def searched_row(sample: Sample, searched: Searched) -> dict[str, Any]:
    """What the report keeps of a query of a code-search corpus."""
    return {
        "query": sample.query_text,
        "corpus": searched.corpus,
        "lang": searched.language,
        "difficulty": searched.difficulty,
        "subsystem": searched.subsystem,
        "tree": searched.tree,
        "gold": [_gold_row(gold) for gold in searched.golds],
    }


def slots_row(slots: Mapping[int, tuple[Slot, ...]]) -> dict[str, list[dict[str, Any]]]:
    """The slots by how many spans per file were asked for; those of 1 are left out where 0 says the same."""
    told = {count: found for count, found in slots.items() if count != 1 or found != slots[0]}
    return {str(count): [_slot_row(slot) for slot in found] for count, found in told.items()}


def _slot_row(slot: Slot) -> dict[str, Any]:
    row: dict[str, Any] = {"path": slot.path, "spans": [list(span) for span in slot.spans]}
    return row if slot.tokens is None else {**row, "tokens": slot.tokens}


def _gold_row(gold: Gold) -> dict[str, Any]:
    return {name: value for name, value in asdict(gold).items() if value is not None}


def answer_row(row: ArmRow) -> dict[str, Any]:
    """An arm's answer as the report keeps it; what does not apply is left out."""
    answer: dict[str, Any] = {
        "ranked": list(row.ranked),
        "abstained": row.abstained,
        "cache_state": row.cache_state,
    }
    optional = {
        "state": row.state,
        "top_score": row.top_score,
        "error": row.error,
        "refused": (row.refusal is not None and row.fault is None) or None,
        "duplicates": row.duplicates or None,
        "unknown": row.unknown or None,
        "packet_bytes": row.packet_bytes,
        "wall_ms": row.wall_ms,
        "build_ms": row.build_ms,
        "cost": None if row.cost is None else (row.cost.record() or None),
        "nearest": row.nearest,
        "file_only": row.file_only or None,
        "priced": row.priced or None,
        "slots": None if row.slots is None else slots_row(row.slots),
    }
    answer.update((key, value) for key, value in optional.items() if value is not None)
    return answer
