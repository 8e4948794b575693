"""Processes as a test sees them in ``/proc``, and how it waits: for a condition, never for a time."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

PATIENCE = 120.0  # seconds; a busy machine is not a fault


def is_alive(pid: int) -> bool:
    """Whether there is such a process that is neither dead nor a zombie."""
    try:
        return state_of(Path(f"/proc/{pid}")) not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def state_of(place: Path) -> str:
    """The letter of a process's state; ``place`` is its folder. Raises OSError where it is gone."""
    return (place / "stat").read_text().rpartition(")")[2].split()[0]


def wait_until_gone(pid: int) -> bool:
    """Wait for the end of a process; False where it does not end."""
    deadline = time.monotonic() + PATIENCE
    while is_alive(pid):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def wait_until(condition: Callable[[], bool], what: str) -> None:
    """Wait for ``condition``, which is ``what``; fail where it does not come about."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.01)


def processes_with(variable: str) -> list[int]:
    """The living processes that have inherited ``NAME=VALUE``."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            state = state_of(place)
            inherited = variable.encode() in (place / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if inherited and state not in "ZX":
            found.append(int(place.name))
    return found


def name_of(pid: int) -> str:
    """The name of a process's program; empty where it is gone."""
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""
