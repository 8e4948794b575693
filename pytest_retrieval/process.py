"""The one place that starts a program.

Every program gets an argv list (never a shell), a process group of its own, and bounds on its time and
its output. Whatever happens, also a KeyboardInterrupt, the whole group is ended before control returns,
and a grandchild that keeps a pipe open delays nothing beyond :data:`DRAIN` seconds.
"""

from __future__ import annotations

import contextlib
import io
import os
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from pytest_retrieval.errors import RetrievalError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer as Buffer

OUTPUT_LIMIT = 8 << 20
DIAGNOSTICS_LIMIT = 64 << 10
GRACE = 2.0
DRAIN = 0.5
_TICK = 0.05
_PIECE = 1 << 18

#: What a program sees of the caller's environment unless it is told otherwise.
ALLOWED = ("PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "SYSTEMROOT")


class ProgramError(RetrievalError):
    """A program that could not be started, ran out of time, or ended badly."""


@dataclass(frozen=True, slots=True)
class Completed:
    """What a program left behind: bytes as written, up to the bounds, and ``wall`` seconds.

    ``returncode`` is negative for a signal, as in :mod:`subprocess`. A program whose standard output
    passes its bound is ended there (``stdout_truncated``); diagnostics beyond theirs are only discarded.
    """

    returncode: int
    stdout: bytes
    stderr: bytes
    stdout_truncated: bool
    stderr_truncated: bool
    timed_out: bool
    wall: float


def allowed_environment(
    names: Iterable[str] = ALLOWED, extra: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The variables of this process that are in ``names``, overlaid with ``extra``."""
    passed = {name: os.environ[name] for name in names if name in os.environ}
    return {**passed, **(extra or {})}


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
) -> Completed:
    """Run ``argv`` to its end, or for ``timeout`` seconds, and return what it said.

    After ``timeout`` the group gets TERM, and KILL ``grace`` seconds later, so the call returns within
    ``timeout + grace`` and a bounded drain. ``environment`` is the whole environment of the program;
    by default it is :func:`allowed_environment`.

    Raises:
        ProgramError: the program cannot be started.
    """
    started = time.monotonic()
    with _Group(argv, cwd, stdin, environment) as group:
        out, err = _Sink(stdout_limit), _Sink(stderr_limit)
        sinks = {group.stdout: out, group.stderr: err}
        ended = _pump(group, sinks, started + timeout, stop_at=out)
        timed_out = not ended and not out.truncated
        if not ended:
            group.signal(signal.SIGTERM)
            ended = _pump(group, sinks, time.monotonic() + grace)
        code = group.finish(sinks)
    wall = time.monotonic() - started
    return Completed(code, bytes(out.data), bytes(err.data), out.truncated, err.truncated, timed_out, wall)


class _Sink:
    """The first ``limit`` bytes of a stream; what follows is counted as truncated and forgotten."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.data = bytearray()
        self.truncated = False

    def add(self, piece: bytes) -> None:
        room = self.limit - len(self.data)
        self.data += piece[:room]
        self.truncated = self.truncated or len(piece) > room


class _Group:
    """A started program and its process group, ended when the ``with`` block is left in any way."""

    def __init__(
        self,
        argv: Sequence[str | bytes],
        cwd: Path | None,
        stdin: bytes | None,
        environment: Mapping[str, str] | None,
    ) -> None:
        # A file instead of a pipe: no writer that could block, and no thread.
        with contextlib.ExitStack() as stack:
            given: int | io.BufferedRandom = subprocess.DEVNULL
            if stdin is not None:
                file = stack.enter_context(tempfile.TemporaryFile())
                file.write(stdin)
                file.seek(0)
                given = file.fileno()
            try:
                self.process = subprocess.Popen(
                    argv,
                    cwd=cwd,
                    env=dict(environment) if environment is not None else allowed_environment(),
                    stdin=given,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    start_new_session=True,
                    bufsize=0,
                )
            except (OSError, ValueError) as error:
                reason = getattr(error, "strerror", None) or str(error)
                raise ProgramError(f"cannot start {_shown(argv[0])}: {reason}") from error
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        self.name = _shown(argv[0])
        self.stdout = self.process.stdout.fileno()
        self.stderr = self.process.stderr.fileno()
        for descriptor in (self.stdout, self.stderr):
            os.set_blocking(descriptor, False)

    def __enter__(self) -> _Group:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()
        for pipe in (self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()

    def exited(self) -> bool:
        """Whether the program has ended; it is not reaped, so its group number stays its own."""
        if self.process.returncode is not None:
            return True
        if not hasattr(os, "waitid"):
            return self.process.poll() is not None
        flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
        try:
            return os.waitid(os.P_PID, self.process.pid, flags) is not None
        except ChildProcessError:
            return True

    def signal(self, number: signal.Signals) -> None:
        """Send ``number`` to the whole group; one that is gone or not ours any more is no fault."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, number)

    def finish(self, sinks: Mapping[int, _Sink]) -> int:
        """End what is left of the group, take what is left in the pipes, and return the exit code."""
        self._end()
        _pump(self, sinks, time.monotonic() + DRAIN)
        return self.process.returncode

    def _end(self) -> None:
        if self.process.returncode is None:
            self.signal(signal.SIGKILL)
            self.process.wait()


def _pump(group: _Group, sinks: Mapping[int, _Sink], deadline: float, stop_at: _Sink | None = None) -> bool:
    """Move output into ``sinks`` until the program has ended; False when the deadline or a bound came first.

    Pipes that somebody else still holds after the end are read for :data:`DRAIN` seconds more.
    """
    wait, ended = 0.001, False
    with selectors.DefaultSelector() as selector:
        for descriptor in sinks:
            selector.register(descriptor, selectors.EVENT_READ)
        while True:
            now = time.monotonic()
            if not ended and group.exited():
                ended, deadline = True, now + DRAIN
            if now >= deadline or (ended and not selector.get_map()):
                return ended
            wait = 0.001 if selector.get_map() else min(wait * 2, _TICK)
            pause = _TICK if selector.get_map() else wait
            for key, _ in selector.select(min(pause, deadline - now)):
                if not _move(key.fd, sinks[key.fd]):
                    selector.unregister(key.fd)
            if stop_at is not None and stop_at.truncated:
                return False


def _shown(word: str | bytes) -> str:
    return repr(os.fsdecode(word))


def _move(descriptor: int, sink: _Sink) -> bool:
    """Read one piece; False at the end of the stream."""
    try:
        piece = os.read(descriptor, _PIECE)
    except BlockingIOError:
        return True
    except OSError:
        return False
    sink.add(piece)
    return bool(piece)


class Stream(io.RawIOBase):
    """The standard output of a running program, read under a time bound; see :func:`stream`."""

    def __init__(self, group: _Group, deadline: float) -> None:
        self._group = group
        self._deadline = deadline
        self._diagnostics = _Sink(DIAGNOSTICS_LIMIT)
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
                if not _move(self._group.stderr, self._diagnostics):
                    selector.unregister(self._group.stderr)

    def check(self) -> None:
        """Wait for the end of a program whose output was read to the end.

        Raises:
            ProgramError: it ran out of time or did not end with 0; the text holds its last words.
        """
        if not _pump(self._group, {self._group.stderr: self._diagnostics}, self._deadline):
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
    with _Group(argv, cwd, stdin, environment) as group:
        raw = Stream(group, time.monotonic() + timeout)
        with io.BufferedReader(raw, _PIECE) as reader:
            yield reader
            if raw.at_end or not reader.read(1):
                raw.check()
