"""The paired randomisation test (Fisher; Smucker, Allan and Carterette, CIKM 2007) with clusters."""

from __future__ import annotations

from math import fsum

import numpy as np
from numpy.typing import NDArray

from pytest_retrieval.stats.streams import Stream

EXACT_UP_TO = 16  # clusters: 65,536 ways to flip their signs are all tried
FLIPS = 9999
TIE = 1e-12  # of the scale: totals that differ by less differ by rounding

Floats = NDArray[np.float64]


def sign_flip(sums: Floats, scale: float, stream: Stream) -> float:
    """Two-sided p of "the two arms are alike": how often random signs give as large a total of ``sums``.

    ``sums`` are the clusters' sums of differences; all samples of a cluster flip together. ``scale`` is the
    sum of the absolute differences of all samples, against which totals are told apart. Clusters without a
    difference change nothing and are left out; up to 16 others are enumerated, more are flipped 9,999 times,
    and p is then ``(1 + b) / 10000``. The order and a common negation of ``sums`` do not matter.
    """
    tie = TIE * scale
    told_apart = sums[np.abs(sums) > tie]
    telling = np.sort(np.abs(told_apart))
    at_least = abs(fsum(told_apart.tolist())) - tie
    if len(telling) <= EXACT_UP_TO:
        return float(np.mean(np.abs(_all_totals(telling)) >= at_least))
    as_large = np.count_nonzero(np.abs(_random_totals(telling, stream)) >= at_least)
    return (1 + int(as_large)) / (1 + FLIPS)


def _all_totals(sums: Floats) -> Floats:
    totals = np.zeros(1)
    for value in sums:
        totals = np.concatenate((totals + value, totals - value))
    return totals


def _random_totals(sums: Floats, stream: Stream) -> Floats:
    totals = np.zeros(FLIPS)
    for value in sums:  # one cluster at a time: a matrix of all signs would be samples times flips
        totals += value * stream.signs(FLIPS)
    return totals
