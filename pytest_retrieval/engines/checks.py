"""What speaks against a description: judged from what a few queries found, before hours are spent on it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pytest_retrieval.engines.collapse import Slot
from pytest_retrieval.engines.description import Description, Parse
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
    dropped = [] if slots or outside else [shown for probe in probes for shown in probe.reading.dropped]
    if dropped:
        yield f"nothing that was printed is a result: {dropped[0]}; is parse.path right, or is there none?"
    if outside:
        yield f"{len(outside)} results lie outside the corpus: {', '.join(outside[:_SHOWN]):.200}"
    unknown = [slot.path for slot in slots if slot.path not in snapshot]
    if slots and len(unknown) == len(slots):
        shown = ", ".join(unknown[:_SHOWN])
        yield f"the corpus has none of the paths ({shown:.200}); is strip_prefix right?"
    spans = [(slot, lines) for slot in slots for lines in slot.lines if slot.path in snapshot]
    if description.spans and slots and not any(slot.lines for slot in slots):
        yield f"spans are declared, and no result has any; {_start_hint(description.parse)}"
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
    full = wanted * description.candidates
    return description.knows_depth and any(len(probe.reading.results) >= full for probe in probes)


def _compared(slots: Sequence[Slot], description: Description, snapshot: Snapshot) -> Iterator[str]:
    """Texts that are not what stands at their lines."""
    files = _Files(snapshot)
    pairs = [(slot.path, lines) for slot in slots for lines in slot.lines if (lines.text or "").strip()]
    if not pairs or description.text_from_corpus:
        return
    for shift in (1, -1):
        if not any(files.holds(*pair, shift=0) for pair in pairs) and all(
            files.holds(*pair, shift=shift) for pair in pairs
        ):
            where = "below" if shift > 0 else "above"
            yield f"every text stands a line {where} its lines; try line_base {description.line_base - shift}"
            return
    for what, test in (("not what stands", files.holds), ("only a part of what stands", files.has_text)):
        if wrong := [pair for pair in pairs if not test(*pair)]:
            path, lines = wrong[0]
            yield (
                f"{len(wrong)} of {len(pairs)} texts are {what} at their lines (first {path}:{lines.start}); "
                "for a shortened preview, text_from_corpus prices the lines themselves"
            )
            return


def _start_hint(parse: Parse) -> str:
    """Why there may be no lines."""
    if parse.regex is None:
        return "are parse.start and parse.end right?" if parse.start else "parse.start is missing"
    named = ", ".join(parse.regex.groupindex)
    if "start" not in parse.regex.groupindex:
        return f"parse.regex has no group named start (its groups: {named})"
    return "is the group start of parse.regex right?"


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

    def holds(self, path: str, lines: Lines, *, shift: int = 0) -> bool:
        """Whether the text of ``lines`` is in what stands there, ``shift`` lines further down."""
        return _plain(lines.text or "") in self._standing(path, lines, shift)

    def has_text(self, path: str, lines: Lines) -> bool:
        """Whether the text of ``lines`` is what stands there; blanks do not matter."""
        return _plain(lines.text or "") == self._standing(path, lines, 0)

    def _standing(self, path: str, lines: Lines, shift: int) -> str:
        first = lines.start - 1 + shift
        return _plain(" ".join(self.lines(path)[max(first, 0) : lines.end + shift]))


def _plain(text: str) -> str:
    return " ".join(text.split())
