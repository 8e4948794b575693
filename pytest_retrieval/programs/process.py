"""The one place that starts a program.

Every program gets an argv list (never a shell), a process group of its own, and bounds on its time and
its output. Whatever happens, also a KeyboardInterrupt, the whole group is ended before control returns,
and a grandchild that keeps a pipe open delays nothing beyond :data:`DRAIN` seconds. Where this process is
killed, its guard ends the group.
"""

from __future__ import annotations

import contextlib
import io
import os
import selectors
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from pytest_retrieval.programs.groups import (
    ALLOWED,
    DRAIN,
    PIECE,
    Group,
    ProgramError,
    Sink,
    Usage,
    allowed_environment,
    move,
    pump,
    running,
)

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer as Buffer

__all__ = [
    "ALLOWED",
    "DRAIN",
    "Completed",
    "ProgramError",
    "Stream",
    "Usage",
    "allowed_environment",
    "run",
    "stream",
]

OUTPUT_LIMIT = 8 << 20
DIAGNOSTICS_LIMIT = 64 << 10
GRACE = 2.0


@dataclass(frozen=True, slots=True)
class Completed:
    """What a program left behind: bytes as written, up to the bounds, and ``wall`` seconds.

    ``returncode`` is negative for a signal, as in :mod:`subprocess`. A program whose standard output
    passes its bound is ended there (``stdout_truncated``); diagnostics beyond theirs are only discarded.
    ``left_behind`` counts the processes that a traced program left when it ended by itself. ``usage`` is what
    a metered one used, None where that could not be told.
    """

    returncode: int
    stdout: bytes
    stderr: bytes
    stdout_truncated: bool
    stderr_truncated: bool
    timed_out: bool
    wall: float
    left_behind: int = 0
    usage: Usage | None = None


def run(
    argv: Sequence[str | bytes],
    *,
    timeout: float,
    cwd: Path | None = None,
    stdin: bytes | None = None,
    environment: Mapping[str, str] | None = None,
    stdout_limit: int = OUTPUT_LIMIT,
    stderr_limit: int = DIAGNOSTICS_LIMIT,
    grace: float = GRACE,
    traced: bool = False,
    metered: bool = False,
    overflow_ends: bool = True,
    lingers: bool = True,
) -> Completed:
    """Run ``argv`` to its end, or for ``timeout`` seconds, and return what it said.

    After ``timeout`` the group gets TERM, and KILL ``grace`` seconds later, so the call returns within
    ``timeout + grace`` and a bounded drain. ``environment`` is the whole environment of the program;
    by default it is :func:`allowed_environment`. All processes of a ``traced`` program are ended, also those
    that left its group. Of a ``metered`` one, whose first word must be a whole path, it is told how much
    memory it needed, and ``wall`` is its own time. Where no ``overflow_ends`` it, a program that says too
    much goes on, and what is beyond the bound is forgotten. What a program leaves behind may go on for
    moments, so that it is counted; where it never ``lingers`` it is ended at once, and not counted.

    Raises:
        ProgramError: the program cannot be started.
    """
    started = time.monotonic()
    with running(argv, cwd, stdin, environment, traced=traced, metered=metered) as group:
        out, err = Sink(stdout_limit), Sink(stderr_limit)
        sinks = {group.stdout: out, group.stderr: err}
        stop_at, drain = out if overflow_ends else None, DRAIN if lingers else 0.0
        ended = pump(group, sinks, started + timeout, stop_at, drain)
        timed_out = not ended and not (overflow_ends and out.truncated)
        wall, left_behind = time.monotonic() - started, 0
        if ended:
            left_behind = group.left_behind() if lingers else 0
        else:
            group.signal(signal.SIGTERM)
            pump(group, sinks, time.monotonic() + grace)
            wall = time.monotonic() - started
        code = group.finish(sinks)
        usage = group.usage()
    return Completed(
        code,
        bytes(out.data),
        bytes(err.data),
        out.truncated,
        err.truncated,
        timed_out,
        wall if usage is None else usage.wall,
        left_behind,
        usage,
    )


class Stream(io.RawIOBase):
    """The standard output of a running program, read under a time bound; see :func:`stream`."""

    def __init__(self, group: Group, deadline: float) -> None:
        self._group = group
        self._deadline = deadline
        self._diagnostics = Sink(DIAGNOSTICS_LIMIT)
        self.at_end = False

    def readable(self) -> bool:
        """True: the stream can only be read."""
        return True

    def readinto(self, buffer: Buffer) -> int:
        """Fill ``buffer`` with what there is; 0 at the end of the program's output."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._group.stdout, selectors.EVENT_READ)
            selector.register(self._group.stderr, selectors.EVENT_READ)
            while True:
                ready = selector.select(max(0.0, self._deadline - time.monotonic()))
                if not ready:
                    raise ProgramError(f"{self._group.name} ran out of time")
                descriptors = {key.fd for key, _ in ready}
                if self._group.stdout in descriptors:
                    count = os.readv(self._group.stdout, [buffer])
                    self.at_end = count == 0
                    return count
                if not move(self._group.stderr, self._diagnostics):
                    selector.unregister(self._group.stderr)

    def check(self) -> None:
        """Wait for the end of a program whose output was read to the end.

        Raises:
            ProgramError: it ran out of time or did not end with 0; the text holds its last words.
        """
        if not pump(self._group, {self._group.stderr: self._diagnostics}, self._deadline):
            raise ProgramError(f"{self._group.name} ran out of time")
        code = self._group.finish({})
        if code != 0:
            said = bytes(self._diagnostics.data).decode("utf-8", "replace").strip().splitlines()
            reason = said[-1] if said else "no reason given"
            raise ProgramError(f"{self._group.name} ended with {code}: {reason}")


@contextlib.contextmanager
def stream(
    argv: Sequence[str | bytes],
    *,
    timeout: float,
    cwd: Path | None = None,
    stdin: bytes | None = None,
    environment: Mapping[str, str] | None = None,
) -> Iterator[BinaryIO]:
    """The output of ``argv`` as a buffered reader, for output too big to keep.

    The program is checked (exit code 0) when the block read all of its output, and ended otherwise.

    Raises:
        ProgramError: it cannot be started, ran out of time, or ended with another code than 0.
    """
    with running(argv, cwd, stdin, environment) as group:
        raw = Stream(group, time.monotonic() + timeout)
        with io.BufferedReader(raw, PIECE) as reader:
            yield reader
            if raw.at_end or not reader.read(1):
                raw.check()
