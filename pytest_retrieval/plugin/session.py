"""The state of one process of a run: settings, samples, snapshots and arms, each made when first needed.

The controller and every worker hold one. Nothing is built before a bench item is collected, and nothing
but samples is read before the first one runs.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_retrieval.errors import UsageError, closest
from pytest_retrieval.model import Sample
from pytest_retrieval.plugin import options
from pytest_retrieval.plugin.catalogs import Catalogs
from pytest_retrieval.plugin.markers import check_choice, check_source
from pytest_retrieval.plugin.plan import BENCH, SEARCHES, Plan
from pytest_retrieval.plugin.pool import Case, Pool
from pytest_retrieval.plugin.roster import Roster
from pytest_retrieval.plugin.settings import Settings, read_settings
from pytest_retrieval.programs.interrupts import postponed_interrupts
from pytest_retrieval.report.write import check_writable
from pytest_retrieval.snapshots.base import Snapshot
from pytest_retrieval.snapshots.scratch import RunFolder
from pytest_retrieval.store.store import Store

if TYPE_CHECKING:
    import pytest

    from pytest_retrieval.arms.base import Arm
    from pytest_retrieval.bench.judge import Judge, Outcome, Witness
    from pytest_retrieval.gates.baseline import Baseline
    from pytest_retrieval.model import ArmRow
    from pytest_retrieval.plugin.searching import SearchCorpora

NOTICE = "store-notice"  # in the run's folder
ASKING = ("corvint", "snapshot-latency", "context-packets")  # options that say what arms must be able to do


class BenchSession:
    """See the module's text; ``run_path`` is the private folder that all processes of the run share.

    ``witnesses`` are told of every answer, by the kind of its sample, in the process that keeps records.
    ``void`` is why the run may publish no report, if so.
    """

    def __init__(self, config: pytest.Config, run_path: Path) -> None:
        self.config = config
        self.run_path = run_path
        self.plan = Plan()
        self._folder: RunFolder | None = None
        self.witnesses: dict[str, Witness] = {}
        self.void: str | None = None

    @cached_property
    def settings(self) -> Settings:
        """The checked options."""
        return read_settings(self.config, self.run_path)

    @cached_property
    def judge(self) -> Judge:
        """The grading loop over the chosen arms; arms are built at their first query."""
        settings = self.settings
        if settings.snapshot_latency:
            from pytest_retrieval.bench.latency import LatencyJudge

            return LatencyJudge(
                settings.arms,
                settings.limit,
                self.roster.observed,
                self._witness,
                alternate=settings.alternate,
                explain=settings.explain,
                measures=settings.measures,
            )
        from pytest_retrieval.bench.judge import Judge

        return Judge(
            settings.arms,
            settings.limit,
            self._witness,
            explain=settings.explain,
            measures=settings.measures,
        )

    @cached_property
    def roster(self) -> Roster:
        """What the chosen arms say of themselves."""
        return Roster(self.settings.arms)

    @cached_property
    def store(self) -> Store | None:
        """What earlier runs read and counted; None to go without."""
        settings = self.settings
        return None if settings.store is None else Store(settings.store, settings.store_limit, self._notice)

    @cached_property
    def catalogs(self) -> Catalogs:
        """Where snapshots are."""
        return Catalogs(self.plan, self.store, self.run_path, self.config.rootpath)

    @cached_property
    def corpora(self) -> SearchCorpora:
        """The code-search corpora that suites ask for."""
        from pytest_retrieval.plugin.searching import SearchCorpora

        return SearchCorpora(self.settings, self.plan, self.catalogs, self.store)

    @cached_property
    def pool(self) -> Pool:
        """The samples that suites ask for."""
        return Pool(
            self.settings,
            self.plan,
            self.catalogs,
            searches=lambda: self.corpora,
            store=self.store,
            scratch=lambda: self.scratch,
        )

    @cached_property
    def baseline(self) -> Baseline | None:
        """The report that gates compare with, read once; only the controller asks for it."""
        settings = self.settings
        return settings.comparing.load(settings.gates, settings.report or settings.comparing.default_report)

    def notices(self) -> list[str]:
        """What processes of the run had to say of the store, one line at most; of arms; of matched calls."""
        path = self.run_path / NOTICE
        said = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
        if "roster" in self.__dict__:
            said += self.roster.notices
        differing = getattr(self.__dict__.get("judge"), "differing", 0)
        if differing:
            said.append(f"snapshot latency: {differing} matched calls differ in some byte of their output")
        return said

    def _notice(self, line: str) -> None:
        with suppress(OSError), (self.scratch / NOTICE).open("x", encoding="utf-8") as target:
            target.write(line)

    @property
    def scratch(self) -> Path:
        """A folder for this run's temporary files, made at first use and gone after the run."""
        if self._folder is None:
            self._folder = RunFolder.enter(self.run_path)
        return self.run_path

    def check(self) -> None:
        """Check the options, and load every file that a typed one names.

        What is wrong with one ends the run before it starts. Files of the ini file wait for their suite.
        """
        settings = self.settings
        if settings.report is not None and not settings.report.is_dir():  # one may be for several reports
            check_writable(settings.report)
        if any(options.from_command_line(self.config, name) for name in ASKING):
            self.roster.check(self.settings, self.config.option)
        if options.from_command_line(self.config, "snapshot"):
            for named in settings.snapshots:
                check_source(named)
        files = ("samples", "corpus", "snapshot", "release")
        if any(options.from_command_line(self.config, name) for name in files):
            self.pool.files({}, Path())
        if settings.search_corpora is not None and options.from_command_line(self.config, "corpora"):
            self.corpora.load(settings.search_corpora)
        if options.from_command_line(self.config, "baseline"):
            _ = self.baseline

    def open(self) -> None:
        """Hold the run's folder, and see that the programs of the arms are there, before the first item."""
        _ = self.scratch
        self.roster.check(self.settings, self.config.option)

    def get_ready(self) -> None:
        """Import what the first item needs; for a worker, which else would wait for its controller idly."""
        from pytest_retrieval.arms.registry import import_built_in

        _ = self.judge
        import_built_in(self.settings.arms)

    def check_plan(self, plan: Plan, further: Collection[str] = ()) -> None:
        """Check what was collected, and that there are the tasks that options name; ``further`` are some."""
        if plan.fault is not None:
            raise UsageError(plan.fault)
        check_choice(self.config.option.markexpr)
        judges: dict[tuple[str, int], str] = {}
        for nodeid, entry in plan.entries.items():
            other = judges.setdefault((entry.source, entry.row), nodeid)
            if other != nodeid:
                raise UsageError(f"{other} and {nodeid} judge one sample; do not parametrize a suite further")
        tasks, settings = sorted({*plan.tasks, *further}), self.settings
        if plan.refused:
            from pytest_retrieval.plugin.searching import check_searches

            check_searches(plan)
        for task in settings.tasks:
            if task not in tasks:
                known = f"{closest(task, tasks)}; known are {', '.join(tasks)}"
                raise UsageError(f"--retrieval-task-type: no sample has the task {task!r}{known}")

    def _witness(self, sample: Sample, label: str, arm: Arm | None, row: ArmRow) -> None:
        """Tell the records of the sample's kind of an answer, in the process that keeps them."""
        witness = self.witnesses.get(BENCH if sample.searched is None else SEARCHES)
        if witness is not None:
            witness(sample, label, arm, row)

    def measure(self, case: Case) -> Outcome:
        """Run every arm on one case."""
        sample = case.sample
        _ = self.scratch  # made, and held against a sweep, before anything is written below it

        def opened() -> Snapshot:
            return case.catalog.open(sample.repo, sample.commit)

        outcome = self.judge.judge(sample, opened)
        shown = self.catalogs.source_shown(case.catalog, sample.snapshot)
        if shown is None or outcome.snapshot is None:
            return outcome
        return replace(outcome, snapshot={**outcome.snapshot, "source": shown})

    def close(self) -> None:
        """Close arms and snapshots, and let go of the run's folder; who is the last to leave removes it."""
        try:
            if "judge" in self.__dict__:
                self.judge.close()  # anybody's code, which an interrupt must be able to end
        finally:
            with postponed_interrupts(), ExitStack() as closing:  # each has its turn, whatever fails
                if self._folder is not None:
                    closing.callback(self._folder.remove)
                if self.__dict__.get("store") is not None:
                    closing.callback(self.__dict__["store"].close)
                if "catalogs" in self.__dict__:
                    closing.callback(self.catalogs.close)
