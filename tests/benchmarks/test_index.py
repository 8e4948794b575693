"""Counting words and building the index that the lexical arms share."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_retrieval.index.shared import Indexes
from pytest_retrieval.index.statistics import Statistics
from pytest_retrieval.index.vocabulary import Vocabulary
from pytest_retrieval.snapshots.base import Snapshot
from pytest_retrieval.store.store import Store
from pytest_retrieval.text.tokens import tokens
from tests.benchmarks.conftest import Arguments, Timed
from tests.benchmarks.made_up import in_memory, megabytes, neighbour


@pytest.mark.benchmark(group="tokenising")
def test_tokens_of_every_text(timed: Timed, snapshot: Snapshot) -> None:
    texts = [content for _, content in snapshot.read_each(snapshot.paths)]
    timed(lambda: [len(tokens(text)) for text in texts], megabytes(snapshot), "MB")


@pytest.mark.benchmark(group="tokenising")
def test_word_counts_of_every_text(timed: Timed, snapshot: Snapshot) -> None:
    texts = [content for _, content in snapshot.read_each(snapshot.paths)]

    def count() -> int:
        vocabulary = Vocabulary()
        return sum(vocabulary.count(text).entries for text in texts)

    timed(count, megabytes(snapshot), "MB")


@pytest.mark.benchmark(group="index")
def test_index_cold(timed: Timed, snapshot: Snapshot) -> None:
    def setup() -> Arguments:
        return (Indexes(Statistics()), snapshot), {}

    timed(Indexes.of, megabytes(snapshot), "MB", setup=setup)


@pytest.mark.benchmark(group="index")
def test_index_from_the_store(timed: Timed, snapshot: Snapshot, tmp_path: Path) -> None:
    files = dict(snapshot.read_each(snapshot.paths))
    first = Store(tmp_path)
    Indexes(Statistics()).of(in_memory(files, first))
    first.close()

    def setup() -> Arguments:
        return (Indexes(Statistics()), in_memory(files, Store(tmp_path))), {}

    timed(Indexes.of, megabytes(snapshot), "MB", setup=setup)


@pytest.mark.benchmark(group="index")
def test_index_of_a_neighbour_that_shares_95_percent(timed: Timed, snapshot: Snapshot) -> None:
    def setup() -> Arguments:
        indexes = Indexes(Statistics())
        indexes.of(snapshot)
        return (indexes, neighbour(snapshot)), {}

    timed(Indexes.of, megabytes(snapshot), "MB", setup=setup)
