"""Selective retrieval: silence is right where there is nothing to find."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from pytest_retrieval.measures.ranking import hit


def selective_success(ranked: Sequence[str], gold: Collection[str], k: int, abstained: bool) -> float:
    """1 for a right decision and a right answer, else 0 (``selective_success@k`` of Agent Retrieval Bench).

    Without gold the arm must have abstained; with gold it must have answered and hit within ``k``.
    """
    if not gold:
        return float(abstained)
    return 0.0 if abstained else hit(ranked, gold, k)
