"""A program that is asked line by line: one line in, one line out, each within a time and a size bound.

It has a process group of its own, is put under guard like every program, and is ended by
:meth:`Dialogue.close` together with whatever it started.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from pytest_retrieval.programs.groups import DRAIN, PIECE, Group, ProgramError, pump
from pytest_retrieval.programs.interrupts import postponed_interrupts

GRACE = 2.0
_TAIL = 4 << 10  # bytes of diagnostics that are kept: the last ones
_TICK = 0.25


class Dialogue:
    """A started program; ``environment`` is the whole environment it sees.

    Raises:
        ProgramError: it cannot be started.
    """

    def __init__(self, argv: Sequence[str], *, cwd: Path | None, environment: Mapping[str, str]) -> None:
        with postponed_interrupts():
            self._group = Group(argv, cwd, None, environment, open_input=True, traced=True)
        self._said = bytearray()
        self._diagnostics = bytearray()
        self._ended = False

    def ask(self, line: bytes, *, timeout: float, limit: int) -> bytes:
        """The line that answers ``line``; both are without their LF.

        After an error the program is in no known state: end it.

        Raises:
            ProgramError: the program spoke before it was asked, died, closed its output, or gave no answer
                within ``timeout`` seconds and ``limit`` bytes.
        """
        deadline = time.monotonic() + timeout
        self._listen()
        if self._said:
            raise ProgramError(f"it said something before it was asked: {bytes(self._said[:120])!r}")
        rest = memoryview(line + b"\n")
        with selectors.DefaultSelector() as selector:
            selector.register(self._group.stdout, selectors.EVENT_READ)
            selector.register(self._group.stderr, selectors.EVENT_READ)
            selector.register(self._input, selectors.EVENT_WRITE)
            while b"\n" not in self._said:
                if len(self._said) > limit:
                    raise ProgramError(f"its answer exceeds {limit:,} bytes")
                if self._ended:
                    raise ProgramError(self._ending())
                wait = deadline - time.monotonic()
                if wait <= 0:
                    raise ProgramError(f"timed out after {timeout:g} s")
                rest = self._move(selector, rest, wait)
        answer, _, after = bytes(self._said).partition(b"\n")
        self._said = bytearray(after)
        return answer

    def close(self, grace: float = GRACE) -> None:
        """End the program: no more input, then TERM, then KILL, each after ``grace`` seconds."""
        try:
            if self._group.process.stdin is not None:
                self._group.process.stdin.close()
            if not pump(self._group, {}, time.monotonic() + grace):
                self._group.signal(signal.SIGTERM)
                pump(self._group, {}, time.monotonic() + grace)
        finally:
            self.kill()

    def kill(self) -> None:
        """End the program at once."""
        self._group.close()

    @property
    def _input(self) -> int:
        assert self._group.stdin is not None
        return self._group.stdin

    def _move(self, selector: selectors.BaseSelector, rest: memoryview, wait: float) -> memoryview:
        """Move what can be moved within ``wait`` seconds; what is left of the question."""
        gone = self._group.exited()
        ready = {key.fd for key, _ in selector.select(0 if gone else min(wait, _TICK))}
        if self._input in ready:
            rest = self._write(rest)
            if not rest:
                selector.unregister(self._input)
        if self._group.stderr in ready and not self._hear_diagnostics():
            selector.unregister(self._group.stderr)
        if self._group.stdout in ready:
            self._hear()
        elif gone:
            self._ended = True
        return rest

    def _write(self, rest: memoryview) -> memoryview:
        """Write a piece; one that nobody reads any more is forgotten, for the end of the output tells."""
        try:
            return rest[os.write(self._input, rest[:PIECE]) :]
        except BlockingIOError:
            return rest
        except OSError:
            return rest[:0]

    def _listen(self) -> None:
        """Take in what the program has said unasked."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._group.stdout, selectors.EVENT_READ)
            if selector.select(0):
                self._hear()

    def _hear(self) -> None:
        piece = _read(self._group.stdout)
        self._said += piece or b""
        self._ended = self._ended or piece == b""

    def _hear_diagnostics(self) -> bool:
        piece = _read(self._group.stderr)
        self._diagnostics = (self._diagnostics + (piece or b""))[-_TAIL:]
        return piece != b""

    def _ending(self) -> str:
        """How the program ended, with its last words."""
        deadline = time.monotonic() + DRAIN
        while not self._group.exited() and time.monotonic() < deadline:
            time.sleep(0.01)
        with contextlib.suppress(OSError):
            self._hear_diagnostics()
        said = bytes(self._diagnostics).decode("utf-8", "replace").strip().splitlines()
        words = f": {said[-1]}" if said else " and said nothing"
        if not self._group.exited():
            return f"it closed its standard output{words}"
        code = self._group.finish({})
        how = f"ended with exit status {code}" if code >= 0 else f"was ended by signal {-code}"
        return f"it {how}{words}"


def _read(descriptor: int) -> bytes | None:
    """A piece; nothing at the end of the stream, None where there is none at the moment."""
    try:
        return os.read(descriptor, PIECE)
    except BlockingIOError:
        return None
    except OSError:
        return b""
