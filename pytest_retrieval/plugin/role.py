"""What this process does in the run: all of it, or the controller's or a worker's part.

Kept light: until a bench item is collected or one of our options is given, no other room is opened.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_retrieval.errors import RetrievalError
from pytest_retrieval.plugin import options
from pytest_retrieval.plugin.fixtures import OUTCOME
from pytest_retrieval.plugin.option_table import OPTIONS
from pytest_retrieval.plugin.options import WORKER_INPUT, WORKER_KEY
from pytest_retrieval.plugin.trial.fixtures import DONE

if TYPE_CHECKING:
    from pytest_retrieval.plugin.gatherings import Gatherings
    from pytest_retrieval.plugin.lifetime import Lifetime
    from pytest_retrieval.plugin.plan import Load, Plan
    from pytest_retrieval.plugin.session import BenchSession
    from pytest_retrieval.plugin.trial.plan import TrialPlan
    from pytest_retrieval.plugin.trial.session import TrialSession


class Role:
    """The hooks of one process; ``bench`` is its state, ``gathering`` the reports that it will write."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        workerinput: dict[str, str] | None = getattr(config, "workerinput", None)
        self.is_worker = workerinput is not None
        self.run_path: Path | None = None if workerinput is None else Path(workerinput[WORKER_INPUT])
        self._key: str | None = None if workerinput is None else workerinput[WORKER_KEY]
        self.gathering: Gatherings | None = None
        self._plans: tuple[Plan, TrialPlan] | None = None
        self._dry = False
        self._idle: list[str] = []
        self._lifetime: Lifetime | None = None

    @property
    def bench(self) -> BenchSession:
        """The state of this process, made at first use."""
        return self._begun().bench

    @property
    def trial(self) -> TrialSession:
        """The state of this process where agents are asked, made at first use."""
        return self._begun().trial

    def _begun(self) -> Lifetime:
        if self._lifetime is None:
            from pytest_retrieval.plugin.lifetime import Lifetime

            path, key = self.shared_path(), self.shared_key()
            self._lifetime = Lifetime(self.config, path, key, owns=not self.is_worker)
        return self._lifetime

    @property
    def started(self) -> bool:
        """Whether anything asked for the state of this process."""
        return self._lifetime is not None

    def shared_path(self) -> Path:
        """The path of the run's private folder, which need not exist."""
        if self.run_path is None:
            from pytest_retrieval.snapshots.scratch import RunFolder

            self.run_path = RunFolder.name_only()
        return self.run_path

    def shared_key(self) -> str:
        """What the processes of the run share, and no program that they start; no file holds it."""
        if self._key is None:
            self._key = os.urandom(32).hex()
        return self._key

    def check_options(self) -> None:
        """Check typed options and load the files they name: one line and exit code 4 for a mistake.

        A worker reads them now, too, for conftests that are collected later must not matter. What an ini file
        alone says waits for the first suite, so that ordinary tests beside it pay for nothing.
        """
        if not any(options.from_command_line(self.config, option.name) for option in OPTIONS):
            return
        try:
            if self.is_worker:
                _ = self.bench.settings
            else:
                self.bench.check()
                self.trial.check()
        except RetrievalError as error:
            raise pytest.UsageError(str(error)) from None

    def parametrize(self, metafunc: pytest.Metafunc) -> None:
        """Make the items of a function with the ``retrieval`` marker."""
        from pytest_retrieval.plugin import collection

        with self._faults_noted():
            _ = self.bench.settings
        collection.parametrize(metafunc, self.bench)

    def parametrize_trial(self, metafunc: pytest.Metafunc) -> None:
        """Make the items of a function with the ``retrieval_trial`` marker."""
        from pytest_retrieval.plugin.trial import collection as trial_collection

        with self._faults_noted():
            _ = self.bench.settings, self.trial.settings
        trial_collection.parametrize(metafunc, self.trial)

    @contextmanager
    def _faults_noted(self) -> Iterator[None]:
        """A mistake in the options ends the collection, of a worker too, and then the run."""
        try:
            yield
        except RetrievalError as error:
            self.bench.plan.fault = str(error)
            raise pytest.Collector.CollectError(str(error)) from None

    def adopt(self, plan: Plan, trial_plan: TrialPlan) -> None:
        """Take on the controller's part of a run with items of ours: gather, and write the reports.

        What runs that were killed have left goes first.
        """
        from pytest_retrieval.plugin.adoption import adopted
        from pytest_retrieval.plugin.gatherings import Gatherings
        from pytest_retrieval.plugin.publishing import Publishing

        try:
            self.bench.check_plan(plan, trial_plan.kinds)
            if not (plan.entries or trial_plan.entries):
                self._idle = [*plan.warnings(), nothing] if (nothing := plan.nothing()) else []
                return
            found = adopted(self.bench, self.trial if trial_plan.entries else None, plan, trial_plan)
        except RetrievalError as error:
            raise pytest.UsageError(str(error)) from None
        if isinstance(found, str):
            self._idle, self._dry = found.splitlines(), True
            return
        harvests, self._plans = found, (plan, trial_plan)
        self.gathering = Gatherings(harvests, self.bench)
        self.config.pluginmanager.register(self.gathering, "retrieval-gathering")
        self.config.pluginmanager.register(Publishing(self.config, harvests), "retrieval-publishing")
        self.bench.catalogs.expect(plan.snapshots())

    def loads(self, nodeids: Sequence[str]) -> list[Load] | None:
        """The load of each item for our scheduler, or None when there is no item of ours."""
        if self._plans is None:
            return None
        plan, trial_plan = self._plans
        return plan.loads(nodeids, alone=trial_plan.entries)

    def close(self) -> None:
        """Close arms and snapshots; the process that owns the run removes its folder."""
        if self._lifetime is not None:
            self._lifetime.close()
        elif self.run_path is not None and not self.is_worker and self.run_path.exists():
            from pytest_retrieval.plugin.lifetime import remove_folder

            with suppress(KeyboardInterrupt):
                remove_folder(self.run_path)  # workers made it, and nothing came of that

    @pytest.hookimpl(wrapper=True)
    def pytest_pycollect_makeitem(self) -> Generator[None, object, object]:
        """Leave out suites without a sample in this run, before anybody counts them."""
        made = yield
        if not self.started or not isinstance(made, list):
            return made
        from pytest_retrieval.plugin import collection
        from pytest_retrieval.plugin.trial import collection as trial_collection

        stands_for_none = (collection.is_placeholder, trial_collection.is_placeholder)
        return [item for item in made if not any(is_none(item) for is_none in stands_for_none)]

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Give the bench items keywords before anything chooses among them."""
        if self.started:
            from pytest_retrieval.plugin import collection
            from pytest_retrieval.plugin.trial import collection as trial_collection

            collection.arrange(items)
            trial_collection.arrange(items)

    @pytest.hookimpl(tryfirst=True)  # before the terminal asks for the opening lines
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Note what was chosen; a worker leaves that where the controller finds it."""
        asked = session.config.option
        if not self.started or asked.collectonly or getattr(asked, "setuponly", False):
            return
        from pytest_retrieval.plugin import collection
        from pytest_retrieval.plugin.trial import collection as trial_collection

        plan, trial_plan = self.bench.plan, self.trial.plan
        collection.enrol(session.items, plan)
        if self.is_worker or not session.testsfailed or asked.continue_on_collection_errors:
            trial_collection.enrol(session.items, self.trial)  # else nothing will run: prepare nothing
        if not (plan.sources or plan.skipped or trial_plan.entries) and plan.fault is None:
            return
        if self.is_worker:
            trial_plan.write(self.bench.scratch)
            plan.write(self.bench.scratch)
        else:
            self.adopt(plan, trial_plan)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self) -> bool | None:
        """Run nothing where only the plan was asked for; the controller's wait is a worker's to get ready."""
        if self.is_worker and self.started and self.bench.plan.entries:
            self.bench.get_ready()
        return True if self._dry else None

    def pytest_report_collectionfinish(self) -> list[str]:
        """Before the first item: what will be run."""
        if self.gathering is None or self.config.option.verbose < 0:
            return []
        return self.gathering.opening_lines()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Put the item's outcome on its call report."""
        report = yield
        if report.when == "call" and (outcome := item.stash.get(OUTCOME, None)) is not None:
            from pytest_retrieval.plugin.gathering import attach

            attach(report, outcome)
            del item.stash[OUTCOME]  # items live as long as the session
        if report.when == "call" and (done := item.stash.get(DONE, None)) is not None:
            from pytest_retrieval.plugin.harvest import ATTRIBUTE

            setattr(report, ATTRIBUTE, done)
        return report

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Drop what a worker has sent: its terminal is mute, but keeps every report."""
        if self.is_worker and self.started:
            from pytest_retrieval.plugin.harvest import ATTRIBUTE

            report.__dict__.pop(ATTRIBUTE, None)

    @pytest.hookimpl(tryfirst=True)
    def pytest_keyboard_interrupt(self) -> None:
        """From here on the run keeps what it has, and a second interrupt does not disturb that."""
        self._hold_interrupts(held=True)

    @pytest.hookimpl(wrapper=True, tryfirst=True)  # before xdist waits for its workers to exit
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> Generator[None]:
        """Publish the report; a failed gate makes a green run red.

        An interrupt does not tear the report, and one that ends only the wait for workers is no crash.
        """
        if self.gathering is None:
            self._hold_interrupts(held=False)
            return (yield)
        from pytest_retrieval.programs.interrupts import postponed_interrupts

        interrupts = []
        try:
            with postponed_interrupts():
                self.gathering.finish(session, exitstatus)
        except KeyboardInterrupt as interrupt:
            interrupts.append(interrupt)
        finally:
            self._hold_interrupts(held=False)
        try:
            yield
        except KeyboardInterrupt as interrupt:
            interrupts.append(interrupt)
            if reporter := self.config.pluginmanager.getplugin("terminalreporter"):
                self.pytest_terminal_summary(reporter)
        if interrupts:
            session.exitstatus = pytest.ExitCode.INTERRUPTED
        return None

    def _hold_interrupts(self, *, held: bool) -> None:
        """While they are held, an interrupt does not end what will end by itself."""
        if self._lifetime is not None:
            self._lifetime.interrupts.held = held

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the table, the verdicts and the report's path; or why there is nothing to judge."""
        if self._idle:
            from pytest_retrieval.report.pieces import printable

            for line in self._idle:
                terminalreporter.write_line(printable(line), yellow=True)
        if self.gathering is not None:
            from pytest_retrieval.plugin import terminal

            terminal.summarise(terminalreporter, self.gathering)
