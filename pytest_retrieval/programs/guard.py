"""Ends the programs of a process that was killed and could not end them itself.

Every program runs in a group of its own, where no signal to its starter's group reaches it. So a process that
starts its first program also starts a guard: this file, run as a script, which reads from a pipe which groups
start and end. When the guard's parent is gone, however it went, the guard kills the groups that are left, and
ends. It is the one process that may outlive a run, by moments. A program escapes it only where its starter is
killed in the moment between the start and the line that reports it.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import threading

_POLL = 0.5
_PIECE = 1 << 16
_BLOCKED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

_lock = threading.Lock()
_pipe: int | None = None


def started(group: int) -> None:
    """Put a group of processes under guard."""
    _tell(group)


def ended(group: int) -> None:
    """Release a group whose leader has been reaped: its number may now become another's."""
    _tell(-group)


def _tell(number: int) -> None:
    """Without a guard the programs still end in every way but one, so nothing is raised here."""
    global _pipe  # noqa: PLW0603
    with _lock, contextlib.suppress(OSError):
        if _pipe is None:
            _pipe = _start()
        os.write(_pipe, b"%+d\n" % number)


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
    """Be the guard of the process ``parent``, which writes ``+GROUP`` and ``-GROUP`` lines into ``pipe``."""
    os.chdir("/")
    for group in _left(parent, pipe):
        with contextlib.suppress(OSError):
            os.killpg(group, signal.SIGKILL)


def _left(parent: int, pipe: int) -> set[int]:
    """The groups that are left when the parent is gone: a fork of it may hold the pipe's other end on."""
    groups: set[int] = set()
    rest = b""
    while True:
        if select.select([pipe], [], [], _POLL)[0]:
            piece = os.read(pipe, _PIECE)
            *lines, rest = (rest + piece).split(b"\n")
            for number in map(int, lines):
                groups.add(number) if number > 0 else groups.discard(-number)
            if not piece:
                return groups
        elif os.getppid() != parent:
            return groups


if __name__ == "__main__":
    watch(int(sys.argv[1]), 0)
else:
    os.register_at_fork(after_in_child=_forget)
