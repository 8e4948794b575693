"""A program that is asked line by line: one line in, one line out, each within a time and a size bound."""

from __future__ import annotations

import selectors
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from pytest_retrieval.programs.groups import ProgramError
from pytest_retrieval.programs.peer import GRACE, Peer, read_piece

_TICK = 0.25


class Dialogue:
    """A started program; ``environment`` is the whole environment it sees.

    Raises:
        ProgramError: it cannot be started.
    """

    def __init__(self, argv: Sequence[str], *, cwd: Path | None, environment: Mapping[str, str]) -> None:
        self._peer = Peer(argv, cwd=cwd, environment=environment)
        self._said = bytearray()
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
            selector.register(self._peer.stdout, selectors.EVENT_READ)
            selector.register(self._peer.stderr, selectors.EVENT_READ)
            selector.register(self._peer.stdin, selectors.EVENT_WRITE)
            while b"\n" not in self._said:
                if len(self._said) > limit:
                    raise ProgramError(f"its answer exceeds {limit:,} bytes")
                if self._ended:
                    raise ProgramError(self._peer.ending())
                wait = deadline - time.monotonic()
                if wait <= 0:
                    raise ProgramError(f"timed out after {timeout:g} s")
                rest = self._move(selector, rest, wait)
        answer, _, after = bytes(self._said).partition(b"\n")
        self._said = bytearray(after)
        return answer

    def peak_rss(self) -> int | None:
        """The most memory that the program has needed, in bytes; None where the machine does not tell."""
        return self._peer.peak_rss()

    def close(self, grace: float = GRACE) -> None:
        """End the program: no more input, then TERM, then KILL, each after ``grace`` seconds."""
        self._peer.close(grace)

    def kill(self) -> None:
        """End the program at once."""
        self._peer.kill()

    def _move(self, selector: selectors.BaseSelector, rest: memoryview, wait: float) -> memoryview:
        """Move what can be moved within ``wait`` seconds; what is left of the question."""
        gone = self._peer.exited()
        ready = {key.fd for key, _ in selector.select(0 if gone else min(wait, _TICK))}
        if self._peer.stdin in ready:
            rest = self._peer.write(rest)
            if not rest:
                selector.unregister(self._peer.stdin)
        if self._peer.stderr in ready and not self._peer.hear_diagnostics():
            selector.unregister(self._peer.stderr)
        if self._peer.stdout in ready:
            self._hear()
        elif gone:
            self._ended = True
        return rest

    def _listen(self) -> None:
        """Take in what the program has said unasked."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._peer.stdout, selectors.EVENT_READ)
            if selector.select(0):
                self._hear()

    def _hear(self) -> None:
        piece = read_piece(self._peer.stdout)
        self._said += piece or b""
        self._ended = self._ended or piece == b""
