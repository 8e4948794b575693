"""``bm25:all`` and ``bm25:ident``: whole-file BM25 over the tokens of the query or of its identifiers."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np

from pytest_retrieval.arms.lexical import LexicalArm
from pytest_retrieval.model import Answer, Query
from pytest_retrieval.stats.rounding import half_away
from pytest_retrieval.text.identifiers import identifiers
from pytest_retrieval.text.tokens import terms, tokens

K1 = 1.2  # fixed and never tuned, as is B
B = 0.75


class BM25(LexicalArm):
    """Ranks by the BM25 score of Robertson and Zaragoza with ``ln(1 + …)`` as inverse document frequency.

    ``score = Σ idf · tf · (k1 + 1) / (tf + k1 · (1 - b + b · length / mean_length))`` over the query's
    tokens, ``idf = ln(1 + (N - n + 0.5) / (n + 0.5))``. N, n and the mean length are over every text file,
    given files included. Ties by path.
    """

    def rank(self, query: Query) -> Answer:
        """The best files; ``top_score`` rounded to six places."""
        answer = super().rank(query)
        return answer if answer.top_score is None else replace(answer, top_score=half_away(answer.top_score))

    def scored(self, query: Query) -> Iterable[tuple[int, float]]:
        """The files that hold a token of the query."""
        index = self.index
        scores = np.zeros(index.size, np.float64)
        mean_length = index.lengths.sum() / max(index.size, 1) or 1.0
        # Evaluated as the formula is written and added in the order of the tokens, so that ties stay ties.
        norms = K1 * (1 - B + B * index.lengths / mean_length)
        for token in self.query_tokens(query):
            tf = index.token_counts(token)
            n = np.count_nonzero(tf)
            idf = math.log(1 + (index.size - n + 0.5) / (n + 0.5))
            scores += idf * tf * (K1 + 1) / (tf + norms)
        rows = np.flatnonzero(scores)
        order = rows[np.argsort(-scores[rows], kind="stable")]
        return zip(order.tolist(), scores[order].tolist(), strict=True)

    def sought(self, query: Query) -> Sequence[bytes]:
        """The tokens that are scored."""
        return self.query_tokens(query)

    @abstractmethod
    def query_tokens(self, query: Query) -> list[bytes]:
        """The distinct tokens to score, sorted."""


class BM25All(BM25):
    """BM25 over the terms of the query's text."""

    name: ClassVar[str] = "bm25:all"

    def query_tokens(self, query: Query) -> list[bytes]:
        """The terms of the query's text."""
        return terms(query.text)


class BM25Ident(BM25):
    """BM25 over the tokens of the query's identifiers, of any length."""

    name: ClassVar[str] = "bm25:ident"

    def query_tokens(self, query: Query) -> list[bytes]:
        """The tokens of the query's identifiers."""
        return sorted({token for name in identifiers(query.object) for token in tokens(name.encode())})
