"""A query of a code-search corpus: the arm is asked for lines, at every width it can serve.

The protocol's answer is one span per file. Wider settings are asked for apart, for a tool may answer them in
another way; an arm that can be asked for more is asked for one span twice, which shows whether it answers
alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Protocol, runtime_checkable

from pytest_retrieval.bench.costing import with_named
from pytest_retrieval.engines.collapse import collapse
from pytest_retrieval.engines.output import Lines, Result
from pytest_retrieval.errors import SnapshotError
from pytest_retrieval.measures.grading import search_ranks
from pytest_retrieval.measures.spans import DEPTH, PER_FILE, lines_text, tokens_of
from pytest_retrieval.model import ArmRow, Capabilities, Gold, Hit, Query, Sample, Slot
from pytest_retrieval.snapshots.base import Snapshot

Ask = Callable[[Query], ArmRow]


@runtime_checkable
class Diagnoser(Protocol):
    """An arm that can say what it holds nearest to an answer that it missed."""

    def diagnose(self, query: Query, gold: Gold) -> str:
        """One line about what its index holds for ``gold``."""


def search(ask: Ask, query: Query, declared: Callable[[], Capabilities], snapshot: Snapshot) -> ArmRow:
    """The arm's row for ``query``, with its slots by how many spans per file were asked for.

    ``declared`` gives what the arm can do once it was asked. A wider question that fails is a fault of the
    row: an arm that declares a width serves it. Key 0 holds the protocol's answer, 1 to 3 the wide ones.
    """
    row = ask(replace(query, spans=True))
    if row.error is not None:
        return row
    try:
        return _with_slots(row, ask, query, declared(), snapshot)
    except SnapshotError as error:
        return replace(row, fault=f"snapshot: {error}")


def _with_slots(
    row: ArmRow, ask: Ask, query: Query, capabilities: Capabilities, snapshot: Snapshot
) -> ArmRow:
    found = {0: slots_of(row.hits, 1, capabilities, snapshot)}
    if capabilities.spans and capabilities.per_file:
        for count in filter(capabilities.supports, PER_FILE):
            wide = ask(replace(query, spans=True, per_file=count))
            if wide.fault is not None:
                return replace(row, fault=f"asked for {count} spans per file: {wide.fault}", place=wide.place)
            found[count] = slots_of(wide.hits, count, capabilities, snapshot)
    else:
        found[1] = found[0]
    cost = with_named(row.cost, (slot.path for slot in found[0]), snapshot)
    file_only, priced = not capabilities.spans, capabilities.tokens
    return replace(row, slots=found, file_only=file_only, priced=priced, cost=cost)


def diagnosed(row: ArmRow, arm: object, query: Query, sample: Sample) -> ArmRow:
    """``row`` with what the arm says of the first answer, where it missed all and can say anything."""
    if sample.searched is None or row.slots is None or not isinstance(arm, Diagnoser):
        return row
    if any(search_ranks(sample.searched, row)):
        return row
    # A diagnosis is a courtesy: one that fails is told, and spoils nothing.
    try:
        said = " ".join(str(arm.diagnose(query, sample.searched.golds[0])).split())
    except Exception as error:  # noqa: BLE001
        said = f"the diagnosis failed: {type(error).__name__}: {error}"
    return replace(row, nearest=said)


def slots_of(
    hits: Iterable[Hit], per_file: int, capabilities: Capabilities, snapshot: Snapshot
) -> tuple[Slot, ...]:
    """One slot per file, at most 20, each with at most ``per_file`` spans."""
    results = [Result(hit.path, _lines(hit, capabilities), hit.text, hit.score) for hit in hits]
    slots = []
    for slot in collapse(results, DEPTH, per_file):
        spans = tuple((lines.start, lines.end) for lines in slot.lines)
        texts = _texts(slot.path, slot.lines, slot.text, capabilities, snapshot)
        slots.append(Slot(slot.path, spans, _priced(texts, capabilities)))
    return tuple(slots)


def _lines(hit: Hit, capabilities: Capabilities) -> Lines | None:
    if hit.start is None or hit.end is None or not capabilities.spans:
        return None
    return Lines(hit.start, hit.end, hit.text)


def _texts(
    path: str, lines: Sequence[Lines], text: str | None, capabilities: Capabilities, snapshot: Snapshot
) -> list[str]:
    """What would be shown of a file: the corpus's own lines, else what the arm gave."""
    if not capabilities.tokens:
        return []
    if capabilities.tokens_from_corpus:
        content = snapshot.text(path) if lines and path in snapshot else ""
        return [lines_text(content, span.start, span.end) for span in lines]
    given = [span.text for span in lines] if lines else [text]
    return [shown for shown in given if shown is not None]


def _priced(texts: Sequence[str], capabilities: Capabilities) -> int | None:
    return sum(map(tokens_of, texts)) if texts and capabilities.tokens else None
