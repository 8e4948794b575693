"""Paired differences as a forest plot: one row per pair, zero in the middle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_retrieval.report.html.figures import difference, plural, share
from pytest_retrieval.report.html.markup import Markup, tag, unseen
from pytest_retrieval.report.html.plot import Scale, figure, linear, percent
from pytest_retrieval.report.paired import NO_GOLD, SELECTIVE
from pytest_retrieval.stats.paired import leaves_out_zero

_MIDDLE = 15.0
_HEIGHT = 30.0
_WIDTHS = (0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0)

Comparison = Mapping[str, Any]


def forest(paired: Mapping[str, Any], names: Mapping[str, str], preferred: Sequence[str]) -> Markup | None:
    """One panel per measure, of which a script shows one; None without a pair.

    ``names`` says how measures are called; the first of the ``preferred`` that is there is shown first.
    """
    panels = dict(_panels(paired, names))
    if not panels:
        return None
    wanted = [names.get(measure) for measure in preferred]
    first = next((name for name in wanted if name in panels), next(iter(panels)))
    choice = tag(
        "label",
        "Measure ",
        tag("select", [tag("option", name, selected=name == first) for name in panels], id="forest-measure"),
        class_="choice",
    )
    drawn = [_panel(name, rows, shown=name == first) for name, rows in panels.items()]
    return figure(
        "Paired differences",
        choice if len(panels) > 1 else None,
        tag("div", drawn, id="forest"),
        note="A minus B on the same samples. The thick bar is the 95 % interval over clusters, the thin one"
        " that over samples. A filled mark and ◆: zero lies outside of the interval. p is after Holm.",
        class_="whole",
    )


def _panels(paired: Mapping[str, Any], names: Mapping[str, str]) -> list[tuple[str, dict[str, Comparison]]]:
    """The comparisons by the name of their panel: each measure of all samples, silence per stratum."""
    found: dict[str, dict[str, Comparison]] = {}
    for pair, measures in paired.get("all", {}).items():
        for measure, comparison in measures.items():
            found.setdefault(names[measure], {})[pair] = comparison
    for group in NO_GOLD:
        name = f"{names.get(SELECTIVE, SELECTIVE)}, {group.removeprefix('stratum:').replace('_', ' ')}"
        rows = {pair: found[SELECTIVE] for pair, found in paired.get(group, {}).items() if SELECTIVE in found}
        if rows:
            found[name] = rows
    return list(found.items())


def ends(comparison: Comparison) -> tuple[float, float]:
    """The interval over clusters; over samples where one cluster is all there is."""
    cluster = comparison["cluster"]
    found = cluster if "low" in cluster else comparison
    return found["low"], found["high"]


def is_clear(comparison: Comparison) -> bool:
    """Whether zero lies outside of the interval over clusters, of which there are enough."""
    cluster = comparison["cluster"]
    return leaves_out_zero(cluster, cluster["count"], comparison["p"])


def _panel(name: str, rows: Mapping[str, Comparison], *, shown: bool) -> Markup:
    reach = max(max(map(abs, (*ends(row), row["low"], row["high"]))) for row in rows.values())
    width = next((width for width in _WIDTHS if reach <= width), reach)
    along = linear(-width, width)
    ticks = [-width, -width / 2, 0.0, width / 2, width]
    head = [
        tag("th", "pair", scope="col"),
        tag("th", _axis(ticks, along), unseen("interval"), scope="col", class_="wide"),
        tag("th", "difference [95 % interval]", scope="col", class_="number"),
        tag("th", "p", scope="col", class_="number"),
        tag("th", "wins / losses / ties", scope="col", class_="number"),
    ]
    body = [_row(pair, row, along, ticks) for pair, row in rows.items()]
    return tag(
        "div",
        tag("p", _speaks_of(list(rows.values())), class_="note"),
        tag(
            "table",
            tag("caption", f"Differences of {name}", class_="unseen"),
            tag("thead", tag("tr", head)),
            tag("tbody", body),
            class_="strips",
        ),
        class_="panel",
        data_measure=name,
        hidden=not shown,
    )


def _speaks_of(rows: Sequence[Comparison]) -> str:
    """Of what the intervals speak; all pairs of a panel are of the same samples but for errors."""
    cluster = rows[0]["cluster"]
    units = plural(cluster["count"], cluster["unit"])
    if "low" not in cluster:
        return f"All samples are of {units}: the intervals are over samples and speak of it alone."
    rough = " Fewer than ten units make intervals wide and rough." if cluster["count"] < 10 else ""
    return f"Unit: {cluster['unit']} ({units}).{rough}"


def _axis(ticks: Sequence[float], along: Scale) -> Markup:
    names = [
        tag("text", difference(tick) if tick else "0", x=percent(along(tick)), y=12, class_="tick middle")
        for tick in ticks
    ]
    return tag("svg", names, class_="strip", height=18, role="presentation")


def _row(pair: str, row: Comparison, along: Scale, ticks: Sequence[float]) -> Markup:
    low, high = ends(row)
    grid = [
        tag(
            "line",
            x1=percent(along(tick)),
            x2=percent(along(tick)),
            y1=0,
            y2=_HEIGHT,
            class_="grid" if tick else "zero",
        )
        for tick in ticks
    ]
    clear = is_clear(row)
    interval = f"[{difference(low)}, {difference(high)}]" if low < high else "all equal"
    words = f"{difference(row['mean'])} {interval}"
    strip = tag(
        "svg",
        grid,
        _bar(along, row["low"], row["high"], "thin"),
        _bar(along, low, high, "thick"),
        tag("circle", cx=percent(along(row["mean"])), cy=_MIDDLE, r=5, class_="dot" if clear else "dot open"),
        class_="strip forest",
        height=_HEIGHT,
        role="img",
        aria_label=f"{pair}: {words}",
    )
    figures = [
        (words + (" ◆" if clear else ""), "difference"),
        (share(row["p_holm"]), "p"),
        (f"{row['wins']} / {row['losses']} / {row['ties']}", "wins / losses / ties"),
    ]
    return tag(
        "tr",
        tag("th", pair, scope="row", class_="label"),
        tag("td", strip, class_="wide"),
        [
            tag(
                "td",
                text,
                class_="number clear" if clear and name == "difference" else "number",
                data_name=name,
            )
            for text, name in figures
        ],
    )


def _bar(along: Scale, low: float, high: float, look: str) -> Markup:
    return tag("line", x1=percent(along(low)), x2=percent(along(high)), y1=_MIDDLE, y2=_MIDDLE, class_=look)
