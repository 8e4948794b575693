"""Quality against cost: an arm that another one beats in both is marked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pytest_retrieval.report.html.figures import NOT_MEASURED, share, shortened
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
    table,
    thinned,
)

_TOP, _BASE = 12.0, 232.0
_USUAL = 470.0  # pixels that a plot is wide where two stand side by side
_NARROW = 320.0  # pixels that it is wide on a phone
_LETTERS = 16  # of an arm's name beside its mark; the table below the plot has all of them
_LETTER, _LINE, _MARK = 7.0, 15.0, 6.0  # pixels: a letter's width, a line's height, half a mark
_SIDES = ((11, 0), (-11, 0), (11, 14), (11, -14), (-11, 14), (-11, -14))

Box = tuple[float, float, float, float]  # left, right, top, bottom


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
    judged: bool = True,
) -> Markup | None:
    """The chart of arms by cost (on a scale of logarithms) and ``quality``, or None without a point.

    Where costs are no measurement, and it is not ``judged``, no arm is called dominated.
    """
    if not points:
        return None
    beaten = dominators(points) if judged else {}
    ticks = log_ticks(
        min(point.cost for point in points.values()), max(point.cost for point in points.values())
    )
    along = logarithmic(ticks[0], ticks[-1])
    top = nice_top(max(point.quality for point in points.values()))

    def height(value: float) -> float:
        return _BASE - (_BASE - _TOP) * value / top

    places = {label: (along(point.cost), height(point.quality)) for label, point in points.items()}
    names = {label: shortened(label, _LETTERS) for label in points}
    texts = {label: f"{name} (dominated)" if label in beaten else name for label, name in names.items()}
    sides = placed(places, texts)
    drawn = [
        [
            arms.mark(
                label,
                along(point.cost),
                height(point.quality),
                hollow=label in beaten,
                title=f"{label}: {share(point.quality)}, {cost(point.cost)}",
            ),
            _name(
                texts[label],
                places[label],
                sides[label],
                looks=_looks(arms.look(label), beaten=label in beaten),
            ),
        ]
        for label, point in points.items()
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
    unbeaten = "no" if judged else NOT_MEASURED
    rows = [
        [
            label,
            share(point.quality),
            cost(point.cost),
            f"by {beaten[label]}" if label in beaten else unbeaten,
        ]
        for label, point in points.items()
    ]
    return figure(
        title, plot, table(["arm", quality, "cost", "dominated"], rows, f"{title} as a table"), note=note
    )


def _said(label: str, point: Point, cost: Callable[[float], str], beaten: Mapping[str, str]) -> str:
    dominated = f", dominated by {beaten[label]}" if label in beaten else ""
    return f"{label} {share(point.quality)} at {cost(point.cost)}{dominated}"


def placed(places: Mapping[str, tuple[float, float]], texts: Mapping[str, str]) -> dict[str, tuple[int, int]]:
    """Where each point's name stands, as pixels right of it (negative: it ends left of it) and below it.

    The first of a few places that crosses neither a mark nor a name, in a plot of the width that pages mostly
    have, and that leads out of none, a phone's neither; ``places`` are x from 0 to 1 and y in pixels.
    """
    marks = [(x * _USUAL, y) for x, y in places.values()]
    taken = [(x - _MARK, x + _MARK, y - _MARK, y + _MARK) for x, y in marks]
    found = {}
    for (label, text), (x, y) in zip(texts.items(), marks, strict=True):
        width = len(text) * _LETTER
        ranked = []
        for order, (right, below) in enumerate(_SIDES):
            left = x + right if right > 0 else x + right - width
            box = (left, left + width, y + below - _LINE / 2, y + below + _LINE / 2)
            ahead = places[label][0] * _NARROW + right
            outside = box[0] < 0 or (ahead + width > _NARROW if right > 0 else ahead < width)
            ranked.append(
                (sum(_cross(box, other) for other in taken) + 3 * outside, order, (right, below), box)
            )
        _, _, found[label], box = min(ranked)
        taken.append(box)
    return found


def _cross(one: Box, other: Box) -> bool:
    return one[0] < other[1] and other[0] < one[1] and one[2] < other[3] and other[2] < one[3]


def _looks(look: str, *, beaten: bool) -> str:
    return f"name {look} beaten" if beaten else f"name {look}"


def _name(text: str, place: tuple[float, float], side: tuple[int, int], *, looks: str) -> Markup:
    right, below = side
    ending = " end" if right < 0 else ""
    return tag("text", text, x=percent(place[0]), dx=right, y=place[1] + below + 4, class_=looks + ending)
