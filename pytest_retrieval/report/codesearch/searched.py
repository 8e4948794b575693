"""What a detail keeps of a code search, back as nouns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_retrieval.model import Gold, Searched, Slot


def stored_query(detail: Mapping[str, Any]) -> Searched | None:
    """What was asked of which corpus, or None for a sample of any other benchmark."""
    kept = detail.get("codesearch")
    if kept is None:
        return None
    return Searched(
        corpus=kept["corpus"],
        language=kept["lang"],
        difficulty=kept["difficulty"],
        subsystem=kept["subsystem"],
        golds=tuple(Gold(**gold) for gold in kept["gold"]),
        tree=kept["tree"],
    )


def stored_slots(answer: Mapping[str, Any]) -> dict[int, tuple[Slot, ...]] | None:
    """The slots of an answer by how many spans per file were asked for, 0 being the protocol's answer."""
    kept = answer.get("slots")
    if kept is None:
        return None
    found = {int(count): tuple(map(_slot, kept[count])) for count in "0123" if count in kept}
    found.setdefault(1, found[0])
    return found


def _slot(kept: Mapping[str, Any]) -> Slot:
    return Slot(kept["path"], tuple((start, end) for start, end in kept["spans"]), kept.get("tokens"))
