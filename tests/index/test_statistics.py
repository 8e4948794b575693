from __future__ import annotations

from pytest_retrieval.index.shared import Indexes
from pytest_retrieval.index.statistics import Statistics
from pytest_retrieval.index.vocabulary import Vocabulary, WordCounts
from pytest_retrieval.snapshots.base import Snapshot
from tests.arms.support import CountingContents, snapshot_of


def reads(snapshot: Snapshot) -> int:
    contents = snapshot.contents
    assert isinstance(contents, CountingContents)
    return len(contents.read_digests)


def spelt(vocabulary: Vocabulary, counts: WordCounts) -> dict[bytes, int]:
    return dict(zip(vocabulary.spell(counts.words), counts.counts.tolist(), strict=True))


def test_words_of_a_text_are_counted() -> None:
    vocabulary = Vocabulary()
    counts = vocabulary.count(b"get get_name, get! GET \xff")
    assert spelt(vocabulary, counts) == {b"get": 2, b"get_name": 1, b"GET": 1}
    assert counts.respelled is None
    assert counts.entries == 3


def test_a_text_with_a_kelvin_sign_has_second_counts() -> None:
    vocabulary = Vocabulary()
    counts = vocabulary.count("to\u212aen to k".encode())
    assert spelt(vocabulary, counts) == {b"to": 2, b"en": 1, b"k": 1}
    assert counts.respelled is not None
    assert spelt(vocabulary, counts.respelled) == {b"token": 1, b"to": 1, b"k": 1}
    assert counts.entries == 6


def test_numbers_hold_across_texts() -> None:
    vocabulary = Vocabulary()
    first, second = vocabulary.count(b"a b"), vocabulary.count(b"b c")
    assert first.words.tolist() == [0, 1]
    assert second.words.tolist() == [1, 2]
    assert vocabulary.spell(second.words) == [b"b", b"c"]


def test_a_content_is_read_once_whatever_the_files_and_snapshots() -> None:
    statistics = Statistics()
    first = snapshot_of({"a": b"one", "b": b"one", "c": b"two"})
    second = snapshot_of({"a": b"one", "d": b"three"})
    counts = statistics.of(first)
    assert counts[0] is counts[1]
    statistics.of(second)
    assert (reads(first), reads(second)) == (2, 1)


def test_an_index_says_what_it_was_built_from() -> None:
    indexes = Indexes(Statistics())
    trees = {"a": b"one", "b": b"two"}, {"a": b"one", "b": b"three"}, {"b": b"one", "c": b"three"}
    assert [indexes.of(snapshot_of(tree)).state for tree in trees] == ["COLD", "INCREMENTAL", "WARM"]
    others = {f"f{number}": b"%d" % number for number in range(9)}
    assert indexes.of(snapshot_of({"a": b"one", **others})).state == "COLD"


def test_files_that_are_no_text_are_not_read() -> None:
    snapshot = snapshot_of({"a": b"one", "b.bin": b"two"}, binary=("b.bin",))
    assert len(Statistics().of(snapshot)) == 1
    assert reads(snapshot) == 1


def test_the_contents_longest_unused_are_forgotten_first() -> None:
    statistics = Statistics(max_entries=2)
    old, fresh = snapshot_of({"a": b"one", "b": b"two"}), snapshot_of({"a": b"one", "c": b"three"})
    statistics.of(old)
    statistics.of(fresh)
    again = snapshot_of({"a": b"one", "b": b"two"})
    statistics.of(again)
    assert reads(again) == 1


def test_a_snapshot_larger_than_the_bound_is_served_whole() -> None:
    statistics = Statistics(max_entries=1)
    counts = statistics.of(snapshot_of({"a": b"one two three", "b": b"four"}))
    assert [spelt(statistics.vocabulary, row) for row in counts] == [
        {b"one": 1, b"two": 1, b"three": 1},
        {b"four": 1},
    ]


def test_a_vocabulary_that_outgrew_its_bound_starts_anew() -> None:
    statistics = Statistics(max_words=2)
    snapshot = snapshot_of({"a": b"one two three"})
    statistics.of(snapshot)
    other = snapshot_of({"b": b"four"})
    counts = statistics.of(other)
    assert len(statistics.vocabulary) == 1
    assert spelt(statistics.vocabulary, counts[0]) == {b"four": 1}
    again = snapshot_of({"a": b"one two three"})
    statistics.of(again)
    assert reads(again) == 1


def test_one_index_serves_every_snapshot_of_a_tree() -> None:
    indexes = Indexes(Statistics())
    first, second = snapshot_of({"a": b"one"}), snapshot_of({"a": b"one"})
    assert indexes.of(first) is indexes.of(second)
    assert indexes.of(snapshot_of({"b": b"one"})) is not indexes.of(first)


def test_only_the_latest_indexes_are_kept() -> None:
    indexes = Indexes(Statistics(), kept=1)
    snapshot = snapshot_of({"a": b"one"})
    first = indexes.of(snapshot)
    indexes.of(snapshot_of({"b": b"one"}))
    assert indexes.of(snapshot) is not first


def test_an_index_outlives_the_vocabulary_it_was_built_from() -> None:
    indexes = Indexes(Statistics(max_words=0))
    index = indexes.of(snapshot_of({"a": b"one two"}))
    indexes.of(snapshot_of({"b": b"three"}))
    assert index.word_counts(b"two").tolist() == [1]
