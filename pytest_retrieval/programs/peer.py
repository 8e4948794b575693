"""A program that runs on while others talk to it: its pipes, its last words, and its end.

It has a process group of its own, is put under guard like every program, and is ended by :meth:`Peer.close`
together with whatever it started. The pipes never block.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from pytest_retrieval.programs.groups import DRAIN, PIECE, Group, pump
from pytest_retrieval.programs.interrupts import postponed_interrupts

GRACE = 2.0
_TAIL = 4 << 10  # bytes of diagnostics that are kept: the last ones


class Peer:
    """A started program; ``environment`` is the whole environment it sees.

    Raises:
        ProgramError: it cannot be started.
    """

    def __init__(self, argv: Sequence[str], *, cwd: Path | None, environment: Mapping[str, str]) -> None:
        with postponed_interrupts():
            self._group = Group(argv, cwd, None, environment, open_input=True, traced=True)
        self._diagnostics = bytearray()
        self.stdout = self._group.stdout
        self.stderr = self._group.stderr

    @property
    def stdin(self) -> int:
        """The descriptor of its standard input."""
        assert self._group.stdin is not None
        return self._group.stdin

    def write(self, rest: memoryview) -> memoryview:
        """Write a piece; what is left of it.

        What nobody reads any more is forgotten, for the end of the output tells.
        """
        try:
            return rest[os.write(self.stdin, rest[:PIECE]) :]
        except BlockingIOError:
            return rest
        except OSError:
            return rest[:0]

    def hear_diagnostics(self) -> bool:
        """Take in a piece of its standard error; False at the end of it."""
        piece = read_piece(self.stderr)
        self._diagnostics = (self._diagnostics + (piece or b""))[-_TAIL:]
        return piece != b""

    def exited(self) -> bool:
        """Whether the program has ended."""
        return self._group.exited()

    def ending(self) -> str:
        """How it ended, with its last words; for a program whose output has ended."""
        deadline = time.monotonic() + DRAIN
        while not self._group.exited() and time.monotonic() < deadline:
            time.sleep(0.01)
        with contextlib.suppress(OSError):
            self.hear_diagnostics()
        said = bytes(self._diagnostics).decode("utf-8", "replace").strip().splitlines()
        words = f": {said[-1]}" if said else " and said nothing"
        if not self._group.exited():
            return f"it closed its standard output{words}"
        code = self._group.finish({})
        how = f"ended with exit status {code}" if code >= 0 else f"was ended by signal {-code}"
        return f"it {how}{words}"

    def signal(self, number: signal.Signals) -> None:
        """Send ``number`` to its whole group."""
        self._group.signal(number)

    def peak_rss(self) -> int | None:
        """The most memory that the program has needed, in bytes; None where the machine does not tell."""
        with contextlib.suppress(OSError, ValueError, IndexError):
            for line in Path(f"/proc/{self._group.process.pid}/status").read_text("latin-1").splitlines():
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) << 10
        return None

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


def read_piece(descriptor: int) -> bytes | None:
    """A piece; nothing at the end of the stream, None where there is none at the moment."""
    try:
        return os.read(descriptor, PIECE)
    except BlockingIOError:
        return None
    except OSError:
        return b""
