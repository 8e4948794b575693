"""How many processes of this machine may ask one arm at once, held by locks that die with their process."""

from __future__ import annotations

import fcntl
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

_POLL_SECONDS = 0.01


@contextmanager
def slot(label: str, limit: int | None) -> Iterator[None]:
    """Hold one of ``limit`` places for the arm ``label`` across workers and sessions of this user.

    Without a limit nothing is locked. A place is an OS lock on a small file, so that a killed worker
    gives it back.
    """
    if limit is None:
        yield
        return
    descriptor = _take(_places(label, limit))
    try:
        yield
    finally:
        os.close(descriptor)


def _places(label: str, limit: int) -> list[Path]:
    folder = Path(tempfile.gettempdir()) / f"pytest-retrieval-slots-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    name = sha256(label.encode()).hexdigest()[:16]
    return [folder / f"{name}.{number}" for number in range(max(1, limit))]


def _take(places: list[Path]) -> int:
    while True:
        for place in places:
            descriptor = os.open(place, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(descriptor)
            else:
                return descriptor
        time.sleep(_POLL_SECONDS)
