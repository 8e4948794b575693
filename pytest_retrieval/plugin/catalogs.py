"""Where the snapshots of a run are: a catalog for each set of sources, and how reports show these."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_retrieval import resources
from pytest_retrieval.snapshots.archive import member_shown
from pytest_retrieval.snapshots.catalog import Catalog
from pytest_retrieval.snapshots.sources import NamedSource, shown_from, split_view

if TYPE_CHECKING:
    from pytest_retrieval.plugin.plan import Plan
    from pytest_retrieval.snapshots.base import Tree
    from pytest_retrieval.store.store import Store


class Catalogs:
    """The catalogs of one process, each made once; their sources are noted in ``plan``.

    ``run_path`` is the private folder of the run, ``root`` the folder that shown paths are relative to.
    """

    def __init__(self, plan: Plan, store: Store | None, run_path: Path, root: Path) -> None:
        self._plan = plan
        self._store = store
        self._run_path = run_path
        self._root = root
        self._made: list[Catalog] = []
        self._by_sources: dict[tuple[tuple[str, ...], tuple[NamedSource, ...]], Catalog] = {}
        self._shown: dict[tuple[Catalog, str], str] = {}

    def of(self, corpora: Sequence[str], named: Sequence[NamedSource]) -> Catalog:
        """The catalog that looks first among the ``named`` snapshots, then in each of the ``corpora``."""
        key = (tuple(corpora), tuple(named))
        if key not in self._by_sources:
            self._by_sources[key] = self._catalog(named, corpora)
            for corpus in corpora:
                place, view = split_view(corpus)
                shown = self.shown(Path(place).absolute()) + (f"?view={view}" if view else "")
                self._plan.corpora.setdefault(shown, corpus)
        return self._by_sources[key]

    def narrowed(
        self, named: Sequence[NamedSource], narrowing: Mapping[str, Callable[[Tree], Tree]]
    ) -> Catalog:
        """A new catalog of the ``named`` snapshots, of which ``narrowing`` gives the part under test."""
        return self._catalog(named, (), narrowing)

    def source_shown(self, catalog: Catalog, snapshot: str) -> str | None:
        """How reports show the source of ``repo@commit``, if it was named one by one."""
        return self._shown.get((catalog, snapshot))

    def shown(self, path: Path) -> str:
        """The path as reports show it: relative to the root directory or the package where it lies there."""
        path = Path(os.path.normpath(path))
        for base in (self._root, resources.embedded_release()):
            if path.is_relative_to(base):
                return path.relative_to(base).as_posix()
        return member_shown(path, self._run_path) or str(path)

    def expect(self, names: Iterable[tuple[str, str]]) -> None:
        """Say which ``(repo, commit)`` will be asked for, so that archives are read for these alone."""
        wanted = sorted(names)
        for catalog in self._made:
            catalog.expect(wanted)

    def close(self) -> None:
        """Close every snapshot that is open, whatever fails with one of them."""
        with ExitStack() as closing:
            for catalog in self._made:
                closing.callback(catalog.close)

    def _catalog(
        self,
        named: Sequence[NamedSource],
        corpora: Sequence[str],
        narrowing: Mapping[str, Callable[[Tree], Tree]] | None = None,
    ) -> Catalog:
        explicit = {source.name: source.source for source in named}
        catalog = Catalog(explicit, corpora, self._run_path, self._store, narrowing)
        self._made.append(catalog)
        for source in named:
            shown = shown_from(self._root, source.source)
            self._shown[catalog, source.name] = shown
            self._plan.explicit.setdefault(source.name, (source.source, shown))
        return catalog
