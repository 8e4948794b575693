"""A store that is out of the way for a while, and back afterwards however the while ends."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path

from pytest_retrieval.errors import RetrievalError, SnapshotError
from pytest_retrieval.programs.interrupts import postponed_interrupts

_STORE, _INTRUDER = "store", "made-meanwhile"


@contextlib.contextmanager
def hidden(store: Path, aside: Path) -> Iterator[None]:
    """Within the block there is nothing at ``store``; it waits in a new folder below ``aside``.

    ``aside`` is on the same file system, for the store is renamed. The store is moved back before anything
    is removed. What was made in its place meanwhile is put aside, so that the store comes back all the same,
    but that is an error: who makes a store was not without one. Where the store cannot be moved back, it
    stays where it waits, and the error names that place.

    Raises:
        SnapshotError: the store could not be moved away; or something was made in its place, or it could not
            be moved back, joined to the error that ended the block. Interrupts are passed on as they are.
    """
    parent: Path | None = None
    try:
        with postponed_interrupts():
            parent = _move_away(store, aside)
        yield
    except RetrievalError as error:
        if (trouble := _move_back(store, parent)) is not None:
            raise SnapshotError(f"{error}; {trouble}") from error
        raise
    except BaseException:
        _move_back(store, parent)
        raise
    if (trouble := _move_back(store, parent)) is not None:
        raise SnapshotError(trouble)


def _move_away(store: Path, aside: Path) -> Path:
    parent = Path(tempfile.mkdtemp(prefix="hidden-", dir=aside))
    try:
        store.rename(parent / _STORE)
    except OSError as error:
        parent.rmdir()
        raise SnapshotError(f"the store cannot be moved away: {error.strerror}") from error
    return parent


def _move_back(store: Path, parent: Path | None) -> str | None:
    """Bring the store back; what went wrong, or None."""
    if parent is None:
        return None
    waiting = parent / _STORE
    with postponed_interrupts():
        try:
            made = _put_aside(store, parent / _INTRUDER)
            waiting.rename(store)
        except OSError as error:
            return f"the store could not be moved back and is kept at {waiting}: {error.strerror}"
        if made:
            return "the store was to be moved back, and the call without it had made another in its place"
        parent.rmdir()
    return None


def _put_aside(store: Path, place: Path) -> bool:
    """Whether there was anything at ``store``; it is at ``place`` now."""
    try:
        store.rename(place)
    except FileNotFoundError:
        return False
    return True
