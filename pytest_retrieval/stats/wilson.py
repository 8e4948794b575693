"""The Wilson score interval of a rate (E. B. Wilson, JASA 22, 1927)."""

from __future__ import annotations

import math

Z = 1.959964  # 95 %, to the digits that the original tool uses


def wilson(successes: float, n: float) -> tuple[float, float]:
    """Lower and upper end of the 95 % interval of the rate ``successes / n``, both within [0, 1].

    Not rounded. Either may be a fraction, where samples are not independent and count for less. The ends of
    a rate of 0 and of 1 are exactly ``0.0`` and ``1.0``. Raises ValueError unless ``0 <= successes <= n`` and
    ``n > 0``: nothing is known of a rate without data.
    """
    if not 0 <= successes <= n or n == 0:
        raise ValueError(f"no rate of {successes} in {n}")
    rate, square = successes / n, Z * Z
    centre = rate + square / (2 * n)
    margin = Z * math.sqrt(rate * (1 - rate) / n + square / (4 * n * n))
    low = (centre - margin) / (1 + square / n) if successes else 0.0
    high = (centre + margin) / (1 + square / n) if successes < n else 1.0
    return max(0.0, low), min(1.0, high)
