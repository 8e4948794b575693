"""One measure per repository and arm, as a table whose shades are read with its numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_retrieval.report.html.figures import NOT_MEASURED, plural
from pytest_retrieval.report.html.markup import Markup, tag
from pytest_retrieval.report.html.plot import Arms, figure, legend, scroller

SHOWN = 40  # repositories; the rest are one row
_SHADES = 10

Sums = dict[str, tuple[float, int]]  # by arm: the sum of a measure, and over how many samples


def heat_map(
    repositories: Mapping[str, Sums], measure: str, arms: Arms, labels: Sequence[str]
) -> Markup | None:
    """The map, or None for fewer than two repositories with the measure."""
    if len(repositories) < 2:
        return None
    rows = sorted(repositories.items(), key=lambda item: (-_count(item[1]), item[0]))
    shown, others = rows[:SHOWN], rows[SHOWN:]
    if others:
        shown.append((plural(len(others), "other"), _joined([sums for _, sums in others])))
    head = [
        tag("th", "repository", scope="col"),
        tag("th", "n", scope="col", class_="number"),
        *(tag("th", arms.key(label), scope="col", class_="number") for label in labels),
    ]
    body = [
        tag(
            "tr",
            tag("th", _breakable(name), scope="row"),
            tag("td", f"{_count(sums):,}", class_="number"),
            [_cell(sums.get(label)) for label in labels],
        )
        for name, sums in shown
    ]
    drawn = tag("table", tag("thead", tag("tr", head)), tag("tbody", body), class_="heat")
    return figure(
        "Per repository",
        legend(arms, labels, class_="legend narrow"),
        scroller(drawn, "Per repository"),
        note=f"Mean {measure} of each arm; n counts samples with it. Few samples say little.",
        class_="whole",
    )


def _breakable(name: str) -> list[Markup | str]:
    """A repository's name, which may go on in a new line after each slash."""
    *owners, last = name.split("/")
    return [*(part for owner in owners for part in (f"{owner}/", tag("wbr"))), last]


def _count(sums: Sums) -> int:
    return max((count for _, count in sums.values()), default=0)


def _joined(several: Sequence[Sums]) -> Sums:
    joined: Sums = {}
    for sums in several:
        for label, (total, count) in sums.items():
            before = joined.get(label, (0.0, 0))
            joined[label] = before[0] + total, before[1] + count
    return joined


def _cell(found: tuple[float, int] | None) -> Markup:
    if found is None:
        return tag("td", NOT_MEASURED, class_="number")
    mean = found[0] / found[1]
    shade = min(_SHADES - 1, int(mean * _SHADES))
    return tag("td", f"{mean:.2f}", class_=f"number heat-{shade}")
