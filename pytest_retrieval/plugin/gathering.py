"""The controller's side: outcomes come off the test reports, are journalled, and become the report.

Without xdist the one process plays both roles, through the same hooks.
"""

from __future__ import annotations

import os
import platform
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import asdict
from datetime import UTC, datetime
from importlib import import_module
from sys import intern
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from pytest_retrieval import __version__
from pytest_retrieval.arms.pairs import default_pairs
from pytest_retrieval.errors import ReportError, RetrievalError
from pytest_retrieval.plugin.plan import Plan
from pytest_retrieval.report import canonical, journal, write
from pytest_retrieval.report.fingerprint import load_average
from pytest_retrieval.report.place import partial_path
from pytest_retrieval.report.rescue import rescue

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_retrieval.bench.judge import Outcome
    from pytest_retrieval.plugin.records import Records
    from pytest_retrieval.plugin.session import BenchSession
    from pytest_retrieval.report.build import Report

ATTRIBUTE = "retrieval_outcome"


def encode(outcome: Outcome) -> bytes:
    """The one encoding of an outcome: what travels, what is journalled, and what the report is made of."""
    snapshot = None if outcome.snapshot is None else dict(outcome.snapshot)
    return canonical.encode({"detail": dict(outcome.detail), "snapshot": snapshot})


class Gathering:
    """Collects outcomes by node id; a later attempt replaces an earlier one, an answer beats a crash."""

    def __init__(self, bench: BenchSession, plan: Plan, records: Records) -> None:
        self.bench = bench
        self.plan = plan
        self.records = records
        self.summary: Mapping[str, Any] | None = None
        self.troubles: list[str] = []
        self.interrupted: str | None = None
        self.published: Path | None = None
        self.workers: set[str] = set()
        self._journal: journal.Journal | None = None
        # By worker, for under `--dist each` all of them run every item.
        self._attempts: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._unjudged: dict[str, str] = {}
        self._crashes: set[str] = set()
        self._started = time.time()
        self._load = load_average()
        self._stopped_early = False
        self._faulty = 0

    @property
    def gathered(self) -> int:
        """How many samples have an outcome."""
        return len(self._attempts)

    @property
    def notices(self) -> list[str]:
        """What went wrong beside the run, and harms no result."""
        fault = None if self._journal is None else self._journal.fault
        return [*self.plan.warnings(), *self.bench.notices(), *filter(None, [fault])]

    def opening_lines(self) -> list[str]:
        """What is about to run, for a terminal that is not told to be quiet."""
        if self.bench.config.option.verbose < 0:
            return []
        plan, settings = self.plan, self.bench.settings
        chosen = len(plan.chosen)
        samples = plural(chosen, "sample") if chosen == plan.of else f"{chosen} of {plan.of} samples"
        labels = ", ".join(arm.label for arm in settings.arms)
        snapshots = plural(plan.snapshots(), "snapshot")
        return [f"retrieval: {samples}, {snapshots} to build, arms: {labels}"]

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the outcome off its report before other plugins keep the report."""
        payload = report.__dict__.pop(ATTRIBUTE, None)
        # The terminal keeps every report, and those of workers have strings of their own.
        report.keywords = {intern(name): 1 for name in report.keywords}
        if payload is not None:
            worker = getattr(report, "worker_id", "")
            self.workers.update(filter(None, [worker]))
            self._attempts[report.nodeid][worker] += 1
            self._opened().append(report.nodeid, payload)
        elif str(report.when) == "???":  # xdist's report of an item whose worker died
            self._crashes.add(report.nodeid)
        elif report.when == "call" or not report.passed:
            self._unjudged[report.nodeid] = f"{report.outcome} in {report.when}"

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Tell an interrupt from how pytest and xdist stop at ``-x``, ``--maxfail`` and ``--sw``."""
        by_pytest = isinstance(excinfo.value, pytest.Session.Interrupted)
        self._stopped_early = by_pytest or str(excinfo.value).startswith("stopping after")

    def finish(self, session: pytest.Session, exitstatus: int) -> None:
        """Publish the report and set the exit code; an interrupted run keeps its journal instead."""
        with closing(self.records):
            self._finish(session, exitstatus)

    def _finish(self, session: pytest.Session, exitstatus: int) -> None:
        broken = exitstatus in (pytest.ExitCode.INTERRUPTED, pytest.ExitCode.INTERNAL_ERROR)
        if broken and not self._stopped_early:
            self.interrupted = (
                f"interrupted: {self.gathered} of {len(self.plan.chosen)} samples have outcomes; "
                f"no report was written{self._whereabouts()}"
            )
            return
        if broken and not self._attempts and not self._crashes:
            return  # the collection failed: nothing was run
        try:
            if self.bench.void is None:
                self._publish()
            else:
                self.troubles.append(f"{self.bench.void}; no report was written{self._salvage()}")
        except ReportError as error:
            self.troubles.append(f"{error}{self._whereabouts()}")
        if session.exitstatus == pytest.ExitCode.OK and self._fails():
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def _fails(self) -> bool:
        if self.summary is None or self.troubles:
            return True
        return any(gate["status"] not in ("passed", "undecided") for gate in self.summary["gates"])

    def _opened(self) -> journal.Journal:
        if self._journal is None:
            report = self.bench.report_path()
            self._journal = journal.Journal(report)
            self._journal.start({"version": __version__})
            # Early, while the workers are busy: what makes the report takes a tenth of a second to import.
            import_module("pytest_retrieval.report.build")
        return self._journal

    def _whereabouts(self) -> str:
        """Where the outcomes are when there is no report; a journal that the disk did not take is copied."""
        if self._journal is None:
            return ""
        self._journal.keep()
        path = self._journal.path
        found = path if self._journal.fault is None else rescue(path.name, self._journal.copy)
        return (
            "; the outcomes could be written nowhere" if found is None else f"; the outcomes are in {found}"
        )

    def _publish(self) -> None:
        """Write the report; where that fails, write it to the temporary folder, so that nothing is lost."""
        report = self._built()
        self.records.confirm()
        self.summary = report.head
        path = self.bench.report_path()
        try:
            write.write_report(path, report.chunks())
        except ReportError as error:
            found = rescue(path.name, lambda place: write.write_report(place, report.chunks()))
            if found is None:
                raise
            self.troubles.append(f"{error}; it was written to {found}")
            self._opened().keep()
            self.published = found
        else:
            self._opened().publish()
            self.published = path

    def _salvage(self) -> str:
        """Where the outcomes of a run without a report are; matched calls have a file of their own."""
        if not self.bench.settings.snapshot_latency or not self._attempts:
            return self._whereabouts()
        partial = partial_path(self.bench.report_path())
        write.write_report(partial, self._built().chunks())
        self._opened().publish()
        return f"; the {plural(self.gathered, 'good pair')} before it in {partial}"

    def _built(self) -> Report:
        """The report with its verdicts, and what else makes the run fail."""
        from pytest_retrieval.gates.verdict import judge
        from pytest_retrieval.report.build import build

        facts: dict[str, Any] = {}
        report = build(self._header(facts), self._details(facts))
        settings, judged = self.bench.settings, len(self.plan.chosen)
        if settings.tolerance is not None and not settings.tolerance.allows(self._faulty, judged):
            self.troubles.append(
                f"{self._faulty} samples have faults, more than --retrieval-max-errors allows"
            )
        return report.with_gates(verdict.record() for verdict in judge(report.head, settings.gates))

    def _details(self, facts: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Every detail; facts of snapshots are collected on the way, samples of dead workers are faults."""
        for attempts, payload in zip(self._attempts.values(), self._opened().outcomes(), strict=True):
            outcome = orjson.loads(payload)
            detail: dict[str, Any] = outcome["detail"]
            if outcome["snapshot"] is not None:
                facts[f"{detail['repo']}@{detail['base_commit']}"] = outcome["snapshot"]
            if (most := max(attempts.values())) > 1:
                detail["attempts"] = most
            self._faulty += detail["status"] != "measured"
            yield detail
        yield from self._crashed()

    def _crashed(self) -> Iterator[dict[str, Any]]:
        """The details of the samples whose worker died."""
        for nodeid in sorted(self._crashes - self._attempts.keys()):
            self._faulty += 1
            entry = self.plan.entries[nodeid]
            try:
                sample = self.bench.sample_of(self.plan, entry)
            except RetrievalError as error:
                self.troubles.append(f"sample {entry.id} was lost with its worker, and has no row: {error}")
                continue
            lost = self.bench.judge.lost(sample, "the worker died while it ran this sample", status="crashed")
            yield dict(lost.detail)

    def _header(self, facts: Mapping[str, Any]) -> dict[str, Any]:
        plan = self.plan
        measures = [measure.name for measure in self.bench.settings.measures]
        return {
            "version": __version__,
            "limit": self.bench.settings.limit,
            "sources": plan.ordered_sources(),
            "skipped": dict(plan.skipped),
            "selection": {"of": plan.of, "chosen": len(plan.chosen), "lost": self._lost()},
            "arms": self.bench.roster.facts,
            "pairs": self._pairs(),
            **({"measures": measures} if measures else {}),
            "snapshots": facts,
            "environment": self._environment(),
            "registration": self.records.section,
            **{name: asdict(program.identity) for name, program in self.bench.roster.programs.items()},
        }

    def _pairs(self) -> list[tuple[str, str]]:
        """The pairs that were asked for, else the default ones, and those that gates need."""
        settings = self.bench.settings
        asked = settings.pairs or default_pairs(self.bench.roster.facts)
        needed = [(gate.arm, gate.against) for gate in settings.gates if gate.against]
        return list(dict.fromkeys([*asked, *needed]))

    def _lost(self) -> list[dict[str, Any]]:
        """The chosen samples without an answer, each with why."""
        lost = []
        for nodeid in self.plan.chosen:
            if nodeid not in self._attempts:
                entry = self.plan.entries[nodeid]
                why = "worker died" if nodeid in self._crashes else self._unjudged.get(nodeid, "not run")
                lost.append({"source": entry.source, "id": entry.id, "ordinal": entry.ordinal, "why": why})
        return lost

    def _environment(self) -> dict[str, Any]:
        workers = len(self.workers)
        return {
            "workers": workers,
            "contended": workers > 1,
            "python": platform.python_version(),
            "implementation": platform.python_implementation(),
            "platform": sys.platform,
            "cpus": os.cpu_count(),
            "load_average": {"start": self._load, "end": load_average()},
            "started_at": datetime.fromtimestamp(self._started, UTC).isoformat(timespec="seconds"),
            "seconds": round(time.time() - self._started, 3),
        }


def plural(count: int, noun: str) -> str:
    """``1 sample``, ``2 samples``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def attach(report: pytest.TestReport, outcome: Outcome) -> None:
    """Put an outcome on its item's call report, as bytes: the one form that every transport takes."""
    setattr(report, ATTRIBUTE, encode(outcome))
