"""Where the store lies, and how much it may hold."""

from __future__ import annotations

import os
import re
from pathlib import Path

from pytest_retrieval.errors import UsageError

DEFAULT_SIZE = "4G"
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def default_root() -> Path | None:
    """``pytest-retrieval`` in the user's cache directory; None where there is no home, as in containers."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    try:
        folder = Path(base) if Path(base).is_absolute() else Path.home() / ".cache"
    except RuntimeError:
        return None
    return folder / "pytest-retrieval"


def existing_root(text: str | None) -> Path:
    """The store that a command is told to look at, or the default one; it may yet have to be made.

    Raises:
        UsageError: it says that there is none, or names something that is no folder.
    """
    # Path.expanduser raises for ~nobody, which then is a folder that is not there.
    root = default_root() if text is None else Path(os.path.expanduser(text)).absolute()  # noqa: PTH111  as above
    if text in ("", "none"):
        raise UsageError(f"--retrieval-store {text!r} names no store; name its folder")
    if root is None:
        raise UsageError("no home directory is known; name the store's folder: --retrieval-store DIR")
    if root.exists() and not root.is_dir():
        raise UsageError(f"--retrieval-store {root}: that is no folder")
    return root


def parse_size(text: str, named: str = "a size") -> int:
    """``4G``, ``500M`` or plain bytes as a number of bytes; ``named`` is what it is given for.

    Raises:
        UsageError: it is none of them.
    """
    found = re.fullmatch(r"(\d{1,15})\s*([KMGT]?)(?:i?B)?", text.strip(), re.IGNORECASE)
    if found is None:
        raise UsageError(f"{named} is a number with K, M, G or T behind it, such as 4G, not {text!r}")
    return int(found[1]) * _UNITS[found[2].upper()]
