"""What samples a run has: the files that its suites draw from, each read once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_retrieval import resources
from pytest_retrieval.datasets.release import Release, find_releases
from pytest_retrieval.datasets.samples import load_samples
from pytest_retrieval.errors import ReportError, UsageError
from pytest_retrieval.model import CODESEARCH, Sample, SampleFile
from pytest_retrieval.plugin.markers import texts_of
from pytest_retrieval.plugin.option_values import named_sources
from pytest_retrieval.plugin.plan import BENCH, SEARCHES, Entry, Plan
from pytest_retrieval.snapshots.catalog import Catalog
from pytest_retrieval.snapshots.sources import rebase

if TYPE_CHECKING:
    from pytest_retrieval.plugin.catalogs import Catalogs
    from pytest_retrieval.plugin.searching import SearchCorpora
    from pytest_retrieval.plugin.settings import Settings
    from pytest_retrieval.store.store import Store


@dataclass(frozen=True, slots=True)
class Case:
    """A sample as an item runs it: with the catalog that knows where its snapshot is."""

    sample: Sample
    catalog: Catalog


class Pool:
    """The samples of one process; what suites take is counted in ``plan``.

    ``searches`` gives the code-search corpora, which suites of their task draw from, ``scratch`` the folder
    that archives of releases are opened into.
    """

    def __init__(
        self,
        settings: Settings,
        plan: Plan,
        catalogs: Catalogs,
        *,
        searches: Callable[[], SearchCorpora],
        store: Store | None,
        scratch: Callable[[], Path],
    ) -> None:
        self._settings = settings
        self._plan = plan
        self._catalogs = catalogs
        self._searches = searches
        self._store = store
        self._scratch = scratch
        self._files: dict[tuple[Path, tuple[str, str] | None], SampleFile] = {}
        self._releases: dict[Path, tuple[Release, ...]] = {}
        self._asked: set[tuple[object, ...]] = set()
        self._rows: dict[tuple[str, int], str] = {}

    def suite(self, arguments: Mapping[str, Any], folder: Path) -> list[Case]:
        """The cases of a marker ``retrieval(...)`` on a test function whose file lies in ``folder``.

        A sample is judged once in a session, by the first suite that has it.
        """
        searched = CODESEARCH in texts_of(arguments, "task") and self._has_searches
        if searched:
            pool = self._searches().pool(self._corpora_path(arguments, folder))
        else:
            pool = self.files(arguments, folder)
        for sample_file, _ in pool:
            self._plan.add_source(sample_file)
        tasks = () if self._settings.samples else texts_of(arguments, "task")
        rows = [
            Case(sample, catalog)
            for sample_file, catalog in pool
            for sample in sample_file.samples
            if not tasks or sample.task in tasks
            if self._first_time(sample)
        ]
        kind = SEARCHES if searched else BENCH
        kept = [case for case in rows if case.sample.skip is None]
        self._plan.of[kind] += len(kept)
        self._plan.count_skipped((case.sample.skip for case in rows if case.sample.skip is not None), kind)
        return kept

    def files(self, arguments: Mapping[str, Any], folder: Path) -> list[tuple[SampleFile, Catalog]]:
        """The samples files that a suite draws from: the options' before the marker's before the embedded."""
        settings = self._settings
        corpora = (*settings.corpora, *(rebase(text, folder) for text in texts_of(arguments, "corpus")))
        named = (*settings.snapshots, *named_sources(texts_of(arguments, "snapshot"), folder))
        samples = settings.samples or tuple(folder / text for text in texts_of(arguments, "samples"))
        if samples:
            catalog = self._catalogs.of(corpora, named)
            default = (named[0].repo, named[0].commit) if len(named) == 1 else None
            return [(self._load(path, catalog, default), catalog) for path in samples]
        root = settings.release
        if root is None:
            texts = texts_of(arguments, "release")
            root = folder / texts[0] if texts else resources.embedded_release()
        releases = self._find_releases(root)
        own = dict.fromkeys(str(corpus) for release in releases for corpus in release.corpora)
        catalog = self._catalogs.of((*corpora, *own), named)
        return [(self._load(path, catalog), catalog) for release in releases for path in release.samples]

    def sample_of(self, plan: Plan, entry: Entry) -> Sample:
        """The sample of an ``entry`` of ``plan``, read again where this process has not collected it.

        Raises:
            RetrievalError: its file cannot be read any more, or has changed.
        """
        known = {sample_file.sha256: sample_file for sample_file in self._files.values()}
        if entry.source in plan.searched and entry.source not in known:
            return self._searches().sample(plan, entry)
        if entry.source not in known:
            path, default = plan.places[entry.source]
            again = load_samples(Path(path), default=default, allow_labels=True)
            if again.sha256 != entry.source:
                raise ReportError(f"{path}: changed while the benchmark ran")
            known[entry.source] = self._files[Path(path), default] = again
        return known[entry.source].samples[entry.row]

    @property
    def _has_searches(self) -> bool:
        """Whether code-search corpora are run: not beside samples or a release, unless they are asked for."""
        settings = self._settings
        return settings.search_corpora is not None or not (settings.samples or settings.release)

    def _corpora_path(self, arguments: Mapping[str, Any], folder: Path) -> Path:
        """The file of corpora: the option's before the marker's before the embedded."""
        named = texts_of(arguments, "corpora")
        return self._settings.search_corpora or (folder / named[0] if named else resources.embedded_corpora())

    def _find_releases(self, root: Path) -> tuple[Release, ...]:
        if root not in self._releases:
            self._releases[root] = find_releases(root, self._scratch(), self._store)
        return self._releases[root]

    def _load(self, path: Path, catalog: Catalog, default: tuple[str, str] | None = None) -> SampleFile:
        if (path, default) not in self._files:
            shown = self._catalogs.shown(path)
            loaded = load_samples(path, default=default, shown=shown, allow_labels=catalog.labels)
            self._files[path, default] = loaded
            self._plan.places[loaded.sha256] = (str(path), default)
        return self._files[path, default]

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
