"""The tables at the end: one row per arm, then what a reader must know before believing it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from pytest_retrieval.gates.lines import verdict_line

if TYPE_CHECKING:
    import pytest

    from pytest_retrieval.plugin.gatherings import Gatherings
    from pytest_retrieval.plugin.harvest import Harvest

_COLOURS = {
    "good": {"green": True},
    "bad": {"red": True, "bold": True},
    "bold": {"bold": True},
    "dim": {"light": True},
}


def summarise(reporter: pytest.TerminalReporter, gathering: Gatherings) -> None:
    """Print the summary of every report, or where the outcomes are when none was written."""
    harvests = [each for each in gathering.harvests if each.summary or each.interrupted or each.troubles]
    if reporter.verbosity < -1:
        for harvest in harvests:
            _whisper(reporter, harvest)
        return
    if not harvests:
        return
    reporter.write_sep("=", "retrieval")
    for number, harvest in enumerate(harvests):
        if number:
            reporter.write_line("")
        _show(reporter, harvest)
    for notice in dict.fromkeys(line for harvest in harvests for line in harvest.notices):
        reporter.write_line(notice, yellow=True)
    for harvest in harvests:
        for trouble in harvest.troubles:
            reporter.write_line(trouble, red=True, bold=True)


def _show(reporter: pytest.TerminalReporter, harvest: Harvest) -> None:
    if harvest.interrupted:
        reporter.write_line(harvest.interrupted)
    start, place = harvest.config.invocation_params.dir, harvest.published
    path = None if place is None else os.path.relpath(place, start)
    for line in harvest.lines(reporter._tw.fullwidth, path):
        for text, role in line:
            reporter.write(text, **_COLOURS.get(role, {}))
        reporter.write("\n")


def _whisper(reporter: pytest.TerminalReporter, harvest: Harvest) -> None:
    """Print only what makes the run fail, for it must not do so without a word."""
    summary = harvest.summary or {"gates": ()}
    mark = "PILOT " if summary.get("pilot") else ""
    for gate in summary["gates"]:
        if gate["fails"]:
            reporter.write_line(f"{mark}gate {verdict_line(gate)}")
    for trouble in harvest.troubles:
        reporter.write_line(trouble)
