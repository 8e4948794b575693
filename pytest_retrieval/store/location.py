"""Where the store lies, and how much it may hold."""

from __future__ import annotations

import os
import re
from pathlib import Path

from pytest_retrieval.errors import UsageError

DEFAULT_SIZE = "4G"
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def default_root() -> Path:
    """``pytest-retrieval`` in the user's cache directory."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    folder = Path(base) if Path(base).is_absolute() else Path.home() / ".cache"
    return folder / "pytest-retrieval"


def parse_size(text: str) -> int:
    """``4G``, ``500M`` or plain bytes as a number of bytes.

    Raises:
        UsageError: it is none of them.
    """
    found = re.fullmatch(r"(\d{1,15})\s*([KMGT]?)(?:i?B)?", text.strip(), re.IGNORECASE)
    if found is None:
        raise UsageError(f"a size is a number with K, M, G or T behind it, such as 4G, not {text!r}")
    return int(found[1]) * _UNITS[found[2].upper()]
