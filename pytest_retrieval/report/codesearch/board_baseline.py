"""A scoreboard held against an earlier one: what fell, what went, and what cannot be compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_retrieval.report.codesearch.board_cells import is_failed
from pytest_retrieval.report.codesearch.pairs import differences

_FIGURES = (("file", "R@10"), ("file", "MRR"), ("chunk", "R@10"), ("chunk", "MRR"))
_ROUNDING = 1e-9
_SHOWN = 5  # lost queries

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Held:
    """One row held against the baseline's: a line, and whether it makes the command fail."""

    line: str
    failed: bool = False


def held_against(rows: Sequence[Row], baseline: Sequence[Row], max_drop: float) -> Iterator[Held]:
    """Each row of either side; a figure may be ``max_drop`` (a share) lower. What is new fails nothing."""
    earlier = {(row["engine"], row["corpus"]): row for row in baseline}
    for row in rows:
        before = earlier.pop((row["engine"], row["corpus"]), None)
        name = f"{row['engine']} on {row['corpus']}"
        yield Held(f"{name}: new") if before is None else _held(name, row, before, max_drop)
    for engine, corpus in earlier:
        yield Held(f"{engine} on {corpus}: GONE, the baseline has it", failed=True)


def lost_queries(row: Row, before: Row) -> list[str]:
    """The queries that had an answer among ten files and have none any more."""
    found = {one["query"] for one in row.get("ext", {}).get("per_query", ()) if _is_found(one)}
    known = before.get("ext", {}).get("per_query", ())
    return [one["query"] for one in known if _is_found(one) and one["query"] not in found]


def _held(name: str, row: Row, before: Row, max_drop: float) -> Held:
    if is_failed(before):
        return Held(f"{name}: failed in the baseline, too" if is_failed(row) else f"{name}: works again")
    if is_failed(row):
        return Held(f"{name}: FAILED, it did not in the baseline", failed=True)
    if why := next(differences(row, before), None):
        return Held(f"{name}: NOT COMPARABLE with the baseline, {why}", failed=True)
    fell = False
    shown = []
    for view, title in _FIGURES:
        old, new = _figure(before, view, title), _figure(row, view, title)
        fell |= old - new > max_drop + _ROUNDING
        if old != new:
            shown.append(f"{view} {title} {old:.3f} to {new:.3f} ({new - old:+.3f})")
    line = f"{name}: {'REGRESSED, ' if fell else ''}{', '.join(shown) or 'unchanged'}"
    if lost := lost_queries(row, before):
        listed = ", ".join(f"{query!r:.60}" for query in lost[:_SHOWN])
        line += f"; {len(lost)} lost: {listed}{', …' if len(lost) > _SHOWN else ''}"
    return Held(line, failed=fell)


def _figure(row: Row, view: str, title: str) -> float:
    metrics = row[view]
    return float(metrics["recall"]["10"] if title == "R@10" else metrics["mrr"])


def _is_found(one: Mapping[str, Any]) -> bool:
    return any(0 < rank <= 10 for rank in one["ranks"])
