"""Where a page may go: over an earlier one, and over nobody's file."""

from __future__ import annotations

from pathlib import Path

from pytest_retrieval.errors import UsageError
from pytest_retrieval.regular import open_regular

_MARK = b'<meta name="generator" content="pytest-retrieval'
_MARK_WITHIN = 1_024  # bytes from the start


def check_replaceable(path: Path) -> None:
    """Refuse to write a page over a file that is none of ours.

    Raises:
        UsageError: it is there, not empty, and no page of this kind.
    """
    try:
        with open_regular(path) as stream:
            start = stream.read(_MARK_WITHIN)
    except OSError:
        return  # none there, or what writing will say better
    if start and _MARK not in start:
        raise UsageError(
            f"the HTML report {path} would replace a file that no run wrote; name another, or remove it"
        )
