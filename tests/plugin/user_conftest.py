"""A user's conftest, strictly typed: it imports what the package offers, and nothing else of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import assert_type

import pytest

from pytest_retrieval import Answer, Arm, Capabilities, Hit, Query, Snapshot

Measure = Callable[[Sequence[str], Collection[str]], float]


class Shortest(Arm):
    """Answers with hits, its own confidence and lines."""

    name, version = "shortest", "2"
    capabilities = Capabilities(spans=True, timeout=30)

    def prepare(self, snapshot: Snapshot) -> None:
        super().prepare(snapshot)
        self.ranked = sorted(assert_type(snapshot.paths, tuple[str, ...]), key=len)

    def rank(self, query: Query) -> Answer:
        assert_type(query.text, str)
        hits = [Hit(path, start=1, end=1) for path in self.ranked[: query.limit]]
        return Answer(tuple(hits), top_score=1.0)


class Longest(Arm):
    """Answers with paths alone."""

    name = "longest"

    def rank(self, query: Query) -> list[str]:
        return sorted(self.snapshot.paths, key=len, reverse=True)


def wasted(ranked: Sequence[str], gold: Collection[str]) -> float:
    return sum(path not in gold for path in ranked)


def pytest_retrieval_arms(config: pytest.Config) -> list[type[Arm]]:
    return [Shortest, Longest]


def pytest_retrieval_measures(config: pytest.Config) -> Mapping[str, Measure]:
    return {"wasted": wasted}
