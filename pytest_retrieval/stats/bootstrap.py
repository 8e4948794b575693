"""Bootstrap intervals of a mean difference (Efron, 1979): 4,000 resamples, percentiles, 95 %.

Resamples are built a few draws at a time, all of them at once: memory is some vectors of 4,000 whatever the
number of samples, and every addition is one IEEE addition, so no summation order of a library shows in the
result.
"""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from pytest_retrieval.stats.streams import Stream

RESAMPLES = 4000
CUT = 100  # means beyond each end: the ends are the means at 100 and 3,899 of the ascending 4,000

_DRAWS_AT_ONCE = 8  # of each resample: few calls, and what is drawn stays in the processor's cache

_NORMAL = NormalDist()

Floats = NDArray[np.float64]


def resampled_means(differences: Floats, stream: Stream) -> Floats:
    """The 4,000 means of independent ``differences``, ascending.

    They depend on the values alone, not on their order, and negating all of these mirrors the means exactly.
    To have both, resamples come in antithetic pairs (Hall, Biometrika 76, 1989): where one draws the i-th
    smallest difference, the other draws the i-th largest. Each of the 4,000 is a bootstrap resample, and
    the tails are estimated as well as by independent ones. Raises ValueError without data.
    """
    ascending = _not_empty(np.sort(differences))
    if ascending[0] == ascending[-1]:
        return np.full(RESAMPLES, ascending[0])  # sums of equal values would be off by rounding
    # A difference and its antithesis are the parts of one complex number, so that one look-up and one
    # addition serve both resamples of a pair; complex addition is one IEEE addition of either part.
    both = np.column_stack((ascending, ascending[::-1])).view(np.complex128)[:, 0]
    totals = np.zeros(RESAMPLES // 2, np.complex128)
    for start in range(0, len(both), _DRAWS_AT_ONCE):
        draws = min(_DRAWS_AT_ONCE, len(both) - start)
        drawn = stream.indices(draws * len(totals), len(both))
        for draw in both.take(drawn, mode="clip").reshape(draws, -1):  # "clip" takes them unchecked
            totals += draw
    return np.sort(totals.view(np.float64)) / len(both)


def resampled_cluster_means(sums: Floats, sizes: Floats, stream: Stream) -> Floats:
    """The 4,000 means when whole clusters are drawn, ascending.

    ``sums`` and ``sizes`` are the sum of differences and the number of samples of each cluster, in an order
    that the caller fixes (by name); the mean of a resample is the ratio of its two totals. Negating the sums
    mirrors the means exactly. Raises ValueError without data.
    """
    _not_empty(sums)
    totals, counts = np.zeros(RESAMPLES), np.zeros(RESAMPLES)
    for _ in range(len(sums)):
        drawn = stream.indices(RESAMPLES, len(sums))
        totals += sums[drawn]
        counts += sizes[drawn]
    return np.sort(totals / counts)


def ends(means: Floats, cut: int = CUT) -> tuple[float, float]:
    """The low and the high end of the interval: ``cut`` of the ascending ``means`` lie beyond each."""
    return float(means[cut]), float(means[-1 - cut])


def expanded_cut(clusters: int) -> int:
    """The cut for so many clusters, from two on: fewer than 100 means, for percentiles of few are too narrow.

    The expanded percentile interval (Hesterberg, The American Statistician 69, 2015): the tail that a t
    interval with ``clusters - 1`` degrees of freedom leaves, ``Phi(-sqrt(C / (C - 1)) * t)``, instead of
    2.5 %. In simulation 5 clusters then cover 92 % instead of 84 %, 10 cover 93 % instead of 89 %.
    """
    width = math.sqrt(clusters / (clusters - 1)) * student_975(clusters - 1)
    return round(RESAMPLES * _NORMAL.cdf(-width))


def student_975(degrees: int) -> float:
    """The 97.5 % point of Student's t (Abramowitz and Stegun 26.7.5; 0.0009 off at 4 degrees of freedom)."""
    z = _NORMAL.inv_cdf(0.975)
    terms = (
        z,
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return math.fsum(term / degrees**power for power, term in enumerate(terms))


def _not_empty(values: Floats) -> Floats:
    if not len(values):
        raise ValueError("nothing to resample")
    return values
