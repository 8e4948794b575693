"""Times of arms as pytest-benchmark stores a run, so that ``pytest-benchmark compare`` reads them.

Every query is a round, every arm a benchmark; what a query took that failed is none. Times to prepare are
benchmarks of their own. Seconds, as there.
"""

from __future__ import annotations

import statistics
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from math import fsum
from typing import Any

from pytest_retrieval import __version__
from pytest_retrieval.errors import ReportError
from pytest_retrieval.model import NO_CACHE
from pytest_retrieval.report.summaries import BUILD, FIRST, SECOND, times_of

_FENCE = 1.5  # Tukey's, in interquartile ranges


def run(
    details: Iterable[Mapping[str, Any]], labels: Iterable[str], environment: Mapping[str, Any]
) -> dict[str, Any]:
    """One stored run. Raises ReportError where no arm has a time."""
    times: dict[tuple[str, str], list[float]] = {}
    for detail in details:
        for label, answer in detail["arms"].items():
            for cache, milliseconds in times_of(answer):
                if milliseconds and not cache.endswith((FIRST, SECOND)):
                    times.setdefault((label, cache), []).append(milliseconds / 1_000)
    benchmarks = [
        _benchmark(label, cache, seconds, environment)
        for wanted in labels
        for (label, cache), seconds in times.items()
        if label == wanted
    ]
    if not benchmarks:
        raise ReportError("no arm of the report has a time")
    return {
        "machine_info": {
            "python_implementation": str(environment.get("implementation", "")),
            "python_version": str(environment.get("python", "")),
            "system": str(environment.get("platform", "")),
            "cpu": {"count": environment.get("cpus")},
        },
        "commit_info": {"id": "unversioned", "dirty": False, "branch": "(unknown)"},
        "benchmarks": benchmarks,
        "datetime": str(environment.get("started_at", "")),
        "version": __version__,
    }


def _benchmark(
    label: str, cache: str, seconds: Sequence[float], environment: Mapping[str, Any]
) -> dict[str, Any]:
    group = "prepare" if cache == BUILD else "query"
    name = label if cache in (BUILD, NO_CACHE) else f"{label}[{cache}]"
    return {
        "group": group,
        "name": name,
        "fullname": f"retrieval::{group}::{name}",
        "params": None,
        "param": None,
        "extra_info": {"contended": bool(environment.get("contended"))},
        "options": {},
        "stats": stats(seconds),
    }


def stats(seconds: Sequence[float]) -> dict[str, Any]:
    """The figures that pytest-benchmark has of a benchmark, by its definitions; at least one time."""
    ordered = sorted(seconds)
    total = fsum(ordered)
    mean, median = total / len(ordered), statistics.median(ordered)
    deviation = statistics.stdev(ordered) if len(ordered) > 1 else 0.0
    first, third = _quartiles(ordered)
    low, high = first - _FENCE * (third - first), third + _FENCE * (third - first)
    far = sum(not mean - deviation <= value <= mean + deviation for value in ordered)
    outside = sum(not low <= value <= high for value in ordered)
    return {
        "min": ordered[0],
        "max": ordered[-1],
        "mean": mean,
        "stddev": deviation,
        "rounds": len(ordered),
        "median": median,
        "iqr": third - first,
        "q1": first,
        "q3": third,
        "iqr_outliers": outside,
        "stddev_outliers": far,
        "outliers": f"{far};{outside}",
        "ld15iqr": ordered[bisect_left(ordered, low)],
        "hd15iqr": ordered[bisect_right(ordered, high) - 1],
        "ops": len(ordered) / total,
        "total": total,
        "iterations": 1,
    }


def _quartiles(ordered: Sequence[float]) -> tuple[float, float]:
    """The first and the third quartile: medians of the halves, an odd middle being shared by weight."""
    size = len(ordered)
    if size == 1:
        return ordered[0], ordered[0]
    if size % 2 == 0:
        return statistics.median(ordered[: size // 2]), statistics.median(ordered[size // 2 :])
    n = size // 4
    if size % 4 == 1:
        return 0.25 * ordered[n - 1] + 0.75 * ordered[n], 0.75 * ordered[3 * n] + 0.25 * ordered[3 * n + 1]
    return 0.75 * ordered[n] + 0.25 * ordered[n + 1], 0.25 * ordered[3 * n + 1] + 0.75 * ordered[3 * n + 2]
