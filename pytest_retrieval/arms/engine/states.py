"""The states of engines between runs: what there is, and how those go that were longest unused.

Each is a folder ``LABEL-KEY`` of its own, with what was noted of the latest build beside the state itself.
Who works with one holds a lock that is named by its key.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_retrieval.snapshots.scratch import ScratchError, hold, let_go, private_base, remove_tree

ENGINES = "engines"  # their folder in a store
STAMP = "built.json"


@dataclass(frozen=True, slots=True)
class State:
    """One engine's state for one tree: its bytes, and when it was last built; never, where that failed."""

    path: Path
    size: int
    used: float

    @property
    def label(self) -> str:
        """The engine's label."""
        return self.path.name.rpartition("-")[0]


def states(folder: Path) -> list[State]:
    """The states below ``folder``, the longest unused first; what is gone meanwhile is passed over."""
    found = [State(path, _size(path), _used(path)) for path in _folders(folder)]
    return sorted(found, key=lambda state: (state.used, state.path.name))


def trim(found: Sequence[State], limit: int, spared: Path | None = None) -> int:
    """Remove of ``found``, in this order, until the rest is within ``limit`` bytes; the bytes that went.

    What is in use stays, and so does ``spared``.
    """
    total, removed = sum(state.size for state in found), 0
    for state in found:
        if total - removed > limit and state.path != spared and _removed(state.path):
            removed += state.size
    return removed


def tree_size(folder: Path) -> int:
    """The bytes of all files below ``folder``."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += (Path(place) / name).lstat().st_size
    return total


def _folders(folder: Path) -> Iterator[Path]:
    with contextlib.suppress(OSError):
        yield from (path for path in folder.iterdir() if path.is_dir() and not path.is_symlink())


def _size(path: Path) -> int:
    """The bytes that were noted at the latest build; counted where it was not finished."""
    try:
        return int(json.loads((path / STAMP).read_bytes())["size"])
    except (OSError, ValueError, TypeError, KeyError):
        return tree_size(path)


def _used(path: Path) -> float:
    try:
        return (path / STAMP).stat().st_mtime
    except OSError:
        return 0.0


def _removed(path: Path) -> bool:
    """Remove a state that nobody uses; whether it went."""
    lock = private_base() / f"engine-{path.name.rpartition('-')[2]}.lock"
    with contextlib.suppress(OSError, ScratchError):
        descriptor = hold(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        try:
            remove_tree(path)
        finally:
            let_go(lock, descriptor)
        return True
    return False
