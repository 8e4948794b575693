"""What a reader must know before believing a figure: verdicts, losses, errors, and where it all came from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pytest_retrieval.gates.lines import further_lines, verdict_line
from pytest_retrieval.report.html.figures import plural
from pytest_retrieval.report.html.markup import Markup, tag
from pytest_retrieval.report.html.plot import scroller
from pytest_retrieval.report.html.view import View
from pytest_retrieval.report.pieces import inflected

_LOST_SHOWN = 50
_REASONS_SHOWN = 5


def subtitle(head: Mapping[str, Any], view: View) -> str:
    """What was judged, in a line."""
    selection = head["selection"]
    of = "" if selection["chosen"] == selection["of"] else f" of {selection['of']:,}"
    count = f"{selection['chosen']:,}{of} {inflected(selection['of'], view.noun)}"
    return " · ".join([view.what, count, plural(len(head["arms"]), "arm"), f"k = {head['limit']}"])


def verdicts(head: Mapping[str, Any]) -> Markup | None:
    """The verdicts of gates, failures first."""
    if not head["gates"]:
        return None
    order = {"failed": 0, "undecidable": 1, "undecided": 2, "passed": 3}
    lines = []
    for record in sorted(head["gates"], key=lambda record: order.get(record["status"], 0)):
        _, _, rest = verdict_line(record).partition(" ")
        badge = tag("span", record["status"], class_=f"badge {record['status']}")
        further = [tag("li", line) for line in further_lines(record)]
        lines.append(tag("li", badge, " ", rest, tag("ul", further) if further else None))
    return tag("section", tag("h2", "Gates"), tag("ul", lines, class_="verdicts"), id="gates")


def warnings(head: Mapping[str, Any]) -> Markup | None:
    """What weakens the figures, each in a line; None where nothing does."""
    lines = [tag("li", line) for line in _warnings(head)]
    return tag("ul", lines, class_="warnings") if lines else None


def _warnings(head: Mapping[str, Any]) -> Iterator[str]:
    selection = head["selection"]
    lost = max(len(selection["lost"]), selection["chosen"] - selection["judged"])
    if head.get("pilot"):
        yield "PILOT: these figures decide nothing."
    if lost:
        yield f"{lost:,} of {selection['chosen']:,} chosen samples were lost: figures speak of the rest."
    absent, cut = (
        sum(facts.get(name, 0) for facts in head.get("snapshots", {}).values())
        for name in ("gold_absent", "gold_cut")
    )
    if absent:
        yield f"{plural(absent, 'gold file')} absent from the snapshots: out of everybody's reach."
    if cut:
        yield f"{plural(cut, 'gold file')} cut short by the view."
    errors = {
        label: count for label, arm in head["arms"].items() if (count := arm["groups"]["all"]["errors"])
    }
    if errors:
        named = ", ".join(f"{label} {count:,}" for label, count in errors.items())
        what = "Errors" if head["kind"] == "trial" else "Errors and refusals, counted as misses"
        yield f"{what}: {named} (reasons under About)."
    if head["environment"].get("contended"):
        yield "Several workers shared the machine: times are contended."


def _errors(head: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """The most frequent reasons of each arm."""
    found: list[tuple[str, ...]] = []
    for label, arm in head["arms"].items():
        reasons = arm["groups"]["all"].get("error_reasons", {})
        ordered = sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
        found += [(label, f"{count:,}", reason) for reason, count in ordered[:_REASONS_SHOWN]]
    return found


def about(head: Mapping[str, Any]) -> Markup:
    """Where samples, trees and arms came from."""
    sources = [
        (source.get("path", ""), f"{source['kept']:,} of {source['rows']:,} rows", source["sha256"])
        for source in head["sources"]
    ]
    arms = [
        (label, str(facts.get("name", label)), str(facts.get("version", "")))
        for label, facts in head["arms"].items()
    ]
    trees = [
        (name, f"{facts.get('source', '')} {facts.get('view', '')}".strip(), facts.get("tree", ""))
        for name, facts in sorted(head.get("snapshots", {}).items())
    ]
    lost = [
        (item["id"], item["why"], item["source"][:12]) for item in head["selection"]["lost"][:_LOST_SHOWN]
    ]
    environment = [
        (name, str(value), "") for name, value in sorted(head["environment"].items()) if name != "reports"
    ]
    parts = [
        _facts("Errors", ("arm", "count", "reason"), _errors(head)),
        _facts("Samples files", ("file", "kept", "SHA-256"), sources),
        _facts("Arms", ("label", "name", "version"), arms),
        _facts("Trees", ("snapshot", "source", "digest"), trees),
        _facts("Lost samples", ("id", "why", "source"), lost),
        _facts("Machine", ("fact", "value", ""), environment),
    ]
    written = f"Written by pytest-retrieval {head['version']}; profile {head['profile']}."
    return tag("section", tag("h2", "About this report"), tag("p", written), parts, id="about")


def _facts(title: str, names: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Markup | None:
    if not rows:
        return None
    head = tag("tr", [tag("th", name, scope="col") for name in names if name])
    body = [
        tag(
            "tr",
            tag("th", first, scope="row"),
            [tag("td", cell) for name, cell in zip(names[1:], rest, strict=True) if name],
        )
        for first, *rest in rows
    ]
    inner = tag("table", tag("thead", head), tag("tbody", body), class_="plain facts")
    return tag("details", tag("summary", f"{title} ({len(rows)})"), scroller(inner, title))
