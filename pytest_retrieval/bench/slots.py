"""How many processes of this machine may ask one arm at once, held by locks that die with their process."""

from __future__ import annotations

import fcntl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from pytest_retrieval.snapshots.scratch import hold, let_go, private_base

_POLL_SECONDS = 0.01


@contextmanager
def slot(label: str, limit: int | None) -> Iterator[None]:
    """Hold one of ``limit`` places for the arm ``label`` across workers and sessions of this user.

    Without a limit nothing is locked. A place is an OS lock on a small file, so that a killed worker
    gives it back; the file goes with its holder.
    """
    if limit is None:
        yield
        return
    place, descriptor = _take(_places(label, limit))
    try:
        yield
    finally:
        let_go(place, descriptor)


def _places(label: str, limit: int) -> list[Path]:
    name = sha256(label.encode()).hexdigest()[:16]
    return [private_base() / f"slot-{name}-{number}.lock" for number in range(max(1, limit))]


def _take(places: list[Path]) -> tuple[Path, int]:
    while True:
        for place in places:
            try:
                return place, hold(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
        time.sleep(_POLL_SECONDS)
