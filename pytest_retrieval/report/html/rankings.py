"""What the page shows of rankings: files for queries, or lines of code searches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pytest_retrieval.report.html.columns import ranking_columns
from pytest_retrieval.report.html.costs import Costs, costs_of
from pytest_retrieval.report.html.curve import recall_curve
from pytest_retrieval.report.html.figures import measure_name, milliseconds, primary_measure
from pytest_retrieval.report.html.forest import forest
from pytest_retrieval.report.html.gathering import Gathered
from pytest_retrieval.report.html.heatmap import heat_map
from pytest_retrieval.report.html.latency import latency_chart
from pytest_retrieval.report.html.leaderboard import leaderboard
from pytest_retrieval.report.html.markup import Markup
from pytest_retrieval.report.html.plot import Arms
from pytest_retrieval.report.html.tradeoff import Point, tradeoff
from pytest_retrieval.report.html.view import View

_BEATEN = "Hollow: another arm is no worse in both and better in one."
_SHARED = "Several workers shared the machine"


def rankings(head: Mapping[str, Any], details: Iterable[Mapping[str, Any]]) -> View:
    """The view of a report of rankings."""
    measure, limit = primary_measure(head), head["limit"]
    gathered = Gathered.of(details, sorted(head["arms"]), limit, measure)
    arms = Arms(gathered.labels)
    every = {label: arm["groups"]["all"] for label, arm in head["arms"].items()}
    labels = sorted(every, key=lambda label: (-every[label].get(measure, -1), label))
    costs, ceiling = costs_of(head), head["ceiling"].get("all", {"n": 0})
    tradeoffs = [chart for chart in _tradeoffs(head, costs, arms, labels, measure) if chart]
    names = {name: measure_name(name, limit) for name in _compared(head)}
    return View(
        what="code search" if head["kind"] == "codesearch" else "files by query",
        noun="sample",
        board=leaderboard(
            {label: every[label] for label in labels},
            ranking_columns(head, costs),
            arms,
            ceiling if ceiling["n"] else None,
        ),
        charts=[
            recall_curve(gathered, arms, labels, wide=len(tradeoffs) != 1),
            *tradeoffs,
            forest(head["paired"], names, (measure, "recall@10")),
            heat_map(gathered.repositories, measure_name(measure, limit), arms, labels),
            latency_chart(gathered.times, arms, labels, f" {_SHARED}." if _is_contended(head) else ""),
        ],
        data=lambda facts: gathered.packed({**facts, "explained": gathered.explained}),
    )


def _compared(head: Mapping[str, Any]) -> list[str]:
    """The measures of which there are differences."""
    pairs = [pair for group in head["paired"].values() for pair in group.values()]
    return list(dict.fromkeys(name for pair in pairs for name in pair))


def _tradeoffs(
    head: Mapping[str, Any], costs: Costs, arms: Arms, labels: list[str], measure: str
) -> Iterator[Markup | None]:
    """Quality against time and, where an arm tells tokens, against tokens."""
    quality = {
        label: found
        for label in labels
        if (found := head["arms"][label]["groups"]["all"].get(measure)) is not None
    }
    name = measure_name(measure, head["limit"])
    p95 = {label: times["p95_ms"] for label, times in costs.times.items() if times.get("p95_ms")}
    for title, cost, shown, note, judged in (
        (
            "Quality against latency",
            p95,
            milliseconds,
            f"{name} and the 95th percentile of query times.",
            not _is_contended(head),
        ),
        (
            "Quality against tokens",
            costs.tokens,
            lambda value: f"{value:,.0f}",
            f"{name} and {costs.tokens_note}.",
            True,
        ),
    ):
        points = {label: Point(cost[label], found) for label, found in quality.items() if cost.get(label)}
        missing = [label for label in quality if label not in points]
        left_out = f" Not measured: {', '.join(missing)}." if missing else ""
        hollow = _BEATEN if judged else f"{_SHARED}, so that no arm is called dominated."
        said = f"{note} {hollow}{left_out}"
        yield tradeoff(title, points, arms, quality=name, cost=shown, note=said, judged=judged)


def _is_contended(head: Mapping[str, Any]) -> bool:
    return bool(head["environment"].get("contended"))
