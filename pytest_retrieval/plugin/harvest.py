"""The controller's side of one report: outcomes come off the test reports, are journalled, and become it.

Without xdist the one process plays both roles, through the same hooks. What a report is made of is its
kind's matter.
"""

from __future__ import annotations

import os
import platform
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_retrieval.errors import ReportError
from pytest_retrieval.plugin.attempts import Attempts
from pytest_retrieval.report import journal, write
from pytest_retrieval.report.fingerprint import load_average
from pytest_retrieval.report.pieces import plural, printable
from pytest_retrieval.report.rescue import rescue

if TYPE_CHECKING:
    from pytest_retrieval.gates.rules import Rule
    from pytest_retrieval.plugin.places import Place
    from pytest_retrieval.plugin.settings import Settings
    from pytest_retrieval.report.build import Report

ATTRIBUTE = "retrieval_outcome"


class Harvest(ABC):
    """Collects outcomes by node id; a later attempt replaces an earlier one.

    ``nodeids`` are the items whose outcomes make the report, ``noun`` is what an item is.
    """

    noun = "sample"

    def __init__(self, config: pytest.Config, place: Place, nodeids: Collection[str]) -> None:
        self.config = config
        self.place = place
        self.nodeids = nodeids
        self.summary: Mapping[str, Any] | None = None
        self.troubles: list[str] = []
        self.interrupted: str | None = None
        self.published: Path | None = None
        self.page: Path | None = None
        self.attempts = Attempts(nodeids, everywhere=config.getoption("dist", None) == "each")
        self._journal: journal.Journal | None = None
        self._started = time.time()
        self._load = load_average()
        self._faulty = 0
        self.report: Report | None = None
        self._early: tuple[int, Report] | None = None  # and of how many attempts it is

    @property
    def notices(self) -> list[str]:
        """What went wrong beside the run, and harms no result."""
        fault = None if self._journal is None else self._journal.fault
        return [*self.own_notices(), *filter(None, [fault, self._run_again()])]

    def _run_again(self) -> str | None:
        """How many items ran again whose worker had died: some modes of xdist do so, ours does not."""
        again, most = self.attempts.run_again()
        if not again:
            return None
        return (
            f"{plural(again, self.noun)} that a worker died of ran again, up to {most} times in all, as some"
            " modes of --dist let it; load and worksteal give such an item up"
        )

    def take(self, report: pytest.TestReport, payload: bytes | None) -> None:
        """Note what became of one of the items; ``payload`` is its outcome, if the report brought one."""
        if payload is not None:
            self.attempts.note_answer(report)
            self.opened().append(report.nodeid, payload)
        else:
            self.attempts.note_silence(report)

    def build_early(self) -> None:
        """Build the report once every item has an outcome: workers take as long to leave.

        What fails here is told when the report is asked for; an attempt in between makes it anew.
        """
        if self._early is None and self.void is None:
            with suppress(ReportError):
                self._early = (self.attempts.total(), self.built())

    def _built(self) -> Report:
        if self._early is not None and self._early[0] == self.attempts.total():
            return self._early[1]
        return self.built()

    def interrupt(self) -> None:
        """Say where the outcomes of a run are that was interrupted."""
        done, items = len(self.attempts.answered), plural(len(self.nodeids), self.noun)
        self.interrupted = (
            f"interrupted: {done} of {items} have outcomes; no report was written{self.whereabouts()}"
        )

    def prepare(self, settings: Settings) -> None:
        """Build the report, and note what makes the run fail beside its gates."""
        try:
            if (void := self.void) is not None:
                self.troubles.append(f"{void}; no report was written{self.salvage()}")
                return
            self.report = self._built()
            if settings.tolerance is not None and not settings.tolerance.allows(
                self._faulty, len(self.nodeids)
            ):
                self.troubles.append(
                    f"{self._faulty} {self.noun}s have faults, more than --retrieval-max-errors allows"
                )
        except ReportError as error:
            self.troubles.append(f"{error}{self.whereabouts()}")

    def publish(self, gates: Sequence[Rule]) -> None:
        """Judge ``gates`` and write the report, unless none could be built.

        Where that fails it goes to the temporary folder, so that nothing is lost.
        """
        if self.report is None:
            return
        try:
            self.report = report = self.judged(self.report, gates)
            self.confirm()
            self.summary = report.head
            self._write(report)
        except ReportError as error:
            self.troubles.append(f"{error}{self.whereabouts()}")

    @property
    def fails(self) -> bool:
        """Whether the run must not pass because of this report."""
        if self.summary is None or self.troubles:
            return True
        return any(gate["fails"] for gate in self.summary["gates"])

    def opened(self) -> journal.Journal:
        """The journal, begun at the first outcome."""
        if self._journal is None:
            self._journal = journal.Journal(self.place.report)
            self._journal.start(self.journal_header())
        return self._journal

    def whereabouts(self) -> str:
        """Where the outcomes are when there is no report; a journal that the disk did not take is copied."""
        if self._journal is None:
            return ""
        self._journal.keep()
        path = self._journal.path
        found = path if self._journal.fault is None else rescue(path.name, self._journal.copy)
        return (
            "; the outcomes could be written nowhere" if found is None else f"; the outcomes are in {found}"
        )

    def environment(self) -> dict[str, Any]:
        """The machine and the run, which no comparison of reports looks at."""
        workers = len(self.attempts.workers)
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

    @property
    def void(self) -> str | None:
        """Why no report may be published, if so."""
        return None

    def salvage(self) -> str:
        """What is left of a run that may publish no report."""
        return self.whereabouts()

    def write_page(self, html: Path | None, report: Report) -> None:
        """Write the report as a page for people, if one was asked for; raises ReportError."""
        if html is not None:
            from pytest_retrieval.report.html.page import write_page

            write_page(self.place.beside(html), report)
            self.page = self.place.beside(html)

    def page_lines(self) -> Iterator[Sequence[tuple[str, str]]]:
        """Where the page is, for the terminal."""
        if self.page is not None:
            shown = os.path.relpath(self.page, self.config.invocation_params.dir)
            yield [(f"html: {printable(shown)}", "")]

    @abstractmethod
    def gates(self) -> Sequence[Rule]:
        """The gates that could be judged in this report."""

    @abstractmethod
    def judged(self, report: Report, gates: Sequence[Rule]) -> Report:
        """The report with the verdicts of ``gates``."""

    @abstractmethod
    def also_write(self, report: Report) -> None:
        """Write what goes beside the report, now that it is there; raises ReportError."""

    @abstractmethod
    def journal_header(self) -> Mapping[str, Any]:
        """The first line of the journal."""

    @abstractmethod
    def own_notices(self) -> list[str]:
        """What the kind has to say beside the run."""

    @abstractmethod
    def opening_lines(self) -> list[str]:
        """What is about to run, for a terminal that is not told to be quiet."""

    @abstractmethod
    def built(self) -> Report:
        """The report without gates; counts the items with faults in ``_faulty``."""

    @abstractmethod
    def confirm(self) -> None:
        """Raise ReportError if the report may not be written any more."""

    @abstractmethod
    def lines(self, width: int, path: str | None) -> Iterator[Sequence[tuple[str, str]]]:
        """The summary for a terminal of ``width`` columns: pieces of text, each with its role."""

    @abstractmethod
    def close(self) -> None:
        """Let go of what the report needed."""

    def _write(self, report: Report) -> None:
        path = self.place.report
        try:
            write.write_report(path, report.chunks())
        except ReportError as error:
            found = rescue(path.name, lambda place: write.write_report(place, report.chunks()))
            if found is None:
                raise
            self.troubles.append(f"{error}; it was written to {found}")
            self.opened().keep()
            self.published = found
        else:
            self.opened().publish()
            self.published = path
        try:
            self.also_write(report)
        except ReportError as error:  # the report is there all the same
            self.troubles.append(str(error))
