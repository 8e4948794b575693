"""The state of one process of a run: settings, samples, snapshots and arms, each made when first needed.

The controller and every worker hold one. Nothing is built before a bench item is collected, and nothing
but samples is read before the first one runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_retrieval import resources
from pytest_retrieval.bench.judge import Judge, Outcome
from pytest_retrieval.datasets.release import Release, find_releases
from pytest_retrieval.datasets.samples import load_samples
from pytest_retrieval.errors import UsageError, closest
from pytest_retrieval.model import Sample, SampleFile
from pytest_retrieval.plugin import options
from pytest_retrieval.plugin.plan import Plan
from pytest_retrieval.plugin.settings import Settings, read_settings
from pytest_retrieval.snapshots.base import Snapshot
from pytest_retrieval.snapshots.catalog import Catalog, rebase
from pytest_retrieval.snapshots.scratch import RunFolder

if TYPE_CHECKING:
    import pytest

MARKER_ARGUMENTS = ("task", "samples", "corpus", "snapshot", "release")


@dataclass(frozen=True, slots=True)
class Case:
    """A sample as an item runs it: with the catalog that knows where its snapshot is."""

    sample: Sample
    catalog: Catalog


@dataclass(frozen=True, slots=True)
class Suite:
    """What one marked test function judges: the cases, and of how many they are a choice."""

    cases: tuple[Case, ...]
    of: int


class BenchSession:
    """See the module's text; ``run_path`` is the private folder that all processes of the run share."""

    def __init__(self, config: pytest.Config, run_path: Path) -> None:
        self.config = config
        self.run_path = run_path
        self.plan = Plan()
        self._files: dict[Path, SampleFile] = {}
        self._catalogs: dict[tuple[tuple[str, ...], tuple[str, ...]], Catalog] = {}
        self._releases: dict[Path, tuple[Release, ...]] = {}
        self._taken: set[tuple[object, ...]] = set()
        self._folder: RunFolder | None = None

    @cached_property
    def settings(self) -> Settings:
        """The checked options."""
        return read_settings(self.config)

    @cached_property
    def judge(self) -> Judge:
        """The grading loop over the chosen arms; arms are built at their first query."""
        return Judge(self.settings.arms, self.settings.limit)

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
        from pytest_retrieval.report.write import check_writable

        settings = self.settings
        if settings.explicit_report:
            check_writable(settings.report)
        if not any(options.from_command_line(self.config, name) for name in ("samples", "release")):
            return
        if settings.samples:
            catalog = self._catalog(settings.corpora, settings.snapshots)
            for path in settings.samples:
                self._load(path, catalog)
        elif settings.release is not None:
            for release in self._find_releases(settings.release):
                for path in release.samples:
                    self._load(path, self._catalog(self._release_corpora(settings.release), settings.snapshots))

    def suite(self, arguments: Mapping[str, Any], folder: Path) -> Suite:
        """The cases of a marker ``retrieval(...)`` on a test function whose file lies in ``folder``.

        A sample is judged once in a session, by the first suite that has it.
        """
        pool = self._pool(arguments, folder)
        for sample_file, _ in pool:
            self.plan.add_source(sample_file)
        task = None if self.settings.samples else arguments.get("task")
        rows = [
            Case(sample, catalog)
            for sample_file, catalog in pool
            for sample in sample_file.samples
            if task is None or sample.task == task
            if self._first_time(sample)
        ]
        kept = [case for case in rows if case.sample.skip is None]
        self.plan.count_skipped(case.sample.skip for case in rows if case.sample.skip is not None)
        tasks = self.settings.tasks
        chosen = [case for case in kept if not tasks or case.sample.task in tasks]
        return Suite(tuple(chosen[: self.settings.max_samples]), len(kept))

    def measure(self, case: Case) -> Outcome:
        """Run every arm on one case."""
        sample = case.sample

        def opened() -> Snapshot:
            return case.catalog.open(sample.repo, sample.commit)

        return self.judge.judge(sample, opened)

    def close(self) -> None:
        """Close arms and snapshots; on the process that owns the run, remove its folder."""
        if "judge" in self.__dict__:
            self.judge.close()
        for catalog in self._catalogs.values():
            catalog.close()
        if self._folder is not None:
            self._folder.close()

    def _pool(self, arguments: Mapping[str, Any], folder: Path) -> list[tuple[SampleFile, Catalog]]:
        """The samples files that a suite draws from: the options' before the marker's before the embedded."""
        settings = self.settings
        corpora = (*settings.corpora, *(rebase(text, folder) for text in _texts(arguments, "corpus")))
        snapshots = (*settings.snapshots, *(rebase(text, folder) for text in _texts(arguments, "snapshot")))
        samples = settings.samples or tuple(folder / text for text in _texts(arguments, "samples"))
        if samples:
            catalog = self._catalog(corpora, snapshots)
            return [(self._load(path, catalog), catalog) for path in samples]
        root = settings.release
        if root is None:
            named = _texts(arguments, "release")
            root = folder / named[0] if named else resources.embedded_release()
        catalog = self._catalog((*corpora, *self._release_corpora(root)), snapshots)
        releases = self._find_releases(root)
        return [(self._load(path, catalog), catalog) for release in releases for path in release.samples]

    def _find_releases(self, root: Path) -> tuple[Release, ...]:
        if root not in self._releases:
            self._releases[root] = find_releases(root, self.run_path)
        return self._releases[root]

    def _release_corpora(self, root: Path) -> tuple[str, ...]:
        corpora = (str(corpus) for release in self._find_releases(root) for corpus in release.corpora)
        return tuple(dict.fromkeys(corpora))

    def _catalog(self, corpora: Sequence[str], snapshots: Sequence[str]) -> Catalog:
        key = (tuple(corpora), tuple(snapshots))
        if key not in self._catalogs:
            self._catalogs[key] = Catalog(snapshots=key[1], corpora=key[0], scratch=lambda: self.scratch)
        return self._catalogs[key]

    def _load(self, path: Path, catalog: Catalog) -> SampleFile:
        if path not in self._files:
            shown = self._shown(path)
            self._files[path] = load_samples(
                path, default=catalog.default, allow_labels=catalog.labels, shown=shown
            )
        return self._files[path]

    def _shown(self, path: Path) -> str:
        """The path as reports show it: relative to the root directory or the package where it lies there."""
        for base in (self.config.rootpath, resources.embedded_release()):
            if path.is_relative_to(base):
                return path.relative_to(base).as_posix()
        return str(path)

    def _first_time(self, sample: Sample) -> bool:
        key = (sample.id, sample.ordinal, sample.task, sample.repo, sample.commit)
        if key in self._taken:
            return False
        self._taken.add(key)
        return True


def check_marker(positional: Sequence[object], arguments: Mapping[str, object]) -> None:
    """Refuse arguments of the ``retrieval`` marker that mean nothing."""
    known = ", ".join(MARKER_ARGUMENTS)
    if positional:
        raise UsageError(f"marker retrieval: takes named arguments only ({known}), not {positional[0]!r}")
    for name in arguments:
        if name not in MARKER_ARGUMENTS:
            raise UsageError(
                f"marker retrieval: unknown argument {name!r}{closest(name, MARKER_ARGUMENTS)} (known: {known})"
            )


def _texts(arguments: Mapping[str, Any], name: str) -> tuple[str, ...]:
    value = arguments.get(name)
    if value is None:
        return ()
    values = value if isinstance(value, list | tuple) else (value,)
    if not all(isinstance(text, str | Path) and str(text) for text in values):
        raise UsageError(f"marker retrieval: {name} must be a path or a list of paths, not {value!r:.80}")
    return tuple(str(text) for text in values)
