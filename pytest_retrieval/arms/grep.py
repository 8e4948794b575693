"""``grep``: how many distinct terms of the query a file holds, as someone greps for every word of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

import numpy as np

from pytest_retrieval.arms.lexical import LexicalArm
from pytest_retrieval.index.snapshot_index import Counts
from pytest_retrieval.model import Query
from pytest_retrieval.text.tokens import terms


class Grep(LexicalArm):
    """Ranks by distinct terms, then occurrences, then path.

    A term that is a token of the path scores 2, any other that occurs in the text as a substring 1.
    """

    name: ClassVar[str] = "grep"

    def scored(self, query: Query) -> Iterable[tuple[int, float]]:
        """The files that hold a term of the query's text, or have one in their path."""
        wanted = terms(query.text)
        in_text, occurrences = self.index.substrings(wanted)
        in_path = self.index.path_tokens(wanted)
        scores = np.bitwise_count(in_text | in_path).sum(axis=0, dtype=np.int64)
        scores += np.bitwise_count(in_path).sum(axis=0, dtype=np.int64)
        return by_distinct(scores, occurrences)

    def sought(self, query: Query) -> Sequence[bytes]:
        """The terms of the query's text."""
        return terms(query.text)


def by_distinct(distinct: Counts, occurrences: Counts) -> Iterable[tuple[int, int]]:
    """The rows with a ``distinct`` above zero, by falling ``distinct``, falling ``occurrences`` and row."""
    rows = np.flatnonzero(distinct)
    order = rows[np.lexsort((-occurrences[rows], -distinct[rows]))]
    return zip(order.tolist(), distinct[order].tolist(), strict=True)
