"""The state of one process of a run: settings, samples, snapshots and arms, each made when first needed.

The controller and every worker hold one. Nothing is built before a bench item is collected, and nothing
but samples is read before the first one runs.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_retrieval import resources
from pytest_retrieval.datasets.release import Release, find_releases
from pytest_retrieval.datasets.samples import load_samples
from pytest_retrieval.errors import ReportError, UsageError, closest
from pytest_retrieval.model import CODESEARCH, Sample, SampleFile
from pytest_retrieval.plugin import options
from pytest_retrieval.plugin.markers import check_choice, check_source, texts_of
from pytest_retrieval.plugin.plan import BENCH, SEARCHES, Entry, Plan
from pytest_retrieval.plugin.roster import Roster
from pytest_retrieval.plugin.settings import Settings, named_sources, read_settings
from pytest_retrieval.programs.interrupts import postponed_interrupts
from pytest_retrieval.report.write import check_writable
from pytest_retrieval.snapshots.archive import member_shown
from pytest_retrieval.snapshots.base import Snapshot
from pytest_retrieval.snapshots.catalog import Catalog
from pytest_retrieval.snapshots.scratch import RunFolder
from pytest_retrieval.snapshots.sources import NamedSource, rebase, shown_from, split_view
from pytest_retrieval.store.store import Store

if TYPE_CHECKING:
    import pytest

    from pytest_retrieval.arms.base import Arm
    from pytest_retrieval.bench.judge import Judge, Outcome, Witness
    from pytest_retrieval.gates.baseline import Baseline
    from pytest_retrieval.model import ArmRow
    from pytest_retrieval.plugin.gathering import Gathering
    from pytest_retrieval.plugin.harvest import Place
    from pytest_retrieval.plugin.searching import SearchCorpora

SEARCHED = "codesearch"  # where a catalog's corpora would be named
NOTICE = "store-notice"  # in the run's folder
ASKING = ("corvint", "snapshot-latency", "context-packets")  # options that say what arms must be able to do


@dataclass(frozen=True, slots=True)
class Case:
    """A sample as an item runs it: with the catalog that knows where its snapshot is."""

    sample: Sample
    catalog: Catalog


class BenchSession:
    """See the module's text; ``run_path`` is the private folder that all processes of the run share.

    ``void`` is why the run may publish no report, if so.
    """

    def __init__(self, config: pytest.Config, run_path: Path) -> None:
        self.config = config
        self.run_path = run_path
        self.plan = Plan()
        self._files: dict[tuple[Path, tuple[str, str] | None], SampleFile] = {}
        self._shown_sources: dict[tuple[Catalog, str], str] = {}
        self._catalogs: dict[tuple[tuple[str, ...], tuple[NamedSource, ...]], Catalog] = {}
        self._releases: dict[Path, tuple[Release, ...]] = {}
        self._asked: set[tuple[object, ...]] = set()
        self._rows: dict[tuple[str, int], str] = {}
        self._folder: RunFolder | None = None
        self._witnesses: dict[str, Witness] = {}
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
            self._pool({}, Path())
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

    def harvest(self, plan: Plan, place: Place) -> Gathering:
        """What gathers the samples of ``plan``, which are of one kind; its registration is written.

        Raises:
            RetrievalError: it, or the report, may not be where it is to go.
        """
        from pytest_retrieval.plugin.gathering import Gathering
        from pytest_retrieval.plugin.records import Records

        records = Records(self, plan, place)
        records.open()
        self._witnesses[place.kind] = records.witness
        return Gathering(self, plan, records, place)

    def _witness(self, sample: Sample, label: str, arm: Arm | None, row: ArmRow) -> None:
        """Tell the records of the sample's kind of an answer, in the process that keeps them."""
        witness = self._witnesses.get(BENCH if sample.searched is None else SEARCHES)
        if witness is not None:
            witness(sample, label, arm, row)

    def expect(self, plan: Plan) -> None:
        """Tell the catalogs which snapshots will be asked for, so that archives are read for these alone."""
        names = {(entry.repo, entry.commit) for entry in plan.entries.values()}
        for catalog in self._catalogs.values():
            catalog.expect(sorted(names))

    def suite(self, arguments: Mapping[str, Any], folder: Path) -> list[Case]:
        """The cases of a marker ``retrieval(...)`` on a test function whose file lies in ``folder``.

        A sample is judged once in a session, by the first suite that has it.
        """
        searched = CODESEARCH in texts_of(arguments, "task") and self._searches
        if searched:
            pool = self.corpora.pool(self._corpora_path(arguments, folder))
        else:
            pool = self._pool(arguments, folder)
        for sample_file, _ in pool:
            self.plan.add_source(sample_file)
        tasks = () if self.settings.samples else texts_of(arguments, "task")
        rows = [
            Case(sample, catalog)
            for sample_file, catalog in pool
            for sample in sample_file.samples
            if not tasks or sample.task in tasks
            if self._first_time(sample)
        ]
        kind = SEARCHES if searched else BENCH
        self.plan.of[kind] += sum(case.sample.skip is None for case in rows)
        self.plan.count_skipped((case.sample.skip for case in rows if case.sample.skip is not None), kind)
        return [case for case in rows if case.sample.skip is None]

    def measure(self, case: Case) -> Outcome:
        """Run every arm on one case."""
        sample = case.sample
        _ = self.scratch  # made, and held against a sweep, before anything is written below it

        def opened() -> Snapshot:
            return case.catalog.open(sample.repo, sample.commit)

        outcome = self.judge.judge(sample, opened)
        shown = self._shown_sources.get((case.catalog, sample.snapshot))
        if shown is None or outcome.snapshot is None:
            return outcome
        return replace(outcome, snapshot={**outcome.snapshot, "source": shown})

    def sample_of(self, plan: Plan, entry: Entry) -> Sample:
        """The sample of an ``entry`` of ``plan``, read again where this process has not collected it.

        Raises:
            RetrievalError: its file cannot be read any more, or has changed.
        """
        known = {sample_file.sha256: sample_file for sample_file in self._files.values()}
        if entry.source in plan.searched and entry.source not in known:
            return self.corpora.sample(plan, entry)
        if entry.source not in known:
            path, default = plan.places[entry.source]
            again = load_samples(Path(path), default=default, allow_labels=True)
            if again.sha256 != entry.source:
                raise ReportError(f"{path}: changed while the benchmark ran")
            known[entry.source] = self._files[Path(path), default] = again
        return known[entry.source].samples[entry.row]

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
                for catalog in self._catalogs.values():
                    closing.callback(catalog.close)

    @cached_property
    def corpora(self) -> SearchCorpora:
        """The code-search corpora that suites ask for."""
        from pytest_retrieval.plugin.searching import SearchCorpora

        return SearchCorpora(self)

    @property
    def _searches(self) -> bool:
        """Whether code-search corpora are run: not beside samples or a release, unless they are asked for."""
        settings = self.settings
        return settings.search_corpora is not None or not (settings.samples or settings.release)

    def _corpora_path(self, arguments: Mapping[str, Any], folder: Path) -> Path:
        """The file of corpora: the option's before the marker's before the embedded."""
        named = texts_of(arguments, "corpora")
        return self.settings.search_corpora or (folder / named[0] if named else resources.embedded_corpora())

    def hold(self, catalog: Catalog, sources: Iterable[NamedSource]) -> None:
        """Take on a catalog of named sources: it is closed with the run, and reports show its sources."""
        self._catalogs[(SEARCHED,), tuple(sources)] = catalog
        self._show(catalog, sources)

    def _show(self, catalog: Catalog, sources: Iterable[NamedSource]) -> None:
        for source in sources:
            shown = shown_from(self.config.rootpath, source.source)
            self._shown_sources[catalog, source.name] = shown
            self.plan.explicit.setdefault(source.name, (source.source, shown))

    def _pool(self, arguments: Mapping[str, Any], folder: Path) -> list[tuple[SampleFile, Catalog]]:
        """The samples files that a suite draws from: the options' before the marker's before the embedded."""
        settings = self.settings
        corpora = (*settings.corpora, *(rebase(text, folder) for text in texts_of(arguments, "corpus")))
        named = (*settings.snapshots, *named_sources(texts_of(arguments, "snapshot"), folder))
        samples = settings.samples or tuple(folder / text for text in texts_of(arguments, "samples"))
        if samples:
            catalog = self._catalog(corpora, named)
            default = (named[0].repo, named[0].commit) if len(named) == 1 else None
            return [(self._load(path, catalog, default), catalog) for path in samples]
        root = settings.release
        if root is None:
            texts = texts_of(arguments, "release")
            root = folder / texts[0] if texts else resources.embedded_release()
        releases = self._find_releases(root)
        own = dict.fromkeys(str(corpus) for release in releases for corpus in release.corpora)
        catalog = self._catalog((*corpora, *own), named)
        return [(self._load(path, catalog), catalog) for release in releases for path in release.samples]

    def _find_releases(self, root: Path) -> tuple[Release, ...]:
        if root not in self._releases:
            self._releases[root] = find_releases(root, self.scratch, self.store)
        return self._releases[root]

    def _catalog(self, corpora: Sequence[str], named: Sequence[NamedSource]) -> Catalog:
        key = (tuple(corpora), tuple(named))
        if key not in self._catalogs:
            explicit = {source.name: source.source for source in named}
            catalog = self._catalogs[key] = Catalog(explicit, corpora, self.run_path, self.store)
            self._show(catalog, named)
            for corpus in corpora:
                place, view = split_view(corpus)
                shown = self.shown(Path(place).absolute()) + (f"?view={view}" if view else "")
                self.plan.corpora.setdefault(shown, corpus)
        return self._catalogs[key]

    def _load(self, path: Path, catalog: Catalog, default: tuple[str, str] | None = None) -> SampleFile:
        if (path, default) not in self._files:
            shown = self.shown(path)
            loaded = load_samples(path, default=default, shown=shown, allow_labels=catalog.labels)
            self._files[path, default] = loaded
            self.plan.places[loaded.sha256] = (str(path), default)
        return self._files[path, default]

    def shown(self, path: Path) -> str:
        """The path as reports show it: relative to the root directory or the package where it lies there."""
        path = Path(os.path.normpath(path))
        for base in (self.config.rootpath, resources.embedded_release()):
            if path.is_relative_to(base):
                return path.relative_to(base).as_posix()
        return member_shown(path, self.run_path) or str(path)

    def _first_time(self, sample: Sample) -> bool:
        """Whether no suite has this question yet; releases repeat samples of one another."""
        snapshot = self._rows.setdefault((sample.source, sample.row), sample.snapshot)
        if snapshot != sample.snapshot:
            raise UsageError(
                f"sample {sample.id!r}: one session cannot judge a row against two snapshots, "
                f"{snapshot} and {sample.snapshot}; run the suites one by one"
            )
        key = (sample.id, sample.ordinal, sample.task, sample.snapshot, sample.query_text, sample.gold)
        known = key in self._asked
        self._asked.add(key)
        return not known
