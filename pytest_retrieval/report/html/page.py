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
from pytest_retrieval.report.html.markup import Child, Markup, join, tag
from pytest_retrieval.report.html.plot import COLOURS
from pytest_retrieval.report.html.rankings import rankings
from pytest_retrieval.report.html.tasks import tasks
from pytest_retrieval.report.html.view import View
from pytest_retrieval.report.write import write_report


def write_page(path: Path, report: Report) -> None:
    """Write the page about ``report`` into ``path``, making its folder; raises ReportError where it fails."""
    write_report(path, page(report.head, report.details()), "the HTML report", makes_folder=True)


def page(head: Mapping[str, Any], details: Iterable[Mapping[str, Any]]) -> Iterator[bytes]:
    """The page about a report, in pieces, without a line end; the same for the same report."""
    view = (tasks if head["kind"] == "trial" else rankings)(head, details)
    labels = sorted(head["arms"])
    data = view.data({"arms": labels, "colours": COLOURS, "kind": head["kind"], "limit": head["limit"]})
    style, script = _asset("page.css"), _asset("page.js")
    text = Template(_asset("template.html")).substitute(
        policy=_policy(style, script),
        version=__version__,
        title=tag("title", f"Retrieval report: {facts.subtitle(head, view)}"),
        style=style,
        body=_body(head, view),
        data=data,
        script=script,
    )
    yield text.encode("utf-8", "replace")


def _body(head: Mapping[str, Any], view: View) -> Markup:
    charts = [chart for chart in view.charts if chart]
    sections = [
        facts.verdicts(head),
        _section("leaderboard", "Leaderboard", view.board),
        _section("charts", "Charts", tag("div", charts, class_="charts")) if charts else None,
        _section("samples", f"{view.noun.capitalize()}s", _list()),
        facts.about(head),
    ]
    links = [
        ("gates", "Gates") if head["gates"] else None,
        ("leaderboard", "Leaderboard"),
        ("charts", "Charts") if charts else None,
        ("samples", f"{view.noun.capitalize()}s"),
        ("about", "About"),
    ]
    top = [
        tag("h1", "Retrieval report"),
        tag("p", facts.subtitle(head, view), class_="subtitle"),
        tag("nav", [tag("a", link[1], href=f"#{link[0]}") for link in links if link], aria_label="Sections"),
    ]
    return join([tag("header", top), tag("main", facts.warnings(head), sections)])


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
