"""Holm's step-down adjustment for several comparisons (Scandinavian Journal of Statistics 6, 1979)."""

from __future__ import annotations

from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> list[float]:
    """The adjusted p of each comparison of a family, in the family's order.

    The i-th smallest of m (from 0) is multiplied by ``m - i``; none is smaller than the one before it or
    larger than 1. Rejecting where the adjusted p is at most alpha keeps the chance of any false rejection at
    alpha, however the comparisons depend on each other.
    """
    adjusted = [1.0] * len(p_values)
    floor = 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        floor = max(floor, min(1.0, (len(p_values) - rank) * p_values[place]))
        adjusted[place] = floor
    return adjusted
