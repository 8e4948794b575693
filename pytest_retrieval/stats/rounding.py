"""Rounding as the report does it."""

from __future__ import annotations

import math


def half_away(x: float, places: int = 6) -> float:
    """Round ``x`` to ``places`` decimals, half away from zero, never to ``-0``.

    The half is judged on the float product ``x * 10**places``, as the original tool does (Go's
    ``math.Round(x*1e6) / 1e6``), so ``1.0000005`` becomes ``1.000001`` although the double lies below the
    half. Values that have no such product (infinities, NaN) come back unchanged.
    """
    scale = 10.0**places
    product = x * scale
    if not math.isfinite(product):
        return x
    whole = math.trunc(product)
    if abs(product - whole) >= 0.5:
        whole += 1 if product > 0 else -1
    return whole / scale
