"""What speaks against a description: judged from what a few queries found, before hours are spent on it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pytest_retrieval.engines.collapse import Slot
from pytest_retrieval.engines.description import Description
from pytest_retrieval.engines.output import Lines, Reading
from pytest_retrieval.engines.texts import corpus_lines
from pytest_retrieval.errors import SnapshotError
from pytest_retrieval.snapshots.base import Snapshot

_BEYOND = 0.1  # the share of spans that may end after their file does
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Probe:
    """One query's results: as read, by file, and the printed paths that lie outside of the corpus."""

    reading: Reading
    slots: tuple[Slot, ...]
    outside: tuple[str, ...]


def errors(probes: Sequence[Probe], description: Description, snapshot: Snapshot) -> Iterator[str]:
    """What makes a run with the description worthless."""
    slots = [slot for probe in probes for slot in probe.slots]
    outside = [path for probe in probes for path in probe.outside]
    if outside:
        yield f"{len(outside)} results lie outside the corpus: {', '.join(outside[:_SHOWN]):.200}"
    unknown = [slot.path for slot in slots if slot.path not in snapshot]
    if slots and len(unknown) == len(slots):
        shown = ", ".join(unknown[:_SHOWN])
        yield f"the corpus has none of the paths ({shown:.200}); is strip_prefix right?"
    spans = [(slot, lines) for slot in slots for lines in slot.lines if slot.path in snapshot]
    if description.spans and slots and not any(slot.lines for slot in slots):
        yield "spans are declared, and no result has any; are parse.start and parse.end right?"
    lengths = _Files(snapshot)
    beyond = [lines for slot, lines in spans if lines.end > len(lengths.lines(slot.path))]
    if len(beyond) > _BEYOND * len(spans):
        yield f"{len(beyond)} of {len(spans)} spans end after their file does; is line_base right?"


def warnings(
    probes: Sequence[Probe], description: Description, snapshot: Snapshot, wanted: int
) -> Iterator[str]:
    """What makes a run with the description say less than it could."""
    if probes and all(len(probe.slots) < wanted for probe in probes):
        most = max(len(probe.slots) for probe in probes)
        hint = "; a larger candidates may give more" if _is_cut(probes, description, wanted) else ""
        yield f"{most} files at most where {wanted} are wanted{hint}"
    slots = [slot for probe in probes for slot in probe.slots]
    texts = [lines for slot in slots for lines in slot.lines if lines.text is not None]
    if description.tokens and slots and not texts and all(slot.text is None for slot in slots):
        yield "tokens are declared, and no result has a text; is parse.text right?"
    yield from _compared(slots, description, snapshot)
    if any(not _is_monotonic(probe) for probe in probes):
        yield "the scores are not in order; the order of output is what counts"
    if any(probe.reading.coloured for probe in probes):
        yield "paths were coloured; have the tool print none"


def _is_cut(probes: Sequence[Probe], description: Description, wanted: int) -> bool:
    """Whether the tool gave all results that it was asked for, and several of one file."""
    return any(len(probe.reading.results) >= wanted * description.candidates for probe in probes)


def _compared(slots: Sequence[Slot], description: Description, snapshot: Snapshot) -> Iterator[str]:
    """Texts that are not what stands at their lines."""
    files = _Files(snapshot)
    pairs = [(slot.path, lines) for slot in slots for lines in slot.lines if (lines.text or "").strip()]
    if not pairs or description.text_from_corpus:
        return
    wrong = [pair for pair in pairs if not files.has_text(*pair, shift=0)]
    for shift in (1, -1):
        if len(wrong) == len(pairs) and all(files.has_text(*pair, shift=shift) for pair in pairs):
            where = "below" if shift > 0 else "above"
            yield f"every text stands a line {where} its lines; try line_base {description.line_base - shift}"
            return
    if wrong:
        path, lines = wrong[0]
        yield (
            f"{len(wrong)} of {len(pairs)} texts are not what stands at their lines (first "
            f"{path}:{lines.start}); for a shortened preview, text_from_corpus prices the lines themselves"
        )


def _is_monotonic(probe: Probe) -> bool:
    scores = [result.score for result in probe.reading.results if result.score is not None]
    return scores in (sorted(scores), sorted(scores, reverse=True))


class _Files:
    """The lines of files of a snapshot, each read once."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._lines: dict[str, list[str]] = {}

    def lines(self, path: str) -> list[str]:
        """The lines of ``path``; none where there is no such file."""
        if path not in self._lines:
            try:
                self._lines[path] = corpus_lines(self._snapshot.read(path))
            except SnapshotError:
                self._lines[path] = []
        return self._lines[path]

    def has_text(self, path: str, lines: Lines, *, shift: int) -> bool:
        """Whether the text of ``lines`` stands there, ``shift`` lines further down; blanks do not matter."""
        first = lines.start - 1 + shift
        found = " ".join(" ".join(self.lines(path)[max(first, 0) : lines.end + shift]).split())
        return found == " ".join((lines.text or "").split())
