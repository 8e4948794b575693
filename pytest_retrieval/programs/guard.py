"""Ends the programs of a process that was killed and could not end them itself.

Every program runs in a group of its own, where no signal to its starter's group reaches it. So a process that
starts its first program also starts a guard: this file, run as a script, which reads from a pipe which groups
start and end. When the guard's parent is gone, however it went, the guard kills the groups that are left, and
ends. It is the one process that may outlive a run, by moments.

A traced program is announced before it starts, by the mark in its environment: the guard then ends whoever
has it, also where the starter was killed before it could tell the group, or the program has left its group.
Where there is no ``/proc``, and for programs that are not traced, that moment is left.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import threading
import time

_POLL = 0.5
_LATE = 0.5  # seconds in which a program may still be turning into the one that has the mark
_PAUSE = 0.05
_PIECE = 1 << 16
_BLOCKED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

_lock = threading.Lock()
_pipe: int | None = None


def expected(mark: str) -> None:
    """Put under guard whatever has the variable ``NAME=VALUE`` in its environment, before it is started."""
    _tell(f"?{mark}")


def forgotten(mark: str) -> None:
    """Release what :func:`expected` named: nothing has it any more."""
    _tell(f"!{mark}")


def started(group: int) -> None:
    """Put a group of processes under guard."""
    _tell(f"+{group}")


def ended(group: int) -> None:
    """Release a group whose leader has been reaped: its number may now become another's."""
    _tell(f"-{group}")


def _tell(line: str) -> None:
    """Without a guard the programs still end in every way but one, so nothing is raised here."""
    global _pipe  # noqa: PLW0603
    with _lock, contextlib.suppress(OSError):
        if _pipe is None:
            _pipe = _start()
        os.write(_pipe, line.encode() + b"\n")


def _start() -> int:
    """Start the guard of this process; the pipe that it reads from."""
    reading, writing = os.pipe()
    try:
        argv = [sys.executable, "-I", "-S", __file__, str(os.getpid())]
        silenced = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_WRONLY, 0) for stream in (1, 2)]
        actions = [(os.POSIX_SPAWN_DUP2, reading, 0), *silenced]
        # A group of its own and blocked signals from its first moment on: what ends this process spares it.
        os.posix_spawn(
            sys.executable, argv, os.environ, file_actions=actions, setpgroup=0, setsigmask=_BLOCKED
        )
    except BaseException:
        os.close(writing)
        raise
    finally:
        os.close(reading)
    return writing


def _forget() -> None:
    """A forked child has a guard of its own, if it starts programs."""
    global _pipe, _lock
    if _pipe is not None:
        os.close(_pipe)
    _pipe, _lock = None, threading.Lock()


def watch(parent: int, pipe: int) -> None:
    """Be the guard of the process ``parent``; a line in ``pipe`` is a sign with a group or a mark."""
    os.chdir("/")
    groups, marks = _left(parent, pipe)
    for group in groups:
        with contextlib.suppress(OSError):
            os.killpg(group, signal.SIGKILL)
    if marks:
        _end_marked(marks)


def _left(parent: int, pipe: int) -> tuple[set[int], set[bytes]]:
    """The groups and marks that are left when the parent is gone.

    A fork of it may hold the pipe's other end on.
    """
    groups: set[int] = set()
    marks: set[bytes] = set()
    rest = b""
    while True:
        if select.select([pipe], [], [], _POLL)[0]:
            piece = os.read(pipe, _PIECE)
            *lines, rest = (rest + piece).split(b"\n")
            for line in lines:
                sign, word = line[:1], line[1:]
                if sign in b"?!":
                    marks.add(word) if sign == b"?" else marks.discard(word)
                else:
                    groups.add(int(word)) if sign == b"+" else groups.discard(int(word))
            if not piece:
                return groups, marks
        elif os.getppid() != parent:
            return groups, marks


def _end_marked(marks: set[bytes]) -> None:
    """Kill every process that has one of ``marks``, for as long as one may still come to have it."""
    from pathlib import Path  # which takes as long to import as everything else here

    deadline = time.monotonic() + _LATE
    while time.monotonic() < deadline:
        for place in Path("/proc").glob("[0-9]*/environ"):
            with contextlib.suppress(OSError):
                if not marks.isdisjoint(place.read_bytes().split(b"\0")):
                    os.kill(int(place.parent.name), signal.SIGKILL)
        time.sleep(_PAUSE)


if __name__ == "__main__":
    watch(int(sys.argv[1]), 0)
else:
    os.register_at_fork(after_in_child=_forget)
