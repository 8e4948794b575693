"""Pairs of engines below their corpus's table: the difference, its interval, and whether it can be told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_retrieval.report.codesearch.pairs import MRR, RECALL, interval_of, is_separable

TITLES = ("pair", "R@10", "95% CI", "better/worse/alike", "MRR", "95% CI", "separable")

_LIGHTEST = (5, 3, 4, 2)  # columns that go one after the other where there is little room
_GAP = 2

Pairs = Mapping[str, Mapping[str, Any]]  # of one corpus, by name


def pair_grid(pairs: Pairs) -> list[list[str]]:
    """A row of cells for each pair that could be compared, under :data:`TITLES`."""
    return [_cells(name, found) for name, found in pairs.items() if "why" not in found]


def fitted(grid: Sequence[Sequence[str]], width: int | None) -> list[list[str]]:
    """:data:`TITLES` and the rows below them, without as many columns as do not fit into ``width``."""
    rows = [list(TITLES), *map(list, grid)]
    kept = list(range(len(TITLES)))
    for light in _LIGHTEST:
        needed = sum(max(len(row[n]) for row in rows) + _GAP for n in kept) - _GAP
        if width is None or needed <= width:
            break
        kept.remove(light)
    return [[row[n] for n in kept] for row in rows]


def not_compared(pairs: Pairs) -> list[str]:
    """A line for each pair that could not."""
    return [f"{name}: not compared, {found['why']}" for name, found in pairs.items() if "why" in found]


def _cells(name: str, found: Mapping[str, Any]) -> list[str]:
    share, rank = found[RECALL], found[MRR]
    better = "/".join(str(share[part]) for part in ("wins", "losses", "ties"))
    told = [title for title, figures in (("R@10", share), ("MRR", rank)) if is_separable(figures)]
    return [
        name,
        f"{100 * share['mean']:+.1f}",
        _interval(share, 100, 1),
        better,
        f"{rank['mean']:+.3f}",
        _interval(rank, 1, 3),
        ", ".join(told) or "not separable",
    ]


def _interval(figures: Mapping[str, Any], scale: float, digits: int) -> str:
    found: Sequence[float] | None = interval_of(figures)
    return "-" if found is None else " to ".join(f"{scale * end:+.{digits}f}" for end in found)
