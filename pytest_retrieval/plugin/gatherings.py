"""All that is gathered in a session: a report for each kind of items, and one exit code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from sys import intern
from typing import TYPE_CHECKING, Any

import pytest

from pytest_retrieval.errors import GateError
from pytest_retrieval.plugin.harvest import ATTRIBUTE, Harvest

if TYPE_CHECKING:
    from pytest_retrieval.gates.rules import Rule
    from pytest_retrieval.plugin.session import BenchSession


class Gatherings:
    """The hooks of the controller, for what each of ``harvests`` gathers; no item belongs to two of them."""

    def __init__(self, harvests: Sequence[Harvest], bench: BenchSession) -> None:
        self.harvests = harvests
        self._bench = bench
        self._owners = {nodeid: harvest for harvest in harvests for nodeid in harvest.nodeids}
        self._stopped_early = self._interrupted = False

    def opening_lines(self) -> list[str]:
        """What is about to run."""
        return [line for harvest in self.harvests for line in harvest.opening_lines()]

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the outcome off its report before other plugins keep the report."""
        payload = report.__dict__.pop(ATTRIBUTE, None)
        # The terminal keeps every report, and those of workers have strings of their own.
        report.keywords = {intern(name): 1 for name in report.keywords}
        if (harvest := self._owners.get(report.nodeid)) is not None:
            harvest.take(report, payload)
            if (
                payload is not None
                and hasattr(report, "node")
                and all(each.attempts.complete for each in self.harvests)
            ):
                for each in self.harvests:
                    each.build_early()

    @pytest.hookimpl(tryfirst=True)
    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Tell an interrupt from how pytest and xdist stop at ``-x``, ``--maxfail`` and ``--sw``."""
        by_pytest = isinstance(excinfo.value, pytest.Session.Interrupted)
        self._stopped_early = by_pytest or str(excinfo.value).startswith("stopping after")
        self._interrupted = isinstance(excinfo.value, KeyboardInterrupt) and not self._stopped_early

    def finish(self, session: pytest.Session, exitstatus: int) -> None:
        """Publish the reports and set the exit code; an interrupted run keeps its journals instead."""
        with ExitStack() as closing:
            for harvest in self.harvests:
                closing.callback(harvest.close)
            self._finish(session, exitstatus)

    def _finish(self, session: pytest.Session, exitstatus: int) -> None:
        broken = exitstatus in (pytest.ExitCode.INTERRUPTED, pytest.ExitCode.INTERNAL_ERROR)
        broken = broken or self._interrupted  # where another plugin failed to take notice of it
        if broken and not self._stopped_early:
            for harvest in self.harvests:
                harvest.interrupt()
            return
        if broken and all(harvest.attempts.idle for harvest in self.harvests):
            return  # the collection failed: nothing was run
        for harvest in self.harvests:
            harvest.prepare(self._bench.settings)
        self._publish()
        failed = [harvest for harvest in self.harvests if harvest.fails]
        if session.exitstatus == pytest.ExitCode.OK and failed:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def _publish(self) -> None:
        """Judge each gate in every report that it can speak of, and write the reports."""
        heads = {harvest: harvest.report.head for harvest in self.harvests if harvest.report is not None}
        for harvest in self.harvests:
            harvest.publish([rule for rule in harvest.gates() if self._is_judged(rule, harvest, heads)])

    def _is_judged(self, rule: Rule, harvest: Harvest, heads: Mapping[Harvest, Mapping[str, Any]]) -> bool:
        """Whether a gate is judged in the report of ``harvest``, of a session that may have several.

        What is compared with a baseline is judged in the report of its kind, anything else where it has data,
        or everywhere if it has none.
        """
        if rule.gate.needs_baseline and harvest.place.shared and self._bench.baseline is not None:
            return bool(self._bench.baseline.head["kind"] == harvest.place.kind)
        return _speaks_in(rule, harvest, heads)


def _speaks_in(rule: Rule, harvest: Harvest, heads: Mapping[Harvest, Mapping[str, Any]]) -> bool:
    speaking = [other for other, head in heads.items() if rule in other.gates() and _speaks_of(head, rule)]
    return harvest in speaking or not speaking


def _speaks_of(head: Mapping[str, Any], rule: Rule) -> bool:
    """Whether the report has the figure of a gate, whatever it is."""
    from pytest_retrieval.gates.names import check

    limit, own = head["limit"], tuple(head.get("measures", ()))
    try:
        gate = check(
            rule.gate, arms=head["arms"], groups=None, limit=limit, own=own, trial=head["kind"] == "trial"
        )
    except GateError:
        return False
    group = head["arms"][gate.arm]["groups"].get(gate.group, ())
    return gate.measure in group
