"""The numbers of words: every distinct word of the process has one, so that texts are rows of integers."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from itertools import count, islice

import numpy as np
from numpy.typing import NDArray

from pytest_retrieval.text.tokens import respell, words

Integers = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class WordCounts:
    """How often each distinct word occurs in one text.

    ``words`` holds numbers of a :class:`Vocabulary`, ``counts`` the occurrences of each. ``respelled`` are
    the counts of the text after U+212A and U+0130 became ``k`` and ``i``, which may join words and which
    only case-blind search sees; None for the nearly all texts that hold neither.
    """

    words: Integers
    counts: Integers
    respelled: WordCounts | None = None

    @property
    def entries(self) -> int:
        """How many counts are held, the measure of memory."""
        return len(self.words) + (0 if self.respelled is None else len(self.respelled.words))


class Vocabulary:
    """Words and their numbers, 0, 1, 2, … in the order of first sight; numbers are never reused."""

    def __init__(self) -> None:
        self._numbers: defaultdict[bytes, int] = defaultdict(count().__next__)
        self._words: list[bytes] = []

    def __len__(self) -> int:
        return len(self._numbers)

    def number(self, distinct: Collection[bytes]) -> Integers:
        """The numbers of words, new ones for new words."""
        return np.fromiter(map(self._numbers.__getitem__, distinct), np.int32, len(distinct))

    def spell(self, numbers: Integers) -> list[bytes]:
        """The words of numbers."""
        new = len(self._numbers) - len(self._words)
        self._words += reversed([*islice(reversed(self._numbers), new)])  # from the end, for most are known
        return list(map(self._words.__getitem__, numbers.tolist()))

    def count(self, text: bytes) -> WordCounts:
        """The word counts of ``text``."""
        respelled = respell(text)
        return self._count(text, None if respelled == text else self._count(respelled))

    def _count(self, text: bytes, respelled: WordCounts | None = None) -> WordCounts:
        counted = Counter(words(text))
        counts = np.fromiter(counted.values(), np.int32, len(counted))
        return WordCounts(self.number(counted), counts, respelled)
