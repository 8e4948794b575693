"""Processes that a program leaves behind: found by their group, or by a mark in their environment.

A program that forks twice and starts a session of its own is in no group that its starter knows. It still has
the environment that it was started with, and in it the mark of its call. Where there is no ``/proc``, nothing
is found, and only the group is ended.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import time
from collections.abc import Iterator
from pathlib import Path

VARIABLE = "PYTEST_RETRIEVAL_CALL"

_PROCESSES = Path("/proc")
_PAUSE = 0.02
_ROUNDS = 10


def new_mark() -> str:
    """A value for :data:`VARIABLE` that no other call has."""
    return secrets.token_hex(12)


def strays(leader: int, mark: str) -> list[int]:
    """The living processes of a call but the first: those of the group ``leader``, and those with ``mark``.

    Only processes younger than ``leader`` are looked at; it must not have been waited for, so that its number
    is still its own.
    """
    return [pid for pid in _younger_than(leader) if _belongs(pid, leader, f"{VARIABLE}={mark}".encode())]


def remaining(leader: int, mark: str, seconds: float) -> list[int]:
    """The :func:`strays` that are still there after ``seconds``, for a child may be ending at this moment."""
    deadline = time.monotonic() + seconds
    while True:
        found = strays(leader, mark)
        if not found or time.monotonic() >= deadline:
            return found
        time.sleep(_PAUSE)


def end_strays(leader: int, mark: str) -> None:
    """Kill the :func:`strays`, also those that they start meanwhile."""
    for _ in range(_ROUNDS):
        found = strays(leader, mark)
        if not found:
            return
        for pid in found:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(_PAUSE)


def _younger_than(leader: int) -> Iterator[int]:
    with contextlib.suppress(OSError):
        for place in _PROCESSES.iterdir():
            if place.name.isdigit() and int(place.name) > leader:
                yield int(place.name)


def _belongs(pid: int, leader: int, mark: bytes) -> bool:
    place = _PROCESSES / str(pid)
    try:
        # The name of the program stands in parentheses and may hold any character.
        state, _, group, session = (place / "stat").read_text("latin-1").rpartition(")")[2].split()[:4]
        if state in "ZX":
            return False
        return str(leader) in (group, session) or mark in (place / "environ").read_bytes().split(b"\0")
    except (OSError, ValueError):
        return False
