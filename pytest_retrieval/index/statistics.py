"""Word counts by content: a text that many files, snapshots and arms share is counted once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from pytest_retrieval.costs import COLD, INCREMENTAL, WARM
from pytest_retrieval.index.kept import KIND, keep_counts, kept_counts
from pytest_retrieval.index.vocabulary import Vocabulary, WordCounts

if TYPE_CHECKING:
    from pytest_retrieval.snapshots.base import Snapshot, TreeFile

MAX_ENTRIES = 6_000_000  # held counts, about 10 bytes each
_MOST = 0.9
MAX_WORDS = 600_000  # distinct words, about 150 bytes each


class Statistics:
    """The word counts of contents, by digest, and the vocabulary that numbers their words.

    Memory is bounded between snapshots, whatever the number of snapshots: the contents longest unused go
    first, and a vocabulary that outgrew its bound goes with all counts that speak in its numbers.

    ``state`` says of the latest snapshot whether its texts were counted then, some of them, or none; a few
    that were known before, such as empty ones, make no difference.
    """

    def __init__(self, max_entries: int = MAX_ENTRIES, max_words: int = MAX_WORDS) -> None:
        self.vocabulary = Vocabulary()
        self.state = COLD
        self._counts: OrderedDict[str, WordCounts] = OrderedDict()
        self._entries = 0
        self._max_entries = max_entries
        self._max_words = max_words

    def of(self, snapshot: Snapshot) -> list[WordCounts]:
        """The counts of each of ``snapshot.texts``, in order; reads only contents not counted before.

        Counts of earlier runs come from the snapshot's store, and new ones go there.

        The numbers in them hold for :attr:`vocabulary` until the next call.
        """
        if len(self.vocabulary) > self._max_words:
            self.forget()
        counted = self._count(snapshot, _distinct(snapshot.texts, self._counts))
        of = len({file.digest for file in snapshot.texts})
        self.state = COLD if counted >= _MOST * of else INCREMENTAL if counted else WARM
        for file in snapshot.texts:
            self._counts.move_to_end(file.digest)
        counts = [self._counts[file.digest] for file in snapshot.texts]
        self._shrink()
        return counts

    def _count(self, snapshot: Snapshot, files: Iterable[TreeFile]) -> int:
        """Make the counts of ``files`` known; how many of them no earlier run had counted."""
        wanted = {file.digest: file for file in files}
        shelf = None if snapshot.store is None else snapshot.store.shelf(KIND, snapshot.repo)
        if shelf is not None:
            for digest, counts in kept_counts(shelf, self.vocabulary, wanted):
                self._take(digest, counts)
                del wanted[digest]
        for file, pieces in snapshot.contents.stream(wanted.values()):
            self._take(file.digest, self.vocabulary.count(b"".join(pieces)))
        if shelf is not None:
            keep_counts(shelf, self.vocabulary, {digest: self._counts[digest] for digest in wanted})
        return len(wanted)

    def _take(self, digest: str, counts: WordCounts) -> None:
        self._counts[digest] = counts
        self._entries += counts.entries

    def _shrink(self) -> None:
        while self._entries > self._max_entries:
            _, counts = self._counts.popitem(last=False)
            self._entries -= counts.entries

    def forget(self) -> None:
        """Let go of the vocabulary and of all counts in its numbers."""
        self.vocabulary = Vocabulary()
        self._counts.clear()
        self._entries = 0


def _distinct(files: Sequence[TreeFile], known: OrderedDict[str, WordCounts]) -> list[TreeFile]:
    """One file for each content that is not known."""
    return list({file.digest: file for file in files if file.digest not in known}.values())
