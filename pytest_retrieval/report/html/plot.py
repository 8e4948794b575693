"""What charts are drawn with: scales, marks, axes, a legend.

A plot is fluid without a script: x is in percent of its width, y in pixels, and letters keep their size.
Every arm has a colour, a shape and a dash, so that none is told by colour alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from pytest_retrieval.report.html.markup import Markup, join, tag

COLOURS = 8
# Circle, square, triangle, diamond, cross, bar, triangle down, star, about 10 pixels wide around the origin.
_SHAPES = (
    "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0 -10 0z",
    "M-4.5 -4.5h9v9h-9z",
    "M0 -5.5L5.5 4.5L-5.5 4.5z",
    "M0 -6L6 0L0 6L-6 0z",
    "M-2 -5.5h4v3.5h3.5v4h-3.5v3.5h-4v-3.5h-3.5v-4h3.5z",
    "M-6 -2.5h12v5h-12z",
    "M0 5.5L5.5 -4.5L-5.5 -4.5z",
    "M0 -6L1.6 -1.6L6 0L1.6 1.6L0 6L-1.6 1.6L-6 0L-1.6 -1.6z",
)
_DASHES = ("", "7 3", "2 3", "9 3 2 3", "5 5", "12 4", "3 2", "9 3 2 3 2 3")

Scale = Callable[[float], float]  # a value's place from 0 to 1


class Arms:
    """The looks of the arms ``labels``, by their order."""

    def __init__(self, labels: Sequence[str]) -> None:
        self._places = {label: place for place, label in enumerate(labels)}

    def look(self, label: str) -> str:
        """The class that gives an arm's colour."""
        return f"arm-{self._places[label] % COLOURS}"

    def dash(self, label: str) -> str | None:
        """The arm's dash; None for a solid line."""
        place = self._places[label]
        return _DASHES[(place + place // COLOURS) % len(_DASHES)] or None

    def mark(
        self, label: str, x: float, y: float, *, hollow: bool = False, title: str | None = None
    ) -> Markup:
        """The arm's shape at ``x`` (0 to 1) and ``y`` (pixels)."""
        place = self._places[label]
        shape = _SHAPES[(place + place // COLOURS) % len(_SHAPES)]
        inner = tag("path", d=shape) if title is None else tag("path", tag("title", title), d=shape)
        looks = f"mark {self.look(label)}" + (" hollow" if hollow else "")
        return tag("svg", inner, class_=looks, x=percent(x), y=y, overflow="visible")

    def key(self, label: str, *, line: bool = False) -> Markup:
        """The arm's name with its look, for text."""
        drawn = [self.mark(label, 0.5, 6.0)]
        if line:
            drawn.insert(
                0, tag("line", x1=0, x2=30, y1=6, y2=6, class_="curve", stroke_dasharray=self.dash(label))
            )
        swatch = tag(
            "svg",
            *drawn,
            class_=f"swatch {self.look(label)}",
            width=30 if line else 14,
            height=12,
            aria_hidden="true",
        )
        return tag("span", swatch, tag("span", label, class_="label"), class_="key")


def legend(arms: Arms, labels: Iterable[str], *, line: bool = False, class_: str = "legend") -> Markup:
    """The arms' names with their looks."""
    return tag("p", [arms.key(label, line=line) for label in labels], class_=class_)


def percent(fraction: float) -> str:
    """A place along x."""
    return f"{fraction * 100:.2f}%"


def linear(low: float, high: float) -> Scale:
    """A scale from ``low`` to ``high``."""
    return lambda value: (value - low) / (high - low)


def logarithmic(low: float, high: float) -> Scale:
    """A scale of logarithms from ``low`` to ``high``."""
    return lambda value: math.log(value / low) / math.log(high / low)


def log_ticks(low: float, high: float) -> list[float]:
    """Round numbers 1, 2, 5, 10 … from at most ``low`` to at least ``high``, about five of them."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1
    every = [factor * 10.0**power for power in range(first, last + 1) for factor in (1, 2, 5)]
    start = max(place for place, tick in enumerate(every) if tick <= low * (1 + 1e-9))
    end = min(place for place, tick in enumerate(every) if tick >= high * (1 - 1e-9))
    return every[start : max(end, start + 1) + 1]


def thinned(ticks: Sequence[float], most: int = 5) -> list[float]:
    """At most ``most`` of the ticks: powers of ten where they are enough, else evenly chosen ones."""
    powers = [tick for tick in ticks if math.isclose(math.log10(tick), round(math.log10(tick)), abs_tol=1e-9)]
    chosen = powers if len(powers) > 2 else list(ticks)
    return chosen[:: -(-len(chosen) // most)]


def nice_top(value: float) -> float:
    """The end of a scale of shares: a round number with some room above ``value``, at most 1."""
    return next((top for top in (0.1, 0.2, 0.4, 0.6, 0.8) if value <= 0.95 * top), 1.0)


def grid_x(
    scale: Scale, ticks: Iterable[float], name: Callable[[float], str], top: float, base: float
) -> Markup:
    """Lines across at ``ticks`` from ``top`` to ``base``, with their names below."""
    return join(
        [
            tag("line", x1=percent(scale(tick)), x2=percent(scale(tick)), y1=top, y2=base, class_="grid"),
            tag("text", name(tick), x=percent(scale(tick)), y=base + 18, class_="tick middle"),
        ]
        for tick in ticks
    )


def grid_y(ticks: Iterable[float], place: Scale, name: Callable[[float], str]) -> Markup:
    """Lines along at ``ticks``, whose places are pixels, with their names before them."""
    return join(
        [
            tag("line", x1="0", x2="100%", y1=place(tick), y2=place(tick), class_="grid"),
            tag("text", name(tick), x=-8, y=place(tick) + 4, class_="tick end"),
        ]
        for tick in ticks
    )


def spread(places: Sequence[float], gap: float) -> list[float]:
    """``places`` moved as little as need be, down from the highest, so that all are ``gap`` apart."""
    moved = list(places)
    last = -math.inf
    for index in sorted(range(len(places)), key=lambda at: (places[at], at)):
        last = moved[index] = max(places[index], last + gap)
    return moved


def figure(title: str, *content: Markup | None, note: str | None = None, class_: str = "") -> Markup:
    """A chart with its heading and what must be known to read it."""
    caption = [tag("h3", title), tag("p", note, class_="note") if note else None]
    return tag("figure", tag("figcaption", caption), list(content), class_=f"chart {class_}".strip())


def table(head: Sequence[str], rows: Iterable[Sequence[str | Markup]], summary: str = "Figures") -> Markup:
    """The numbers behind a chart, folded away."""
    names = tag("tr", [tag("th", name, scope="col") for name in head])
    body = [
        tag("tr", tag("th", first, scope="row"), [tag("td", cell) for cell in rest]) for first, *rest in rows
    ]
    inner = tag("table", tag("thead", names), tag("tbody", body), class_="plain")
    return tag("details", tag("summary", summary), scroller(inner, summary), class_="figures")


def scroller(content: Markup, name: str) -> Markup:
    """A region that scrolls sideways, also by keyboard."""
    return tag("div", content, class_="scroll", tabindex=0, role="region", aria_label=name)
