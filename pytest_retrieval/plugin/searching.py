"""The code-search corpora of a run: read, held against what is on the machine, and made into samples."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_retrieval.datasets.corpora import CodeCorpus, CorporaFile, load_corpora, samples_of
from pytest_retrieval.engines.trees import Corpus as SearchTree
from pytest_retrieval.errors import ReportError, UsageError
from pytest_retrieval.model import CODESEARCH
from pytest_retrieval.snapshots.catalog import Catalog, NamedSource
from pytest_retrieval.snapshots.kept import Keeper
from pytest_retrieval.snapshots.pinned import Checked, check_corpus, narrowed

if TYPE_CHECKING:
    from pytest_retrieval.model import Sample, SampleFile
    from pytest_retrieval.plugin.catalogs import Catalogs
    from pytest_retrieval.plugin.plan import Entry, Plan
    from pytest_retrieval.plugin.settings import Settings
    from pytest_retrieval.store.store import Store

Pool = list[tuple["SampleFile", Catalog]]


class SearchCorpora:
    """The corpora that suites ask for, each file read once; what is found is noted in ``plan``."""

    def __init__(self, settings: Settings, plan: Plan, catalogs: Catalogs, store: Store | None) -> None:
        self._settings = settings
        self._plan = plan
        self._catalogs = catalogs
        self._store = store
        self._files: dict[Path, CorporaFile] = {}
        self._pools: dict[Path, Pool] = {}

    def load(self, path: Path) -> CorporaFile:
        """The corpora that the file ``path`` lists, where the run's root has them."""
        if path not in self._files:
            self._files[path] = load_corpora(path.absolute(), self._settings.corpora_root)
        return self._files[path]

    def pool(self, path: Path) -> Pool:
        """The query sets of the file ``path`` as samples, with the catalog that knows their trees.

        A corpus that cannot be scored is noted as refused, which ends a run that chose any of its queries.
        """
        if path not in self._pools:
            listed = self.load(path)
            self._plan.notices += listed.warnings
            checked = [(corpus, self._checked(corpus)) for corpus in listed.corpora]
            kept = [(corpus, found) for corpus, found in checked if found.skipped is None]
            self._pools[path] = self._made(path, kept)
        return self._pools[path]

    def sample(self, plan: Plan, entry: Entry) -> Sample:
        """The sample of ``entry``, read again.

        Raises:
            RetrievalError: its corpus cannot be read any more, or has changed.
        """
        path, name = plan.searched[entry.source]
        for corpus in self.load(Path(path)).corpora:
            if corpus.name == name and corpus.digest == entry.source:
                return samples_of(corpus, "", entry.commit).samples[entry.row]
        raise ReportError(f"{path}: corpus {name!r} changed while the benchmark ran")

    def _checked(self, corpus: CodeCorpus) -> Checked:
        plan = self._plan
        checked = check_corpus(corpus, Keeper(self._store, corpus.repository))
        if checked.skipped is not None:
            plan.count_skipped([checked.skipped] * len(corpus.query_set), CODESEARCH)
        if checked.faults:
            plan.refused[corpus.repository] = list(checked.faults)
        plan.notices += checked.warnings
        return checked

    def _made(self, path: Path, kept: list[tuple[CodeCorpus, Checked]]) -> Pool:
        sources = [NamedSource(corpus.repository, found.commit, corpus.source) for corpus, found in kept]
        narrowing = {
            source.name: partial(narrowed, subdirs=corpus.subdirs, texts_only=corpus.distribution is not None)
            for source, (corpus, _) in zip(sources, kept, strict=True)
        }
        catalog = self._catalogs.narrowed(sources, narrowing)
        pool = []
        for source, (corpus, found) in zip(sources, kept, strict=True):
            self._settings.search_trees[source.name] = SearchTree(corpus.name, corpus.lang, corpus.subdirs)
            self._plan.searched[corpus.digest] = (str(path), corpus.name)
            pool.append((samples_of(corpus, self._catalogs.shown(corpus.queries), found.commit), catalog))
        return pool


def check_searches(plan: Plan) -> None:
    """Refuse to score queries of a corpus that is not what its query set was written for.

    Raises:
        UsageError: with every path and span that does not resolve.
    """
    chosen = {entry.repo for entry in plan.entries.values()}
    refused = {repo: listed for repo, listed in sorted(plan.refused.items()) if repo in chosen}
    if refused:
        others = " or ".join(f"sample(repo='{repo}')" for repo in refused)
        faults = [fault for listed in refused.values() for fault in listed]
        raise UsageError("\n".join([*faults, f'to leave out what cannot be scored: -m "not ({others})"']))


def search_groups(plan: Plan, corpora: SearchCorpora) -> list[str]:
    """The groups that only code searches have: those of the query sets that were collected."""
    names: set[str] = set()
    kinds: set[str] = set()
    for digest, (path, name) in plan.searched.items():
        names.add(name)
        for corpus in corpora.load(Path(path)).corpora:
            if corpus.digest == digest:
                kinds.update(query.difficulty for query in corpus.query_set)
    return [*(f"corpus:{name}" for name in sorted(names)), *(f"difficulty:{kind}" for kind in sorted(kinds))]
