"""One root error. Every subclass says where (file, line, field), what is wrong and what to do."""

from __future__ import annotations

from collections.abc import Sequence


class RetrievalError(Exception):
    """Anything that this package refuses: its text is one clear line (or one per fault) for a user."""


class UsageError(RetrievalError):
    """An option, an ini value or a marker argument that cannot be taken (exit code 4; 2 for the console)."""


class SampleError(RetrievalError):
    """A samples file that cannot be loaded; carries every fault of the file, not only the first."""

    def __init__(self, path: str, faults: Sequence[str], shown: int = 20) -> None:
        self.path = path
        self.faults = tuple(faults)
        lines = [f"{path}: {fault}" for fault in self.faults[:shown]]
        if len(self.faults) > shown:
            lines.append(f"{path}: and {len(self.faults) - shown} more faults")
        super().__init__("\n".join(lines))


class SnapshotError(RetrievalError):
    """A snapshot that cannot be found or read."""


class ArmError(RetrievalError):
    """An arm that could not be built, crashed, or answered something that is no ranking."""


class ReportError(RetrievalError):
    """A report that cannot be read, written or merged."""


class VoidError(RetrievalError):
    """What voids a whole run: it ends, and no report may be published."""


class GateError(UsageError):
    """A gate that cannot be parsed or names something the run does not have."""


def closest(word: str, known: Sequence[str]) -> str:
    """``"; did you mean 'X'?"`` for the nearest of ``known``, or the empty string."""
    from difflib import get_close_matches

    near = get_close_matches(word, known, n=1, cutoff=0.5)
    return f"; did you mean {near[0]!r}?" if near else ""
