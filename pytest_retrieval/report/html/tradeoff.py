"""Quality against cost: an arm that another one beats in both is marked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pytest_retrieval.report.html.figures import share
from pytest_retrieval.report.html.markup import Markup, compact, tag
from pytest_retrieval.report.html.plot import (
    Arms,
    figure,
    grid_x,
    grid_y,
    log_ticks,
    logarithmic,
    nice_top,
    percent,
    spread,
    table,
    thinned,
)

_TOP, _BASE = 12.0, 232.0
_LABEL_GAP = 15.0
_LEFT_OF = 0.6  # names of points beyond stand left of them


@dataclass(frozen=True, slots=True)
class Point:
    """An arm's cost, above 0, and quality, from 0 to 1."""

    cost: float
    quality: float


def dominators(points: Mapping[str, Point]) -> dict[str, str]:
    """For each arm that another one beats, being no worse in cost and quality and better in one, that one.

    Of several the best is named: by quality, then cost, then label.
    """
    found = {}
    for label, point in points.items():
        better = [
            (-other.quality, other.cost, name)
            for name, other in points.items()
            if other.quality >= point.quality and other.cost <= point.cost and other != point
        ]
        if better:
            found[label] = min(better)[2]
    return found


def tradeoff(
    title: str,
    points: Mapping[str, Point],
    arms: Arms,
    *,
    quality: str,
    cost: Callable[[float], str],
    note: str,
) -> Markup | None:
    """The chart of arms by cost (on a scale of logarithms) and ``quality``, or None without a point."""
    if not points:
        return None
    beaten = dominators(points)
    ticks = log_ticks(
        min(point.cost for point in points.values()), max(point.cost for point in points.values())
    )
    along = logarithmic(ticks[0], ticks[-1])
    top = nice_top(max(point.quality for point in points.values()))

    def height(value: float) -> float:
        return _BASE - (_BASE - _TOP) * value / top

    names = spread([height(point.quality) for point in points.values()], _LABEL_GAP)
    drawn = [
        [
            arms.mark(
                label,
                along(point.cost),
                height(point.quality),
                hollow=label in beaten,
                title=f"{label}: {share(point.quality)}, {cost(point.cost)}",
            ),
            _name(label, along(point.cost), place, arms, beaten=label in beaten),
        ]
        for (label, point), place in zip(points.items(), names, strict=True)
    ]
    plot = tag(
        "svg",
        grid_y([top * step / 4 for step in range(5)], height, lambda value: compact(value) or "0"),
        grid_x(along, thinned(ticks), lambda value: cost(value).replace(".0 ", " "), _TOP, _BASE),
        drawn,
        class_="plot",
        height=262,
        role="img",
        aria_label=f"{title}: "
        + "; ".join(_said(label, point, cost, beaten) for label, point in points.items()),
    )
    rows = [
        [label, share(point.quality), cost(point.cost), f"by {beaten[label]}" if label in beaten else "no"]
        for label, point in points.items()
    ]
    return figure(
        title, plot, table(["arm", quality, "cost", "dominated"], rows, f"{title} as a table"), note=note
    )


def _said(label: str, point: Point, cost: Callable[[float], str], beaten: Mapping[str, str]) -> str:
    dominated = f", dominated by {beaten[label]}" if label in beaten else ""
    return f"{label} {share(point.quality)} at {cost(point.cost)}{dominated}"


def _name(label: str, x: float, y: float, arms: Arms, *, beaten: bool) -> Markup:
    side = -12 if x > _LEFT_OF else 12
    looks = f"name {arms.look(label)} {'end' if side < 0 else ''} {'beaten' if beaten else ''}"
    text = f"{label} (dominated)" if beaten else label
    return tag("text", text, x=percent(x), dx=side, y=y + 4, class_=" ".join(looks.split()))
