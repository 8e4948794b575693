"""One slot per file: a ranking of files out of a ranking of results."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from pytest_retrieval.engines.output import Lines, Result


@dataclass(slots=True)
class Slot:
    """A file of the answer with its lines in the order of output; no lines where the tool gave none.

    ``text`` and ``score`` are those of the result that opened the slot.
    """

    path: str
    lines: list[Lines] = field(default_factory=list)
    text: str | None = None
    score: float | None = None


def collapse(results: Iterable[Result], top_k: int, per_file: int) -> list[Slot]:
    """At most ``top_k`` slots with at most ``per_file`` spans each.

    The first result of a file opens its slot. The walk goes on once all slots are open, for they can still
    receive lines. Lines that a slot has already use up nothing, and neither does a result without lines.
    """
    slots: dict[str, Slot] = {}
    for result in results:
        slot = slots.get(result.path)
        if slot is None:
            if len(slots) == top_k:
                continue
            slot = slots[result.path] = Slot(result.path, text=result.text, score=result.score)
        if result.lines is not None and len(slot.lines) < per_file and _is_new(result.lines, slot):
            slot.lines.append(result.lines)
    return list(slots.values())


def _is_new(lines: Lines, slot: Slot) -> bool:
    return all((lines.start, lines.end) != (known.start, known.end) for known in slot.lines)
