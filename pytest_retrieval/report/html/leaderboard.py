"""One row per arm: its figures with their intervals, and what it cost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_retrieval.report.html.figures import NOT_MEASURED, share
from pytest_retrieval.report.html.markup import Markup, tag, unseen
from pytest_retrieval.report.html.plot import Arms, percent, scroller

_BAR, _MIDDLE = 22.0, 11.0

Group = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its heading, its value by label and group, and how that is written.

    ``best`` is 1 where more is better, -1 where less is, else 0. ``ends`` gives the interval, where there is
    one. ``bad`` values, those above zero, are marked. ``ceiling`` is the measure that the ceiling has.
    """

    title: str
    value: Callable[[str, Group], float | None]
    text: Callable[[float], str]
    best: int = 0
    ends: Callable[[Group], tuple[float, float] | None] | None = None
    hint: str = ""
    bad: bool = False
    ceiling: str | None = None


def leaderboard(
    groups: Mapping[str, Group], columns: Iterable[Column], arms: Arms, ceiling: Group | None = None
) -> Markup:
    """The table of the arms in the order of ``groups``, and the ceiling below; empty columns are left out."""
    shown = [
        column
        for column in columns
        if any(column.value(label, group) is not None for label, group in groups.items())
    ]
    barred = next((column for column in shown if _has_ends(column, groups)), None)  # one is enough
    titles = [tag("th", "arm", scope="col", data_sort="text")]
    for column in shown:
        hint = column.hint or None
        titles.append(tag("th", column.title, scope="col", class_="number", data_sort="number", title=hint))
        if column is barred:
            name = unseen(f"{column.title}, interval")
            titles.append(tag("th", _axis(), name, scope="col", class_="bars"))
    body = [_row(label, groups, shown, barred, arms) for label in groups]
    foot = None if ceiling is None else tag("tfoot", _ceiling(ceiling, shown, barred))
    drawn = tag(
        "table",
        tag("caption", "Leaderboard", class_="unseen"),
        tag("thead", tag("tr", titles)),
        tag("tbody", body),
        foot,
        class_="leaderboard sortable",
    )
    return scroller(drawn, "Figures of the arms")


def whole(value: float) -> str:
    """A count."""
    return f"{value:,.0f}"


def _row(
    label: str,
    groups: Mapping[str, Group],
    columns: Sequence[Column],
    barred: Column | None,
    arms: Arms,
) -> Markup:
    group = groups[label]
    cells = [tag("th", arms.key(label), scope="row", data_value=label)]
    for column in columns:
        value = column.value(label, group)
        best = value is not None and _is_best(column, value, groups)
        looks = "number best" if best else "number bad" if column.bad and value else "number"
        ends = column.ends(group) if column.ends else None
        interval = None if ends is None else tag("small", f"[{share(ends[0])}, {share(ends[1])}]")
        shown = NOT_MEASURED if value is None else column.text(value)
        cells.append(tag("td", shown, interval, class_=looks, data_value=value))
        if column is barred:
            cells.append(tag("td", _bar(value, ends, arms.look(label)), class_="bars"))
    return tag("tr", cells)


def _has_ends(column: Column, groups: Mapping[str, Group]) -> bool:
    return column.ends is not None and any(column.ends(group) is not None for group in groups.values())


def _is_best(column: Column, value: float, groups: Mapping[str, Group]) -> bool:
    """Whether a value is the best of at least two different ones."""
    values = {found for label, group in groups.items() if (found := column.value(label, group)) is not None}
    if not column.best or len(values) < 2:
        return False
    return value == (max(values) if column.best > 0 else min(values))


def _ceiling(ceiling: Group, columns: Sequence[Column], barred: Column | None) -> Markup:
    cells = [tag("th", "(ceiling)", scope="row", title="what a perfect ranker could reach")]
    for column in columns:
        value = None if column.ceiling is None else ceiling.get(column.ceiling)
        cells.append(tag("td", "" if value is None else share(value), class_="number"))
        if column is barred:
            cells.append(tag("td", class_="bars"))
    return tag("tr", cells, class_="ceiling")


def _axis() -> Markup:
    names = [
        tag("text", text, x=percent(place), y=12, class_=f"tick {side}")
        for text, place, side in (("0", 0.0, ""), ("0.5", 0.5, "middle"), ("1", 1.0, "end"))
    ]
    return tag("svg", names, class_="strip", height=16, role="presentation")


def _bar(value: float | None, ends: tuple[float, float] | None, look: str) -> Markup:
    grid = [
        tag("line", x1=percent(at), x2=percent(at), y1=0, y2=_BAR, class_="grid")
        for at in (0.0, 0.25, 0.5, 0.75, 1.0)
    ]
    if value is None or ends is None:
        return tag("svg", grid, class_="strip", height=_BAR, aria_hidden="true")
    return tag(
        "svg",
        grid,
        tag("line", x1=percent(ends[0]), x2=percent(ends[1]), y1=_MIDDLE, y2=_MIDDLE, class_="thick"),
        tag("circle", cx=percent(value), cy=_MIDDLE, r=3.5, class_="dot"),
        class_=f"strip {look}",
        height=_BAR,
        aria_hidden="true",
    )
