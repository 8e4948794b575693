"""Measures of one ranking against the gold: the order of the list decides, scores are never read.

Each takes the ranked paths best first, the judged paths and the cut ``k``, and looks at the first ``k``
paths only. A path that is ranked twice counts once. All but :func:`hard_negative_hits` lie in [0, 1].
"""

from __future__ import annotations

from collections.abc import Collection, Sequence


def recall(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """Share of the gold within the first ``k`` (``R@k``). Raises ValueError where there is no gold."""
    if not gold:
        raise ValueError("recall is not defined without gold")
    return _found(ranked, gold, k) / len(set(gold))


def reciprocal_rank(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """One over the rank of the first gold path within ``k``, else 0 (``RR@k``; Voorhees, TREC-8, 1999)."""
    ranks = (rank for rank, path in enumerate(ranked[:k], 1) if path in gold)
    return 1 / next(ranks, float("inf"))


def precision(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """Gold paths over the answered length, at most ``k``; 0 for an empty answer.

    Agent Retrieval Bench divides so; the ``P@k`` of trec_eval divides by ``k`` whatever was answered.
    """
    answered = min(k, len(ranked))
    return _found(ranked, gold, k) / answered if answered else 0.0


def f1(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """Harmonic mean of :func:`precision` and :func:`recall`; 0 where both are (van Rijsbergen, 1979)."""
    exact, complete = precision(ranked, gold, k), recall(ranked, gold, k)
    return 2 * exact * complete / (exact + complete) if exact + complete else 0.0


def f_half(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """F with beta 0.5, in which :func:`precision` weighs more than recall (``F0.5``; van Rijsbergen, 1979).

    Agent Retrieval Bench's ``F0.5@k``. The ``SetF`` of ir_measures and trec_eval takes the square of beta.
    """
    exact, complete = precision(ranked, gold, k), recall(ranked, gold, k)
    return 1.25 * exact * complete / (0.25 * exact + complete) if exact + complete else 0.0


def hit(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """1 where a gold path is within the first ``k``, else 0 (``Success@k``)."""
    return float(_found(ranked, gold, k) > 0)


def full(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """1 where all of the gold is within the first ``k``, else 0: the Acc@k of bug localisation.

    LocAgent (2025) also counts ``k`` gold files where there are more; that is not all, so it is 0 here.
    Raises ValueError where there is no gold.
    """
    return float(recall(ranked, gold, k) == 1)


def hard_negative_hits(ranked: Sequence[str], negatives: Collection[str], k: int) -> float:
    """How many of the paths that look right and are wrong are within the first ``k``: a count."""
    return float(_found(ranked, negatives, k))


def _found(ranked: Sequence[str], judged: Collection[str], k: int) -> int:
    return len(set(ranked[:k]).intersection(judged))
