"""Durations as Go writes them: ``1m30s``, ``250ms``, ``1.5h``."""

from __future__ import annotations

import re

_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_PART = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)", re.ASCII)


def parse_duration(text: str) -> float:
    """The seconds of ``text``: numbers, each with a unit of ``ns us µs ms s m h``; ``0`` needs none.

    Raises:
        ValueError: it is none, or is negative.
    """
    if text.strip() == "0":
        return 0.0
    parts = list(_PART.finditer(text.strip()))
    if not parts or "".join(part[0] for part in parts) != text.strip():
        raise ValueError(
            f"{text!r} is no duration; write a number and a unit (ms, s, m, h), such as 90s or 1m30s"
        )
    return sum(float(part[1]) * _SECONDS[part[2]] for part in parts)
