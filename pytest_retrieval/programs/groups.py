"""A program and its process group: started, read from, and ended whatever happens."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_retrieval.errors import RetrievalError
from pytest_retrieval.programs import guard
from pytest_retrieval.programs.interrupts import postponed_interrupts
from pytest_retrieval.programs.strays import VARIABLE, end_strays, new_mark, remaining

DRAIN = 0.5
PIECE = 1 << 18
_TICK = 0.05
_METER = Path(__file__).with_name("meter.py")

#: What a program sees of the caller's environment unless it is told otherwise.
ALLOWED = ("PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "SYSTEMROOT")


class ProgramError(RetrievalError):
    """A program that could not be started, ran out of time, or ended badly."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What a metered program used: ``peak`` and ``tree`` in bytes as :mod:`.meter` tells them, and seconds.

    ``tree`` is None where a machine does not tell.
    """

    peak: int
    tree: int | None
    wall: float


def allowed_environment(
    names: Iterable[str] = ALLOWED, extra: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The variables of this process that are in ``names``, overlaid with ``extra``."""
    passed = {name: os.environ[name] for name in names if name in os.environ}
    return {**passed, **(extra or {})}


class Sink:
    """The first ``limit`` bytes of a stream; what follows is counted as truncated and forgotten."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.data = bytearray()
        self.truncated = False

    def add(self, piece: bytes) -> None:
        """Take in one piece."""
        room = self.limit - len(self.data)
        self.data += piece[:room]
        self.truncated = self.truncated or len(piece) > room


@contextlib.contextmanager
def running(
    argv: Sequence[str | bytes],
    cwd: Path | None,
    stdin: bytes | None,
    environment: Mapping[str, str] | None,
    *,
    traced: bool = False,
    metered: bool = False,
) -> Iterator[Group]:
    """Start a program; its group is ended when the ``with`` block is left in any way."""
    group = None
    try:
        with postponed_interrupts():  # one in the middle of the start would leave a program that nobody ends
            group = Group(argv, cwd, stdin, environment, traced=traced, metered=metered)
        yield group
    finally:
        if group is not None:
            group.close()


class Group:
    """A started program and its process group.

    ``open_input`` leaves its standard input open, as the descriptor ``stdin``, for who writes to it later.
    The processes of a ``traced`` program are found and ended even where they left its group. A ``metered``
    one is started by a process that tells how much memory it needed; its first word is a whole path.
    """

    def __init__(
        self,
        argv: Sequence[str | bytes],
        cwd: Path | None,
        stdin: bytes | None,
        environment: Mapping[str, str] | None,
        *,
        open_input: bool = False,
        traced: bool = False,
        metered: bool = False,
    ) -> None:
        self._mark = new_mark() if traced else None
        variables = dict(environment) if environment is not None else allowed_environment()
        if self._mark is not None:
            variables[VARIABLE] = self._mark
            guard.expected(f"{VARIABLE}={self._mark}")
        self._usage: int | None = None
        with contextlib.ExitStack() as stack:
            meter: list[int] = []
            if metered:
                self._usage, writing = os.pipe()
                stack.callback(os.close, writing)
                meter.append(writing)
            given = subprocess.PIPE if open_input else subprocess.DEVNULL
            if stdin is not None:
                given = stack.enter_context(_holding(stdin))
            self.process = self._start(argv, cwd, variables, given, meter)
        guard.started(self.process.pid)
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        self.name = _shown(argv[0])
        self._ended = False
        self.stdout = self.process.stdout.fileno()
        self.stderr = self.process.stderr.fileno()
        self.stdin = None if self.process.stdin is None else self.process.stdin.fileno()
        for descriptor in (self.stdout, self.stderr, self.stdin):
            if descriptor is not None:
                os.set_blocking(descriptor, False)

    def _start(
        self,
        argv: Sequence[str | bytes],
        cwd: Path | None,
        variables: Mapping[str, str],
        given: int,
        meter: Sequence[int],
    ) -> subprocess.Popen[bytes]:
        """The process, which reads from ``given``; a ``meter`` that there is gets to know what it needed."""
        metering = [sys.executable, "-I", "-S", str(_METER), *map(str, meter)] if meter else []
        try:
            return subprocess.Popen(
                [*metering, *argv],
                cwd=cwd,
                env=variables,
                stdin=given,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                bufsize=0,
                pass_fds=meter,
            )
        except (OSError, ValueError) as error:
            self._close_usage()
            self._forget_mark()
            reason = getattr(error, "strerror", None) or str(error)
            raise ProgramError(f"cannot start {_shown(argv[0])}: {reason}") from error

    def close(self) -> None:
        """End what is left of the group and let go of the pipes."""
        self._end()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        self._close_usage()

    def usage(self) -> Usage | None:
        """What the metered program used; None unless it ended by itself. Once it is finished.

        Raises:
            ProgramError: it could not be started.
        """
        if self._usage is None:
            return None
        os.set_blocking(self._usage, False)
        try:
            told = json.loads(os.read(self._usage, PIECE))
        except (OSError, ValueError):
            return None
        if "error" in told:
            raise ProgramError(f"cannot start {self.name}: {told['error']}")
        return Usage(**told)

    def _close_usage(self) -> None:
        descriptor, self._usage = self._usage, None
        if descriptor is not None:
            os.close(descriptor)

    def _forget_mark(self) -> None:
        if self._mark is not None:
            guard.forgotten(f"{VARIABLE}={self._mark}")

    def left_behind(self) -> int:
        """How many processes a traced program left at its end; those that are just ending do not count."""
        return 0 if self._mark is None else len(remaining(self.process.pid, self._mark, DRAIN))

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

    def finish(self, sinks: Mapping[int, Sink]) -> int:
        """End what is left of the group, take what is left in the pipes, and return the exit code."""
        self._end()
        pump(self, sinks, time.monotonic() + DRAIN)
        return self.process.returncode

    def _end(self) -> None:
        if not self._ended:
            self._ended = True
            self.signal(signal.SIGKILL)
            if self._mark is not None:
                end_strays(self.process.pid, self._mark)
            self.process.wait()
            guard.ended(self.process.pid)
            self._forget_mark()


def pump(
    group: Group,
    sinks: Mapping[int, Sink],
    deadline: float,
    stop_at: Sink | None = None,
    drain: float = DRAIN,
) -> bool:
    """Move output into ``sinks`` until the program has ended; False when the deadline or a bound came first.

    Pipes that somebody else still holds after the end are read for ``drain`` seconds more.
    """
    wait, ended = 0.001, False
    with selectors.DefaultSelector() as selector:
        for descriptor in sinks:
            selector.register(descriptor, selectors.EVENT_READ)
        while True:
            now = time.monotonic()
            if not ended and group.exited():
                ended, deadline = True, now + drain
            if now >= deadline or (ended and not selector.get_map()):
                return ended
            wait = 0.001 if selector.get_map() else min(wait * 2, _TICK)
            pause = _TICK if selector.get_map() else wait
            for key, _ in selector.select(min(pause, deadline - now)):
                if not move(key.fd, sinks[key.fd]):
                    selector.unregister(key.fd)
            if stop_at is not None and stop_at.truncated:
                return False


@contextlib.contextmanager
def _holding(data: bytes) -> Iterator[int]:
    """A file to be read from its beginning: unlike a pipe it has no writer that could block."""
    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.seek(0)
        yield file.fileno()


def _shown(word: str | bytes) -> str:
    return repr(os.fsdecode(word))


def move(descriptor: int, sink: Sink) -> bool:
    """Read one piece; False at the end of the stream."""
    try:
        piece = os.read(descriptor, PIECE)
    except BlockingIOError:
        return True
    except OSError:
        return False
    sink.add(piece)
    return bool(piece)
