"""The report as one self-contained HTML page: no network, no library, no markup from anybody's data.

Charts are drawn here, as SVG; a script in the page lists the samples out of a compressed block of JSON, and
sets whatever it shows as text. A Content-Security-Policy allows that one script and that one style sheet.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from pytest_retrieval import __version__
from pytest_retrieval.report.build import Report
from pytest_retrieval.report.html import facts
from pytest_retrieval.report.html.costs import Costs, costs_of
from pytest_retrieval.report.html.curve import recall_curve
from pytest_retrieval.report.html.figures import measure_name, milliseconds, primary_measure
from pytest_retrieval.report.html.forest import forest
from pytest_retrieval.report.html.gathering import Gathered
from pytest_retrieval.report.html.heatmap import heat_map
from pytest_retrieval.report.html.latency import latency_chart
from pytest_retrieval.report.html.leaderboard import leaderboard
from pytest_retrieval.report.html.markup import Child, Markup, join, tag
from pytest_retrieval.report.html.plot import COLOURS, Arms
from pytest_retrieval.report.html.tradeoff import Point, tradeoff
from pytest_retrieval.report.write import write_report


def write_page(path: Path, report: Report) -> None:
    """Write the page about ``report`` into ``path``; raises ReportError where that fails."""
    write_report(path, page(report.head, report.details()), "the HTML report")


def page(head: Mapping[str, Any], details: Iterable[Mapping[str, Any]]) -> Iterator[bytes]:
    """The page about a report, in pieces, without a line end; the same for the same report."""
    measure = primary_measure(head)
    labels = sorted(head["arms"])
    gathered = Gathered.of(details, labels, head["limit"], measure)
    body = _body(head, gathered, measure)
    data = gathered.packed(
        {
            "arms": labels,
            "colours": COLOURS,
            "explained": gathered.explained,
            "kind": head["kind"],
            "limit": head["limit"],
        }
    )
    style, script = _asset("page.css"), _asset("page.js")
    text = Template(_asset("template.html")).substitute(
        policy=_policy(style, script),
        version=__version__,
        title=tag("title", f"Retrieval report: {facts.subtitle(head)}"),
        style=style,
        body=body,
        data=data,
        script=script,
    )
    yield text.encode("utf-8", "replace")


def _body(head: Mapping[str, Any], gathered: Gathered, measure: str) -> Markup:
    arms = Arms(gathered.labels)
    labels = sorted(
        head["arms"], key=lambda label: (-head["arms"][label]["groups"]["all"].get(measure, -1), label)
    )
    costs = costs_of(head)
    name = measure_name(measure, head["limit"])
    tradeoffs = [chart for chart in _tradeoffs(head, costs, arms, labels, measure) if chart]
    charts = [
        recall_curve(gathered, arms, labels, wide=len(tradeoffs) != 1),
        *tradeoffs,
        forest(head["paired"], head["limit"], measure),
        heat_map(gathered.repositories, name, arms, labels),
        latency_chart(gathered.times, arms, labels, _contended(head)),
    ]
    top = tag(
        "header",
        tag("h1", "Retrieval report"),
        tag("p", facts.subtitle(head), class_="subtitle"),
        tag(
            "nav", [tag("a", text, href=f"#{place}") for place, text in _places(head)], aria_label="Sections"
        ),
    )
    return join(
        [
            top,
            tag(
                "main",
                facts.warnings(head),
                facts.verdicts(head),
                _section("leaderboard", "Leaderboard", leaderboard(head, costs, arms, labels)),
                _section("charts", "Charts", tag("div", charts, class_="charts")),
                _section("samples", "Samples", _list()),
                facts.about(head),
            ),
        ]
    )


def _places(head: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if head["gates"]:
        yield "gates", "Gates"
    yield from (
        ("leaderboard", "Leaderboard"),
        ("charts", "Charts"),
        ("samples", "Samples"),
        ("about", "About"),
    )


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
    beaten = "Hollow: another arm is no worse in both and better in one."
    p95 = {label: times["p95_ms"] for label, times in costs.times.items() if times.get("p95_ms")}
    for title, cost, shown, note in (
        ("Quality against latency", p95, milliseconds, f"{name} and the 95th percentile of query times."),
        (
            "Quality against tokens",
            costs.tokens,
            lambda value: f"{value:,.0f}",
            f"{name} and {costs.tokens_note}.",
        ),
    ):
        points = {label: Point(cost[label], found) for label, found in quality.items() if cost.get(label)}
        missing = [label for label in quality if label not in points]
        left_out = f" Not measured: {', '.join(missing)}." if missing else ""
        yield tradeoff(title, points, arms, quality=name, cost=shown, note=f"{note} {beaten}{left_out}")


def _contended(head: Mapping[str, Any]) -> str:
    return " Several workers shared the machine." if head["environment"].get("contended") else ""


def _section(name: str, title: str, *content: Child) -> Markup:
    return tag("section", tag("h2", title), list(content), id=name, aria_label=title)


def _list() -> Markup:
    """Where the script puts the samples."""
    return tag(
        "div",
        tag("noscript", tag("p", "The list of samples needs JavaScript; everything above does not.")),
        id="list",
    )


def _policy(style: str, script: str) -> str:
    allowed = [b64encode(sha256(text.encode()).digest()).decode() for text in (style, script)]
    return (
        f"default-src 'none'; style-src 'sha256-{allowed[0]}'; script-src 'sha256-{allowed[1]}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _asset(name: str) -> str:
    return (files(__package__) / name).read_text(encoding="utf-8")
