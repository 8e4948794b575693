"""What the lexical arms have in common: the shared index, and the way from scores to an answer."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from itertools import islice

from pytest_retrieval.arms.base import Arm
from pytest_retrieval.index import SnapshotIndex, index_of
from pytest_retrieval.model import Answer, Hit, Query
from pytest_retrieval.snapshots.base import Snapshot


class LexicalArm(Arm):
    """An arm over the snapshot's index; a subclass says which files have a score, best first."""

    baseline = True
    index: SnapshotIndex

    def prepare(self, snapshot: Snapshot) -> None:
        """Build the index, or take the one that another arm built."""
        super().prepare(snapshot)
        self.index = index_of(snapshot)

    def rank(self, query: Query) -> Answer:
        """The best ``query.limit`` files without the given ones; no file with a score is an abstention.

        ``top_score`` is the score of the first of them.
        """
        given = set(query.given)
        paths = self.index.paths
        scored = ((paths[row], score) for row, score in self.scored(query))
        ranked = islice(((path, score) for path, score in scored if path not in given), query.limit)
        hits = tuple(Hit(path, score) for path, score in ranked)
        return Answer(hits=hits, top_score=hits[0].score if hits else None, abstained=not hits)

    @abstractmethod
    def scored(self, query: Query) -> Iterable[tuple[int, float]]:
        """The rows of the files with a score above zero, best first, each with its score."""
