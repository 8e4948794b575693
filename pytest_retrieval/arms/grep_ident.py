"""``grep-ident``: how many identifiers of the query a file holds, as an agent types them into grep."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import reduce
from typing import ClassVar

import numpy as np

from pytest_retrieval.arms.grep import by_distinct
from pytest_retrieval.arms.lexical import LexicalArm
from pytest_retrieval.index.snapshot_index import Counts
from pytest_retrieval.model import Query
from pytest_retrieval.text.identifiers import identifiers


class GrepIdent(LexicalArm):
    """Ranks by distinct identifiers, then occurrences, then path.

    An identifier scores 1 in a text that holds it as a whole word in its own case, and 1 more in a path that
    holds it in any case.
    """

    name: ClassVar[str] = "grep-ident"

    def scored(self, query: Query) -> Iterable[tuple[int, float]]:
        """The files that hold an identifier of the query, or have one in their path."""
        distinct = np.zeros(self.index.size, np.int64)
        occurrences = np.zeros(self.index.size, np.int64)
        for identifier in map(str.encode, identifiers(query.object)):
            counts = self._counts(identifier)
            distinct += counts > 0
            occurrences += counts
            distinct[self.index.paths_holding(identifier.lower())] += 1
        return by_distinct(distinct, occurrences)

    def sought(self, query: Query) -> Sequence[bytes]:
        """The identifiers of the query."""
        return sorted({identifier.lower().encode() for identifier in identifiers(query.object)})

    def _counts(self, identifier: bytes) -> Counts:
        """How often each file holds ``identifier`` as a whole word.

        With a hyphen it is no word of the index. The texts that hold all of its parts are few, and searched.
        """
        if b"-" not in identifier:
            return self.index.word_counts(identifier)
        parts = [self.index.word_counts(part) > 0 for part in identifier.split(b"-") if part]
        everywhere = np.ones(self.index.size, bool)
        pattern = re.compile(rb"(?<![A-Za-z0-9_])%b(?![A-Za-z0-9_])" % re.escape(identifier))
        counts = np.zeros(self.index.size, np.int64)
        rows = np.flatnonzero(reduce(np.logical_and, parts, everywhere)).tolist()
        row_of = {self.index.paths[row]: row for row in rows}
        for path, content in self.snapshot.read_each(row_of):
            counts[row_of[path]] = len(pattern.findall(content))
        return counts
