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
from typing import NamedTuple

VARIABLE = "PYTEST_RETRIEVAL_CALL"

_PROCESSES = Path("/proc")
_KERNEL = 2  # the parent of the kernel's own threads, which have no environment
_PAUSE = 0.02
_MOMENT = 0.002
_ROUNDS = 10


def new_mark() -> str:
    """A value for :data:`VARIABLE` that no other call has."""
    return secrets.token_hex(12)


def strays(leader: int, mark: str) -> list[int]:
    """The living processes of a call but the first: those of the group ``leader``, and those with ``mark``.

    Only processes that started no earlier than ``leader`` are looked at; it must not have been waited for, so
    that its number is still its own. Numbers start again from below, so they tell nothing of age.
    """
    first = _stat(leader)
    if first is None:
        return []
    wanted = f"{VARIABLE}={mark}".encode()
    found: list[int] = []
    seen = {leader}
    # One that has forked and ended since it was listed has left a child that was not: so look for new ones.
    for _ in range(_ROUNDS):
        new = [pid for pid in _processes() if pid not in seen]
        if not new:
            break
        seen.update(new)
        found += [pid for pid in new if _belongs(pid, leader, first.started, wanted)]
    return found


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


class _Stat(NamedTuple):
    """What is looked at of ``/proc/PID/stat``; ``started`` counts clock ticks since the machine's start."""

    state: str
    parent: int
    group: int
    session: int
    started: int


def _processes() -> Iterator[int]:
    with contextlib.suppress(OSError):
        for place in _PROCESSES.iterdir():
            if place.name.isdigit():
                yield int(place.name)


def _stat(pid: int) -> _Stat | None:
    """The status of a process; None when it is gone."""
    try:
        # The name of the program stands in parentheses and may hold any character.
        fields = (_PROCESSES / str(pid) / "stat").read_text("latin-1").rpartition(")")[2].split()
        return _Stat(fields[0], *map(int, (fields[1], fields[2], fields[3], fields[19])))
    except (OSError, ValueError, IndexError):
        return None


def _belongs(pid: int, leader: int, since: int, mark: bytes) -> bool:
    stat = _stat(pid)
    if stat is None or stat.started < since or stat.state in "ZX" or stat.parent == _KERNEL:
        return False
    return leader in (stat.group, stat.session) or mark in _environment(pid)


def _environment(pid: int) -> list[bytes]:
    """The variables of a process; one that turns into another program shows none for a moment."""
    for _ in range(_ROUNDS):
        try:
            if found := (_PROCESSES / str(pid) / "environ").read_bytes():
                return found.split(b"\0")
        except OSError:
            return []
        time.sleep(_MOMENT)
    return []
