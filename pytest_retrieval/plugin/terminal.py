"""The table at the end: one row per arm, then what a reader must know before believing it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from pytest_retrieval.gates.verdict import verdict_line
from pytest_retrieval.report import scoreboard, table

if TYPE_CHECKING:
    import pytest

    from pytest_retrieval.plugin.gathering import Gathering

_COLOURS = {
    "good": {"green": True},
    "bad": {"red": True, "bold": True},
    "bold": {"bold": True},
    "dim": {"light": True},
}


def summarise(reporter: pytest.TerminalReporter, gathering: Gathering) -> None:
    """Print the report's summary, or where the outcomes are when no report was written."""
    if reporter.verbosity < -1:
        _whisper(reporter, gathering)
        return
    if gathering.summary is None and not gathering.interrupted and not gathering.troubles:
        return
    reporter.write_sep("=", "retrieval")
    if gathering.interrupted:
        reporter.write_line(gathering.interrupted)
    if gathering.summary is not None:
        start, place = gathering.bench.config.invocation_params.dir, gathering.published
        path = None if place is None else os.path.relpath(place, start)
        for line in table.render(gathering.summary, reporter._tw.fullwidth, path):
            for text, role in line:
                reporter.write(text, **_COLOURS.get(role, {}))
            reporter.write("\n")
        _scoreboard(reporter, gathering)
    for notice in gathering.notices:
        reporter.write_line(notice, yellow=True)
    for trouble in gathering.troubles:
        reporter.write_line(trouble, red=True, bold=True)


def _scoreboard(reporter: pytest.TerminalReporter, gathering: Gathering) -> None:
    """Print the engines side by side, if code was searched."""
    searches = None if gathering.summary is None else gathering.summary.get("codesearch")
    if gathering.summary is None or searches is None:
        return
    contended = {"contended": True} if gathering.summary["environment"].get("contended") else {}
    rows = [{**row, "ext": {**row["ext"], **contended}} for row in searches["rows"]]
    reporter.write_line("")
    for line in scoreboard.render(rows, reporter._tw.fullwidth, searches.get("paired", {})):
        reporter.write_line(line)


def _whisper(reporter: pytest.TerminalReporter, gathering: Gathering) -> None:
    """Print only what makes the run fail, for it must not do so without a word."""
    gates = () if gathering.summary is None else gathering.summary["gates"]
    for gate in gates:
        if gate["status"] in ("failed", "undecidable"):
            reporter.write_line(f"gate {verdict_line(gate)}")
    for trouble in gathering.troubles:
        reporter.write_line(trouble)
