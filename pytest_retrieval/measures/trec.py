"""Measures as trec_eval defines them, over one ranking and binary gold: every gold path is worth the same.

Each takes the ranked paths best first, the gold paths and the cut ``k``; they equal what ir_measures and
pytrec_eval compute from qrels of 0 and 1 and a run cut at ``k``. Raise ValueError where there is no gold.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from math import fsum, log2


def precision(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """Gold paths within ``k`` over ``k``, however few were answered (``P@k``).

    What was answered divides in :func:`pytest_retrieval.measures.ranking.precision`.
    """
    _require(gold)
    return len(set(ranked[:k]).intersection(gold)) / k


def r_precision(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """:func:`precision` at as many paths as there are gold ones, of the first ``k`` (``Rprec``)."""
    _require(gold)
    size = len(set(gold))
    return precision(ranked[: min(k, size)], gold, size)


def average_precision(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """The precision at the rank of each gold path within ``k``, summed, over all gold (``AP@k``).

    Its mean over samples is MAP. Harman, Overview of the Second Text REtrieval Conference, 1993.
    """
    _require(gold)
    found = fsum(place / rank for place, rank in enumerate(_ranks(ranked, gold, k), 1))
    return found / len(set(gold))


def ndcg(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """Discounted gain over that of an ideal ranking, both within ``k`` (``nDCG@k``).

    A gold path at rank r gains 1 / log2(r + 1). Järvelin and Kekäläinen, Cumulated Gain-based Evaluation of
    IR Techniques, TOIS 20(4), 2002, in the form of trec_eval.
    """
    _require(gold)
    gain = fsum(1 / log2(rank + 1) for rank in _ranks(ranked, gold, k))
    return gain / fsum(1 / log2(rank + 1) for rank in range(1, min(k, len(set(gold))) + 1))


def _ranks(ranked: Sequence[str], gold: Collection[str], k: int) -> Iterator[int]:
    """The ranks of gold paths within ``k``, ascending; the first one of a path that is ranked twice."""
    left = set(gold)
    for rank, path in enumerate(ranked[:k], 1):
        if path in left:
            left.remove(path)
            yield rank


def _require(gold: Collection[str]) -> None:
    if not gold:
        raise ValueError("the measure is not defined without gold")
