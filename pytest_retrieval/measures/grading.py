"""The one grading loop's heart: every arm's row becomes the same numbers by the same functions."""

from __future__ import annotations

from collections.abc import Container, Sequence

from pytest_retrieval.measures import ranking
from pytest_retrieval.measures.names import recall_cuts
from pytest_retrieval.measures.selective import selective_success
from pytest_retrieval.model import ArmRow, Sample


def grade(sample: Sample, row: ArmRow, limit: int) -> dict[str, float]:
    """All measures of one arm's row, by their names in the report; not rounded.

    A sample without gold has only ``abstained`` and ``selective_success``. A row with an error answers
    nothing: zeros throughout, and no abstention.
    """
    ranked: Sequence[str] = () if row.error is not None else row.ranked
    abstained = row.abstained and row.error is None
    graded = _graded_ranking(sample, ranked, limit) if sample.gold else {}
    graded["abstained"] = float(abstained)
    graded["selective_success"] = selective_success(ranked, sample.gold, limit, abstained)
    return graded


def _graded_ranking(sample: Sample, ranked: Sequence[str], limit: int) -> dict[str, float]:
    gold = sample.gold
    return {
        **{f"recall@{cut}": ranking.recall(ranked, gold, cut) for cut in recall_cuts(limit)},
        "mrr@k": ranking.reciprocal_rank(ranked, gold, limit),
        "precision@k": ranking.precision(ranked, gold, limit),
        "f1@k": ranking.f1(ranked, gold, limit),
        "hit@k": ranking.hit(ranked, gold, limit),
        "hard_negative_hits@k": ranking.hard_negative_hits(ranked, sample.negatives, limit),
    }


def ceiling(sample: Sample, present: Container[str], limit: int) -> dict[str, float]:
    """Recall at each cut and ``hit@k`` of a perfect ranker; empty for a sample without gold.

    Gold that is not ``present`` in the snapshot cannot be ranked, and gold that is a given file is taken
    out of every ranking; both stay in the denominator.
    """
    if not sample.gold:
        return {}
    best = [path for path in sample.gold if path in present and path not in sample.given]
    return {
        **{f"recall@{cut}": ranking.recall(best, sample.gold, cut) for cut in recall_cuts(limit)},
        "hit@k": ranking.hit(best, sample.gold, limit),
    }
