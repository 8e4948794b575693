"""What a run of this size and spread could have shown."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_REACH = NormalDist().inv_cdf(0.975) + NormalDist().inv_cdf(0.8)  # 5 % two-sided, power 80 %


def clustered_error(sums: Floats, sizes: Floats) -> float:
    """The cluster-robust standard error of the mean difference (Miller, arXiv 2411.00640, with C/(C-1)).

    ``sums`` and ``sizes`` are each cluster's sum of differences and number of samples; with clusters of one
    sample this is the usual ``s / sqrt(n)``. Raises ValueError for fewer than two clusters.
    """
    if len(sums) < 2:
        raise ValueError("one cluster has no standard error")
    total = math.fsum(sizes.tolist())
    residuals = sums - sizes * (math.fsum(sums.tolist()) / total)
    spread = math.fsum((residuals * residuals).tolist())
    return math.sqrt(len(sums) / (len(sums) - 1) * spread) / total


def smallest_detectable(error: float) -> float:
    """The true difference that a run with this standard error shows at 5 % with a chance of 80 %."""
    return _REACH * error
