"""Bootstrap intervals of a mean difference (Efron, 1979): 4,000 resamples, percentile method, 95 %.

Resamples are built draw by draw, all of them at once: memory is a few vectors of 4,000 whatever the number of
samples, and every addition is one IEEE addition, so no summation order of a library shows in the result.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pytest_retrieval.stats.streams import Stream

RESAMPLES = 4000
LOW, HIGH = 100, 3899  # places of the ends among the sorted means: 100 are cut from each tail

Floats = NDArray[np.float64]


def mean_interval(differences: Floats, stream: Stream) -> tuple[float, float]:
    """Low and high end for the mean of independent ``differences``, not rounded.

    Depends on the values alone, not on their order, and negating all of them mirrors the interval exactly.
    To have both, resamples come in antithetic pairs (Hall, Biometrika 76, 1989): where one draws the i-th
    smallest difference, the other draws the i-th largest. Each of the 4,000 is a bootstrap resample, and
    the tails are estimated no worse than by independent ones. Raises ValueError without data.
    """
    ascending = _not_empty(np.sort(differences))
    if ascending[0] == ascending[-1]:
        return float(ascending[0]), float(ascending[0])
    descending = ascending[::-1].copy()
    totals = np.zeros((2, RESAMPLES // 2))
    for _ in range(len(ascending)):
        drawn = stream.indices(RESAMPLES // 2, len(ascending))
        totals[0] += ascending[drawn]
        totals[1] += descending[drawn]
    return _ends(totals.ravel() / len(ascending))


def clustered_interval(sums: Floats, sizes: Floats, stream: Stream) -> tuple[float, float]:
    """Low and high end for the mean difference when whole clusters are drawn, not rounded.

    ``sums`` and ``sizes`` are the sum of differences and the number of samples of each cluster, in an order
    that the caller fixes (by name); the mean of a resample is the ratio of its two totals. Negating the sums
    mirrors the interval exactly. Raises ValueError for fewer than two clusters, which say nothing of others.
    """
    if len(_not_empty(sums)) < 2:
        raise ValueError("one cluster has no interval")
    totals, counts = np.zeros(RESAMPLES), np.zeros(RESAMPLES)
    for _ in range(len(sums)):
        drawn = stream.indices(RESAMPLES, len(sums))
        totals += sums[drawn]
        counts += sizes[drawn]
    return _ends(totals / counts)


def _ends(means: Floats) -> tuple[float, float]:
    ordered = np.sort(means)
    return float(ordered[LOW]), float(ordered[HIGH])


def _not_empty(values: Floats) -> Floats:
    if not len(values):
        raise ValueError("nothing to resample")
    return values
