"""The indexes of this process: one for each tree, whatever the number of arms and snapshots that ask."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from pytest_retrieval.index.growing import GrowingLexicon
from pytest_retrieval.index.snapshot_index import SnapshotIndex
from pytest_retrieval.index.statistics import Statistics

if TYPE_CHECKING:
    from pytest_retrieval.snapshots.base import Snapshot

KEPT = 1  # index; items are ordered by snapshot, so an older one is rarely asked for again


class Indexes:
    """Builds the index of a snapshot, and keeps the latest few by tree digest."""

    def __init__(self, statistics: Statistics, kept: int = KEPT) -> None:
        self._statistics = statistics
        self._latest: OrderedDict[str, SnapshotIndex] = OrderedDict()
        self._kept = kept
        self._lexicon = GrowingLexicon()

    def of(self, snapshot: Snapshot) -> SnapshotIndex:
        """The index of ``snapshot``, built at the first call for its tree.

        Raises:
            SnapshotError: a content cannot be read.
        """
        tree = snapshot.tree_digest
        if tree not in self._latest:
            counts = self._statistics.of(snapshot)
            index = SnapshotIndex(snapshot.paths, counts, self._statistics.vocabulary, self._lexicon)
            index.state = self._statistics.state
            self._latest[tree] = index
        self._latest.move_to_end(tree)
        while len(self._latest) > self._kept:
            self._latest.popitem(last=False)
        return self._latest[tree]

    def forget(self) -> None:
        """Let go of all that is held; the next call begins anew."""
        self._latest.clear()
        self._lexicon = GrowingLexicon()
        self._statistics.forget()


_indexes = Indexes(Statistics())


def index_of(snapshot: Snapshot) -> SnapshotIndex:
    """The index of ``snapshot`` that all lexical arms of this process share."""
    return _indexes.of(snapshot)


def forget_indexes() -> None:
    """Let go of what this process holds for its lexical arms, for they are done.

    To give it back takes a tenth of a second, which a worker has while the report is made.
    """
    _indexes.forget()
