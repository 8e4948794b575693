"""The order of arms: a report records it because the usual pairs depend on it, whose control is the first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

BUILT_IN = ("corvint", "context", "grep", "grep-ident", "bm25:all", "bm25:ident", "impact", "affected")


def guessed(arms: Iterable[str], pairs: Iterable[tuple[str, str]]) -> list[str]:
    """The order of a report that does not tell: those that others were compared with come first."""
    second = {pair[1] for pair in pairs}
    return sorted(arms, key=lambda label: (label not in second, _rank(label)))


def united(orders: Iterable[Sequence[str]]) -> list[str]:
    """One order of all arms, the same whatever the order of ``orders``.

    What comes first in one of them comes first here; what none of them says goes by the built-in order, and
    then by the label. So it does where they contradict each other.
    """
    before: dict[str, set[str]] = {}
    for order in orders:
        for place, label in enumerate(order):
            before.setdefault(label, set()).update(order[:place])
    found: list[str] = []
    while before:
        free = [label for label, earlier in before.items() if earlier.isdisjoint(before)]
        chosen = min(free or before, key=_rank)
        del before[chosen]
        found.append(chosen)
    return found


def arranged(arms: Mapping[str, Any], order: Iterable[str]) -> dict[str, Any]:
    """``arms`` in the order of labels ``order``."""
    return {label: arms[label] for label in order}


def _rank(label: str) -> tuple[int, str]:
    return BUILT_IN.index(label) if label in BUILT_IN else len(BUILT_IN), label
