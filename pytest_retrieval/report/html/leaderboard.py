"""One row per arm: its figures with their intervals, and what it cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_retrieval.measures.names import recall_cuts
from pytest_retrieval.report.html.costs import Costs
from pytest_retrieval.report.html.figures import NOT_MEASURED, measure_name, milliseconds, share
from pytest_retrieval.report.html.markup import Markup, tag
from pytest_retrieval.report.html.plot import Arms, percent, scroller

_BAR, _MIDDLE = 22.0, 11.0

Group = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its heading, its value and how that is written; ``best`` is 1, -1, or 0 for neither."""

    title: str
    value: Callable[[str, Group], float | None]
    text: Callable[[float], str]
    best: int = 0
    interval: str | None = None
    hint: str = ""


def leaderboard(head: Mapping[str, Any], costs: Costs, arms: Arms, labels: Sequence[str]) -> Markup:
    """The table of ``labels`` in their order, and the ceiling below it."""
    groups = {label: head["arms"][label]["groups"]["all"] for label in labels}
    columns = [
        column
        for column in _columns(head, costs)
        if any(column.value(label, group) is not None for label, group in groups.items())
    ]
    ceiling = head["ceiling"].get("all", {"n": 0})
    barred = next((column for column in columns if column.interval), None)  # one drawn interval is enough
    titles = [tag("th", "arm", scope="col", data_sort="text")]
    for column in columns:
        titles.append(
            tag(
                "th",
                column.title,
                scope="col",
                class_="number",
                data_sort="number",
                title=column.hint or None,
            )
        )
        if column is barred:
            titles.append(
                tag("th", _axis(), scope="col", class_="bars", aria_label=f"{column.title} interval")
            )
    body = [_row(label, groups, columns, barred, arms) for label in labels]
    foot = [_ceiling(ceiling, columns, barred)] if ceiling["n"] else []
    drawn = tag(
        "table",
        tag("caption", "Leaderboard", class_="unseen"),
        tag("thead", tag("tr", titles)),
        tag("tbody", body),
        tag("tfoot", foot) if foot else None,
        class_="leaderboard sortable",
    )
    return scroller(drawn, "Leaderboard")


def _columns(head: Mapping[str, Any], costs: Costs) -> Iterator[Column]:
    limit = head["limit"]

    def mean(name: str, best: int = 1, interval: str | None = None, hint: str = "") -> Column:
        return Column(
            measure_name(name, limit), lambda _, group: group.get(name), share, best, interval, hint
        )

    yield Column("n", lambda _, group: group["n"], _whole, hint="samples that the arm was asked about")
    if head["kind"] == "codesearch":
        for name in ("chunk_recall@5", "chunk_recall@10", "chunk_recall@20", "chunk_mrr@20"):
            yield mean(name)
        yield mean(
            "chunk_zero_miss", -1, hint="share of queries without any answer among 20 files; lower is better"
        )
        yield Column("tokens", lambda label, _: costs.tokens.get(label), _whole, -1, hint=costs.tokens_note)
        yield mean("recall@10", hint="share of the gold files among the first 10")
    else:
        for cut in recall_cuts(limit):
            yield mean(f"recall@{cut}", hint="share of the gold files among the first k")
        yield mean("mrr@k", hint="1 / rank of the first gold file")
    yield mean(
        "hit@k",
        interval="hit@k",
        hint="share of samples with a gold file among the first k; 95 % Wilson interval",
    )
    for name in head.get("measures", ()):
        yield mean(name)
    if any(group.startswith("stratum:") and group.endswith("no_gold") for group in _groups(head)):
        yield mean(
            "selective_success",
            interval="selective_success",
            hint="gold found, or silence where there is none",
        )
    yield mean("abstained", 0, hint="share of samples for which the arm named no file")
    yield Column(
        "errors", lambda _, group: group["errors"], _whole, hint="no answer, or declined; counted as misses"
    )
    for name in ("p50", "p95"):
        yield Column(
            name, lambda label, _, name=name: costs.times.get(label, {}).get(f"{name}_ms"), milliseconds, -1
        )


def _groups(head: Mapping[str, Any]) -> set[str]:
    return {name for arm in head["arms"].values() for name, group in arm["groups"].items() if group["n"]}


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
        looks = "number best" if best else "number bad" if column.title == "errors" and value else "number"
        ends = group.get("intervals", {}).get(column.interval, {}) if column.interval else {}
        shown = NOT_MEASURED if value is None else column.text(value)
        interval = tag("small", f"[{share(ends['low'])}, {share(ends['high'])}]") if "low" in ends else None
        cells.append(tag("td", shown, interval, class_=looks, data_value=value))
        if column is barred:
            cells.append(tag("td", _bar(value, ends, arms.look(label)), class_="bars"))
    return tag("tr", cells)


def _is_best(column: Column, value: float, groups: Mapping[str, Group]) -> bool:
    """Whether a value is the best of at least two different ones."""
    values = {found for label, group in groups.items() if (found := column.value(label, group)) is not None}
    if not column.best or len(values) < 2:
        return False
    return value == (max(values) if column.best > 0 else min(values))


def _ceiling(ceiling: Group, columns: Sequence[Column], barred: Column | None) -> Markup:
    cells = [tag("th", "(ceiling)", scope="row", title="what a perfect ranker could reach")]
    for column in columns:
        name = column.title
        value = (
            ceiling.get(name, ceiling.get("hit@k") if column.interval == "hit@k" else None)
            if name != "n"
            else None
        )
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


def _bar(value: float | None, ends: Mapping[str, Any], look: str) -> Markup:
    grid = [
        tag("line", x1=percent(at), x2=percent(at), y1=0, y2=_BAR, class_="grid")
        for at in (0.0, 0.25, 0.5, 0.75, 1.0)
    ]
    if value is None or "low" not in ends:
        return tag("svg", grid, class_="strip", height=_BAR, aria_hidden="true")
    return tag(
        "svg",
        grid,
        tag(
            "line", x1=percent(ends["low"]), x2=percent(ends["high"]), y1=_MIDDLE, y2=_MIDDLE, class_="thick"
        ),
        tag("circle", cx=percent(value), cy=_MIDDLE, r=3.5, class_="dot"),
        class_=f"strip {look}",
        height=_BAR,
        aria_hidden="true",
    )


def _whole(value: float) -> str:
    return f"{value:,.0f}"
