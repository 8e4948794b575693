"""What the lexical arms have in common: the shared index, and the way from scores to an answer.

Where lines are judged, each ranked file comes with the lines in which words of the query stand together.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from itertools import islice
from weakref import WeakKeyDictionary

from pytest_retrieval.arms.base import Arm
from pytest_retrieval.index import SnapshotIndex, forget_indexes, index_of
from pytest_retrieval.model import Answer, Capabilities, Gold, Hit, Query
from pytest_retrieval.snapshots.base import Snapshot
from pytest_retrieval.text.passages import passages

_PER_FILE = (1, 2, 3)
# What each index took whoever built it first, for the arms share it and only one of them waits.
_BUILT: WeakKeyDictionary[SnapshotIndex, float] = WeakKeyDictionary()

Passages = list[tuple[int, int]]


class LexicalArm(Arm):
    """An arm over the snapshot's index; a subclass says which files have a score, best first."""

    baseline = True
    capabilities = Capabilities(spans=True, per_file=_PER_FILE, tokens=True, tokens_from_corpus=True)
    index: SnapshotIndex

    def __init__(self) -> None:
        self._found: tuple[str, dict[str, Passages]] = ("", {})

    def prepare(self, snapshot: Snapshot) -> None:
        """Build the index, or take the one that another arm built."""
        super().prepare(snapshot)
        started = time.perf_counter()
        self.index = index_of(snapshot)
        self.index_seconds = _BUILT.setdefault(self.index, time.perf_counter() - started)
        self.index_state = self.index.state
        self._found = ("", {})

    def rank(self, query: Query) -> Answer:
        """The best ``query.limit`` files without the given ones; no file with a score is an abstention.

        ``top_score`` is the score of the first of them.
        """
        given = set(query.given)
        paths = self.index.paths
        scored = ((paths[row], score) for row, score in self.scored(query))
        ranked = islice(((path, score) for path, score in scored if path not in given), query.limit)
        hits = tuple(Hit(path, score) for path, score in ranked)
        shown = tuple(hit for file in hits for hit in self._shown(file, query)) if query.spans else hits
        return Answer(hits=shown, top_score=hits[0].score if hits else None, abstained=not hits)

    def rank_all(self, query: Query) -> Iterable[str]:
        """The paths of every file with a score, best first."""
        return (self.index.paths[row] for row, _ in self.scored(query))

    def diagnose(self, query: Query, gold: Gold) -> str:
        """The rank of the file that was missed, and the lines of it that would have been shown."""
        if gold.path not in self.index.paths:
            return f"{gold.path} is no text file of the corpus"
        rows = [row for row, _ in self.scored(query)]
        row = self.index.paths.index(gold.path)
        rank = rows.index(row) + 1 if row in rows else 0
        shown = ", ".join(f"{start}-{end}" for start, end in self._passages(gold.path, query))
        return f"{gold.path} ranks {rank or 'nowhere'} of {len(rows)}; would show lines {shown or 'none'}"

    def close(self) -> None:
        """Let go of the index, and of all that the lexical arms share: one that goes on builds it anew."""
        self.__dict__.pop("index", None)
        forget_indexes()

    @abstractmethod
    def scored(self, query: Query) -> Iterable[tuple[int, float]]:
        """The rows of the files with a score above zero, best first, each with its score."""

    @abstractmethod
    def sought(self, query: Query) -> Sequence[bytes]:
        """The distinct words that lines are shown for, in lower case."""

    def _shown(self, file: Hit, query: Query) -> Iterable[Hit]:
        """``file`` with each of its passages that are asked for; as it is where it has none."""
        found = self._passages(file.path, query)[: query.per_file]
        return [Hit(file.path, file.score, start, end) for start, end in found] or [file]

    def _passages(self, path: str, query: Query) -> Passages:
        """The best passages of a file, kept while the query stays the same."""
        if self._found[0] != query.text:
            self._found = (query.text, {})
        known = self._found[1]
        if path not in known:
            known[path] = passages(self.snapshot.read(path), self.sought(query), max(_PER_FILE))
        return known[path]
