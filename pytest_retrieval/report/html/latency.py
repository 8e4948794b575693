"""How the times of each arm's queries are distributed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_retrieval.report.html.figures import milliseconds, time_tick
from pytest_retrieval.report.html.markup import Markup, tag, unseen
from pytest_retrieval.report.html.plot import (
    Arms,
    Scale,
    figure,
    log_ticks,
    logarithmic,
    percent,
    thinned,
)
from pytest_retrieval.stats.latency import FLOOR, distribution

_BINS = 48
_HEIGHT = 34.0
_FEW = f" Under {FLOOR} times no quantile is worth printing."


def latency_chart(
    times: Mapping[str, Sequence[float]], arms: Arms, labels: Sequence[str], note: str
) -> Markup | None:
    """One histogram per arm over one scale of logarithms, or None without a time."""
    known = {label: times[label] for label in labels if len(times[label])}
    if not known:
        return None
    ticks = log_ticks(min(map(min, known.values())), max(map(max, known.values())))
    along = logarithmic(ticks[0], ticks[-1])
    shown = thinned(ticks, 4)
    head = [
        tag("th", "arm", scope="col"),
        tag("th", _axis(shown, along), unseen("distribution"), scope="col", class_="wide"),
        *(tag("th", name, scope="col", class_="number") for name in ("n", "p50", "p95", "max")),
    ]
    rows = [_row(label, known[label], along, shown, arms) for label in known]
    drawn = tag("table", tag("thead", tag("tr", head)), tag("tbody", rows), class_="strips times")
    few = any(len(found) < FLOOR for found in known.values())
    return figure(
        "Latency",
        drawn,
        note="Times of queries without an error, on a scale of logarithms. The long tick is the median, the"
        f" short one the 95th percentile.{_FEW if few else ''}{note}",
        class_="whole",
    )


def _axis(ticks: Sequence[float], along: Scale) -> Markup:
    names = [
        tag("text", time_tick(tick), x=percent(along(tick)), y=12, class_="tick middle") for tick in ticks
    ]
    return tag("svg", names, class_="strip", height=18, role="presentation")


def _row(label: str, times: Sequence[float], along: Scale, ticks: Sequence[float], arms: Arms) -> Markup:
    found = distribution(times)
    quantiles = [found.get(name) for name in ("p50_ms", "p95_ms")]
    lines = [
        tag("line", x1=percent(along(tick)), x2=percent(along(tick)), y1=0, y2=_HEIGHT, class_="grid")
        for tick in ticks
    ]
    marks = [
        tag("line", x1=percent(along(value)), x2=percent(along(value)), y1=top, y2=_HEIGHT, class_="quantile")
        for value, top in zip(quantiles, (0, _HEIGHT / 2), strict=True)
        if value is not None
    ]
    said = ", ".join(
        f"{name} {milliseconds(value)}" for name, value in zip(("p50", "p95"), quantiles, strict=True)
    )
    strip = tag(
        "svg",
        lines,
        _bars(times, along),
        marks,
        class_=f"strip {arms.look(label)}",
        height=_HEIGHT,
        role="img",
        aria_label=f"{label}: {said}",
    )
    figures = [str(len(times)), *map(milliseconds, quantiles), milliseconds(max(times))]
    return tag(
        "tr",
        tag("th", arms.key(label), scope="row"),
        tag("td", strip, class_="wide"),
        [
            tag("td", value, class_="number", data_name=name)
            for name, value in zip(("n", "p50", "p95", "max"), figures, strict=True)
        ],
    )


def _bars(times: Sequence[float], along: Scale) -> list[Markup]:
    counts = [0] * _BINS
    for time in times:
        counts[min(_BINS - 1, max(0, int(along(time) * _BINS)))] += 1
    tallest = max(counts)
    return [
        tag(
            "rect",
            x=percent(place / _BINS),
            width=percent(0.92 / _BINS),
            y=_HEIGHT - (_HEIGHT - 4) * count / tallest,
            height=(_HEIGHT - 4) * count / tallest,
            class_="bar",
        )
        for place, count in enumerate(counts)
        if count
    ]
