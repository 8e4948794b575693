"""What every lexical arm counts in a snapshot: substrings, tokens and whole words, file by file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from pytest_retrieval.costs import COLD
from pytest_retrieval.index.growing import GrowingLexicon
from pytest_retrieval.index.lexicon import Lexicon
from pytest_retrieval.index.vocabulary import Vocabulary, WordCounts
from pytest_retrieval.model import path_key
from pytest_retrieval.text.tokens import respell

Rows = NDArray[np.int32]
Counts = NDArray[np.int64]
TermSets = NDArray[np.uint64]

SET_SIZE = 64  # terms in one number of a TermSets


class SnapshotIndex:
    """Counts over the text files of one snapshot; file ``i`` is row ``i`` of every array.

    Built once from the word counts of the texts and independent of the snapshot afterwards. Those built with
    one ``lexicon`` share it. The counts of all
    files lie behind one another, as (word, count) entries; a needle is looked up among the distinct words
    first. Texts with a respelling (see :class:`WordCounts`) have a second row behind all files.

    ``paths`` are the files' paths, ``lengths`` their numbers of tokens. ``state`` says whether the texts were
    counted for it, some of them, or none.
    """

    state = COLD

    def __init__(
        self,
        paths: Sequence[str],
        counts: Sequence[WordCounts],
        vocabulary: Vocabulary,
        lexicon: GrowingLexicon | None = None,
    ) -> None:
        self.paths = tuple(paths)
        self.size = len(self.paths)
        respelled = [row.respelled for row in counts if row.respelled is not None]
        rows = [*counts, *respelled]
        has_respelling = np.array([row.respelled is not None for row in counts], bool)
        self._blind_rows = np.arange(self.size)
        self._blind_rows[has_respelling] = np.arange(self.size, len(rows))
        self._lay_out(rows, vocabulary, lexicon or GrowingLexicon())
        names = [path_key(path) for path in self.paths]
        respelled_names = [respell(name) for name in names]
        self._names = Lexicon(names)
        self._respelled_names = self._names if respelled_names == names else Lexicon(respelled_names)
        self.lengths = self._per_row(np.add, self._words.token_counts[self._word] * self._count)[: self.size]

    def _lay_out(self, rows: Sequence[WordCounts], vocabulary: Vocabulary, lexicon: GrowingLexicon) -> None:
        """Put the entries of all rows behind one another, with words numbered as items of the lexicon."""
        sizes = np.array([len(row.words) for row in rows], np.int64)
        words = np.concatenate([np.empty(0, np.int32), *(row.words for row in rows)])
        used = np.zeros(len(vocabulary), bool)
        used[words] = True
        self._words, items = lexicon.covering(vocabulary, used)
        self._word = items[words]
        self._count = np.concatenate([np.empty(0, np.int32), *(row.counts for row in rows)])
        self._row = np.repeat(np.arange(len(rows), dtype=np.int32), sizes)
        self._filled = np.flatnonzero(sizes)
        self._starts = (np.cumsum(sizes) - sizes)[self._filled]
        self._row_count = len(rows)
        self._by_word = _stable_order(self._word)
        self._word_ends = np.cumsum(np.bincount(self._word, minlength=self._words.size))
        self._word_starts = np.append(0, self._word_ends)[:-1]

    def substrings(self, terms: Sequence[bytes]) -> tuple[TermSets, Counts]:
        """Which terms each file holds as substrings in any case, and how often it holds any of them.

        Occurrences of one term do not overlap. ``terms`` are lowercased runs of letters and digits.
        Returns arrays of shape (sets, files) and (files,): bit ``i`` of set ``s`` is term ``64 s + i``.
        """
        hits = [self._words.holding(term) for term in terms]
        weights = np.bincount(np.concatenate([np.empty(0, np.int32), *hits]), minlength=self._words.size)
        occurrences = self._per_row(np.add, weights[self._word] * self._count)
        held = [
            self._per_row(np.bitwise_or, of_word[self._word])[self._blind_rows]
            for of_word in _sets(hits, self._words.size)
        ]
        return np.array(held, np.uint64).reshape(len(held), self.size), occurrences[self._blind_rows]

    def path_tokens(self, terms: Sequence[bytes]) -> TermSets:
        """Which terms are tokens of each file's path, laid out as by :meth:`substrings`."""
        sets = list(_sets([self._names.holding_token(term) for term in terms], self.size))
        return np.array(sets, np.uint64).reshape(len(sets), self.size)

    def paths_holding(self, needle: bytes) -> Rows:
        """The files whose path holds ``needle`` in any case; each once."""
        return np.flatnonzero(np.bincount(self._respelled_names.holding(needle))).astype(np.int32)

    def token_counts(self, token: bytes) -> Counts:
        """How often each file holds ``token``, a lowercased run of letters and digits; of shape (files,)."""
        return self._occurrences(self._words.holding_token(token))

    def word_counts(self, word: bytes) -> Counts:
        """How often each file holds ``word``, in its own case and as a whole; of shape (files,)."""
        return self._occurrences(self._words.equal(word))

    def _occurrences(self, words: NDArray[np.int32]) -> Counts:
        """How often each file holds any of ``words``; a repeated word counts that many times."""
        sizes = self._word_ends[words] - self._word_starts[words]
        ends = np.cumsum(sizes)
        within = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - sizes, sizes)
        entries = self._by_word[np.repeat(self._word_starts[words], sizes) + within]
        # Sums of whole numbers far below 2**53 are exact in float64.
        rows = np.bincount(self._row[entries], self._count[entries], minlength=self.size)
        return rows[: self.size].astype(np.int64)

    def _per_row(self, fold_with: np.ufunc, values: NDArray[np.int64]) -> NDArray[np.int64]:
        """``values`` (one for each entry) folded row by row; rows without entries get 0."""
        folded = np.zeros(self._row_count, values.dtype)
        if len(self._filled):
            folded[self._filled] = fold_with.reduceat(values, self._starts)
        return folded


def _stable_order(numbers: NDArray[np.int32]) -> NDArray[np.int32]:
    """The order that sorts ``numbers``, by radix: numpy does so for 16 bits only, hence the two halves."""
    low = np.argsort(numbers.astype(np.uint16), kind="stable")
    if numbers.max(initial=0) < 1 << 16:
        return low.astype(np.int32)
    high = np.argsort((numbers >> 16).astype(np.uint16)[low], kind="stable")
    return low[high].astype(np.int32)


def _sets(hits: Sequence[NDArray[np.int32]], size: int) -> Iterator[NDArray[np.uint64]]:
    """The terms that hit each of ``size`` items, 64 at a time: one bit for a term, one number for an item."""
    for start in range(0, len(hits), SET_SIZE):
        terms = np.zeros(size, np.uint64)
        for bit, items in enumerate(hits[start : start + SET_SIZE]):
            terms[items] |= np.uint64(1) << np.uint64(bit)
        yield terms
