"""Runs and their baselines, made of hits, that the tests of gates and of comparisons share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_retrieval.gates.baseline import load_baseline
from pytest_retrieval.gates.grammar import parse
from pytest_retrieval.gates.loading import Comparing
from pytest_retrieval.gates.names import check
from pytest_retrieval.gates.rules import Rule
from pytest_retrieval.gates.verdict import Verdict, judge
from pytest_retrieval.report.build import Report, build
from pytest_retrieval.report.judged import read_judged
from pytest_retrieval.report.write import write_report
from tests.report.samples import COMMIT, answer, detail, header

FAULT, REFUSAL = "fault", "refusal"


def sample(row: int, rank: int | str, *, label: str = "grep", **fields: Any) -> dict[str, Any]:
    """A sample whose gold file the arm has at ``rank``, 0 for not at all; or a fault, or a refusal."""
    fields.setdefault("repo", f"acme/r{row % 7}")
    if isinstance(rank, str):
        refused = {"refused": True} if rank == REFUSAL else {}
        given, rank = answer(error="boom", **refused), 0
        fields.setdefault("status", "fault")
    else:
        ranked = [f"{place}.c" for place in range(1, rank)] + ["a.c"] if rank else ["b.c"]
        given = answer(ranked=ranked)
    measures = {
        "recall@5": float(0 < rank <= 5),
        "mrr@k": 1 / rank if rank else 0.0,
        "hit@k": float(rank > 0),
        "hard_negative_hits@k": float(rank > 1),
        "abstained": 0.0,
        "selective_success": float(rank > 0),
    }
    return detail(row, {label: (given, measures)}, **fields)


def run(ranks: Sequence[int | str], *, of: int | None = None, **fields: Any) -> Report:
    """A run of one arm, ``grep``, over the samples 0, 1, … with these ranks."""
    return made([sample(row, rank) for row, rank in enumerate(ranks)], of=of, **fields)


def made(details: Sequence[Mapping[str, Any]], *, of: int | None = None, **fields: Any) -> Report:
    chosen = len(details)
    labels = {label for found in details for label in found["arms"]}
    return build(header(*sorted(labels), of=of or chosen, chosen=chosen, **fields), details)


def written(folder: Path, report: Report, name: str = "old.json") -> Path:
    path = folder / name
    write_report(path, report.chunks())
    return path


def verdict(
    folder: Path, text: str, report: Report, before: Report, *, overlap: float | None = None
) -> Verdict:
    """What becomes of one gate on ``report`` against the baseline ``before``."""
    own = tuple(report.head.get("measures", ()))
    gate = check(parse(text), arms=report.head["arms"], groups=None, limit=20, own=own)
    judged = read_judged(written(folder, before))
    baseline = load_baseline(judged, "old.json", [Rule(gate)], overlap=overlap)
    comparing = Comparing(text="old.json", overlap=overlap)
    (found,) = judge(
        report.head, [Rule(gate)], details=report.details, baseline=baseline, comparing=comparing
    )
    return found


def trees(digest: str) -> dict[str, Any]:
    """Facts of the snapshots of the samples."""
    return {"snapshots": {f"acme/r{number}@{COMMIT}": {"tree": digest * 64} for number in range(7)}}
