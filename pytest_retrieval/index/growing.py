"""One searchable set of words for neighbouring snapshots, which have nearly all of their words in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from pytest_retrieval.index.lexicon import Items, Lexicon
from pytest_retrieval.index.vocabulary import Integers, Vocabulary

_LARGEST_GROWTH = 0.2  # of the words of the base; more is put together with them anew
_LARGEST_WASTE = 4  # times the words that a snapshot needs


class Lexicons:
    """Several lexicons as one: items are numbered through, in the order of the parts."""

    def __init__(self, parts: Sequence[Lexicon]) -> None:
        self._parts = tuple(parts)
        sizes = [part.size for part in parts]
        self._firsts = [sum(sizes[:number]) for number in range(len(sizes))]
        self.size = sum(sizes)
        self.token_counts = np.concatenate([part.token_counts for part in parts])

    def holding(self, needle: bytes) -> Items:
        """As :meth:`Lexicon.holding`."""
        return self._joined(lambda part: part.holding(needle))

    def holding_token(self, token: bytes) -> Items:
        """As :meth:`Lexicon.holding_token`."""
        return self._joined(lambda part: part.holding_token(token))

    def equal(self, item: bytes) -> Items:
        """As :meth:`Lexicon.equal`."""
        return self._joined(lambda part: part.equal(item))

    def _joined(self, ask: Callable[[Lexicon], Items]) -> Items:
        if len(self._parts) == 1:
            return ask(self._parts[0])
        found = [ask(part) + np.int32(first) for part, first in zip(self._parts, self._firsts, strict=True)]
        return np.concatenate(found)


class GrowingLexicon:
    """Covers the words of one snapshot after another: what is new is a small lexicon beside the large one.

    Words that a snapshot does not have do no harm: no text of it counts them.
    """

    def __init__(self) -> None:
        self._vocabulary: Vocabulary | None = None
        self._base = Lexicon([])
        self._added = np.empty(0, np.int32)
        self._items = np.empty(0, np.int32)
        self._covering = Lexicons([self._base])

    def covering(self, vocabulary: Vocabulary, used: NDArray[np.bool_]) -> tuple[Lexicons, Integers]:
        """A lexicon that has every word of ``vocabulary`` marked in ``used``, and the item of each word.

        The items are for indexing by word number; those of words that are not marked mean nothing.
        """
        if vocabulary is not self._vocabulary:
            self._vocabulary = vocabulary
            return self._anew(vocabulary, used)
        items = np.full(len(used), -1, np.int32)
        items[: len(self._items)] = self._items
        missing = np.flatnonzero(used & (items < 0)).astype(np.int32)
        if self._is_outgrown(len(missing), int(np.count_nonzero(used))):
            return self._anew(vocabulary, used)
        if len(missing):
            items[missing] = self._covering.size + np.arange(len(missing), dtype=np.int32)
            self._added = np.concatenate((self._added, missing))
            self._covering = Lexicons([self._base, Lexicon(vocabulary.spell(self._added))])
        self._items = items
        return self._covering, items

    def _is_outgrown(self, missing: int, used: int) -> bool:
        base = self._base.size
        return len(self._added) + missing > _LARGEST_GROWTH * base or base > _LARGEST_WASTE * used

    def _anew(self, vocabulary: Vocabulary, used: NDArray[np.bool_]) -> tuple[Lexicons, Integers]:
        words = np.flatnonzero(used).astype(np.int32)
        self._items = np.full(len(used), -1, np.int32)
        self._items[words] = np.arange(len(words), dtype=np.int32)
        self._base = Lexicon(vocabulary.spell(words))
        self._added = np.empty(0, np.int32)
        self._covering = Lexicons([self._base])
        return self._covering, self._items
