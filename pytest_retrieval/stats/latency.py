"""Distributions of wall times: nearest-rank quantiles, never a mean."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from pytest_retrieval.stats.rounding import half_away

FLOOR = 30  # below so many values no quantile is worth printing


def distribution(values: Iterable[float | None]) -> dict[str, Any]:
    """``n``, ``min_ms``, ``p50_ms``, ``p95_ms``, ``max_ms`` and ``mad_ms`` of times in milliseconds.

    Missing and zero times are left out. Under 30 values the result is ``{"n": n, "state": "NOT_RUN"}``.
    ``mad_ms`` is the nearest-rank median of the absolute distances to ``p50_ms``. Rounded to 6 places.
    """
    times = sorted(value for value in values if value)
    if len(times) < FLOOR:
        return {"n": len(times), "state": "NOT_RUN"}
    median = nearest_rank(times, 50)
    figures = {
        "min_ms": times[0],
        "p50_ms": median,
        "p95_ms": nearest_rank(times, 95),
        "max_ms": times[-1],
        "mad_ms": nearest_rank(sorted(abs(time - median) for time in times), 50),
    }
    return {"n": len(times), **{name: half_away(value) for name, value in figures.items()}}


def nearest_rank(ordered: Sequence[float], percent: int) -> float:
    """The value at the 1-based rank ``ceil(percent / 100 * n)``, at least 1, of an ascending sequence."""
    rank = -(-percent * len(ordered) // 100)  # in integers: a float product may pass the rank by an ulp
    return ordered[max(1, rank) - 1]
