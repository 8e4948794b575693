"""Recall at every k up to the limit, one curve per arm."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_retrieval.report.html.figures import share, shortened
from pytest_retrieval.report.html.gathering import Gathered
from pytest_retrieval.report.html.markup import Markup, compact, tag
from pytest_retrieval.report.html.plot import (
    Arms,
    figure,
    grid_x,
    grid_y,
    legend,
    linear,
    nice_top,
    percent,
    spread,
    table,
)

_TOP, _BASE = 12.0, 272.0
_LABEL_GAP = 15.0
_LETTERS = 15  # of a name beside the plot; the legend has all of them
_MARKED = (1, 5, 10, 20, 30, 40, 50)


def recall_curve(
    gathered: Gathered, arms: Arms, labels: Sequence[str], *, wide: bool = False
) -> Markup | None:
    """The chart, or None where no sample has gold or k is 1; ``labels`` are in the order of the legend.

    A ``wide`` one has its row for itself.
    """
    curves = {label: curve for label in labels if (curve := gathered.curve(label))}
    if not curves or gathered.limit < 2:
        return None
    ceiling = gathered.ceiling()
    top = nice_top(max(max(curve) for curve in [*curves.values(), ceiling or [0.0]]))
    lines = [_polyline(curve, top, arms.look(label), arms.dash(label)) for label, curve in curves.items()]
    if ceiling:
        lines.insert(0, _polyline(ceiling, top, "ceiling", "2 4"))
    drawn = tag(
        "svg",
        _axes(gathered.limit, top),
        tag(
            "svg",
            lines,
            x="0",
            y=_TOP,
            width="100%",
            height=_BASE - _TOP,
            viewBox="0 0 100 100",
            preserveAspectRatio="none",
        ),
        [_marks(label, curve, top, arms) for label, curve in curves.items()],
        _names(curves, ceiling, top, arms),
        class_="plot named",
        height=312,
        role="img",
        aria_label="Recall at k: "
        + "; ".join(f"{label} {share(curve[-1])}" for label, curve in curves.items()),
    )
    head = ["arm", *(f"@{k}" for k in range(1, gathered.limit + 1))]
    rows: list[list[str]] = [[label, *map(share, curve)] for label, curve in curves.items()]
    if ceiling:
        rows.append(["(ceiling)", *map(share, ceiling)])
    return figure(
        "Recall at every k",
        legend(arms, curves, line=True),
        drawn,
        table(head, rows, "Recall at every k as a table"),
        note="Share of the gold files among the first k, averaged over samples with gold. Errors find none."
        + (" Dotted: what a perfect ranker could reach." if ceiling else ""),
        class_="whole" if wide else "",
    )


def _height(value: float, top: float) -> float:
    return _BASE - (_BASE - _TOP) * value / top


def _axes(limit: int, top: float) -> Markup:
    along = linear(1, limit)
    ticks = [float(k) for k in _MARKED if k <= limit]
    if limit not in _MARKED:
        ticks.append(float(limit))
    levels = [top * step / 4 for step in range(5)]
    return tag(
        "g",
        grid_y(levels, lambda value: _height(value, top), lambda value: compact(value) or "0"),
        grid_x(along, ticks, lambda k: f"{k:.0f}", _TOP, _BASE),
        tag("text", "k", x="50%", y=_BASE + 36, class_="tick middle"),
    )


def _polyline(curve: Sequence[float], top: float, look: str, dash: str | None) -> Markup:
    last = len(curve) - 1
    points = " ".join(
        f"{compact(100 * k / last)},{compact(100 - 100 * value / top)}" for k, value in enumerate(curve)
    )
    return tag(
        "polyline",
        points=points,
        class_=f"curve {look}",
        stroke_dasharray=dash,
        vector_effect="non-scaling-stroke",
    )


def _marks(label: str, curve: Sequence[float], top: float, arms: Arms) -> list[Markup]:
    last = len(curve) - 1
    return [
        arms.mark(
            label,
            (k - 1) / last,
            _height(curve[k - 1], top),
            title=f"{label}: recall@{k} {share(curve[k - 1])}",
        )
        for k in dict.fromkeys([*_MARKED, len(curve)])
        if k <= len(curve)
    ]


def _names(curves: dict[str, list[float]], ceiling: Sequence[float], top: float, arms: Arms) -> list[Markup]:
    """Each arm's name at the end of its curve, where there is room beside the plot."""
    ends = {
        **{label: curve[-1] for label, curve in curves.items()},
        **({"ceiling": ceiling[-1]} if ceiling else {}),
    }
    places = spread([_height(value, top) for value in ends.values()], _LABEL_GAP)
    return [
        tag(
            "text",
            shortened(label, _LETTERS),
            x=percent(1),
            dx=12,
            y=place + 4,
            class_=f"name {arms.look(label) if label in curves else 'ceiling'}",
        )
        for label, place in zip(ends, places, strict=True)
    ]
