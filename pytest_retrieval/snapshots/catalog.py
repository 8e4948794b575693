"""Where the snapshot of ``repo@commit`` is found; the latest few stay open."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from pytest_retrieval.errors import SnapshotError
from pytest_retrieval.snapshots.archive import ARCHIVE_FILE, ArchiveCorpus
from pytest_retrieval.snapshots.base import Snapshot, Tree
from pytest_retrieval.snapshots.corpus import Corpus, Library
from pytest_retrieval.snapshots.kept import Keeper
from pytest_retrieval.snapshots.program import HEX
from pytest_retrieval.snapshots.sources import NamedSource, parse_snapshot_option, read_source
from pytest_retrieval.store.store import Store

__all__ = ["Catalog", "NamedSource", "parse_snapshot_option"]

_KEPT_OPEN = 2


class Catalog:
    """Every source that a run was given.

    ``explicit`` maps ``repo@commit`` to a source as typed and comes first; then each of ``corpora`` in order
    (``DIR`` or ``DIR?view=arb``, or what an archive was opened as). ``scratch`` holds work
    trees, ``store`` what was read before. ``narrowing`` gives by ``repo@commit`` the part of a tree that is
    under test.
    """

    def __init__(
        self,
        explicit: Mapping[str, str],
        corpora: Sequence[str | Path],
        scratch: Path | None = None,
        store: Store | None = None,
        narrowing: Mapping[str, Callable[[Tree], Tree]] | None = None,
    ) -> None:
        self._explicit = dict(explicit)
        self._narrowing = narrowing or {}
        self._libraries = [_library(place, store) for place in dict.fromkeys(corpora)]
        self._scratch = scratch
        self._store = store
        self._sizes: dict[tuple[str, str], int] = {}
        self._open: OrderedDict[tuple[str, str], Snapshot] = OrderedDict()

    def expect(self, names: Iterable[tuple[str, str]]) -> None:
        """Say which ``(repo, commit)`` a run will ask for, so that archives are read for these alone.

        Called once, by the controller, before any process opens a snapshot.
        """
        wanted = tuple(names)
        for library in self._libraries:
            if isinstance(library, ArchiveCorpus):
                library.expect(wanted)

    @property
    def labels(self) -> frozenset[str]:
        """The commits whose snapshots are named one by one, so that they may be any label."""
        named = {name.rpartition("@")[2] for name in self._explicit}
        return frozenset(named).union(*(lib.labels for lib in self._libraries if isinstance(lib, Corpus)))

    def open(self, repo: str, commit: str) -> Snapshot:
        """The snapshot of ``repo@commit``; all but the latest two are closed.

        Raises:
            SnapshotError: nothing serves it, or what does cannot be read.
        """
        key = (repo, commit)
        if key not in self._open:
            while len(self._open) >= _KEPT_OPEN:
                self._open.popitem(last=False)[1].close()
            source, tree = self._read(repo, commit)
            narrow = self._narrowing.get(f"{repo}@{commit}")
            tree = tree if narrow is None else narrow(tree)
            self._open[key] = Snapshot(repo, commit, source, tree, self._scratch, store=self._store)
        self._open.move_to_end(key)
        return self._open[key]

    def size(self, repo: str, commit: str) -> int:
        """The bytes of the chunk file of ``repo@commit``; 0 where that takes more than a look."""
        key = (repo, commit)
        if key not in self._sizes:
            self._sizes[key] = self._size(repo, commit)
        return self._sizes[key]

    def _size(self, repo: str, commit: str) -> int:
        if f"{repo}@{commit}" in self._explicit:
            return 0
        found = (library.size(repo, commit) for library in self._libraries if isinstance(library, Corpus))
        return next(filter(None, found), 0)

    def close(self) -> None:
        """Close every snapshot that is open; harmless when repeated."""
        while self._open:
            self._open.popitem()[1].close()

    def _read(self, repo: str, commit: str) -> tuple[str, Tree]:
        name = f"{repo}@{commit}"
        keeper = Keeper(self._store, repo)
        if name in self._explicit:
            return self._explicit[name], read_source(self._explicit[name], commit, keeper=keeper)
        for library in self._libraries:
            source = library.find(repo, commit)
            if source is not None:
                return source, library.read(source, commit, keeper)
        count = len(self._libraries)
        searched = f"0 matches in {count} corpora" if count else "no corpus was given"
        if not HEX.fullmatch(commit):
            searched += ", and its commit is not 40 or 64 lower-case hex digits"
        remedy = f"give --snapshot {name}=SOURCE or --corpus DIR"
        raise SnapshotError(f"no snapshot for {name}: {searched}; {remedy}")


def _library(place: str | Path, store: Store | None) -> Library:
    path = Path(place)
    return ArchiveCorpus(path, store) if (path / ARCHIVE_FILE).is_file() else Corpus(place)
