from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_retrieval.index.kept import KIND, keep_counts, kept_counts
from pytest_retrieval.index.snapshot_index import SnapshotIndex
from pytest_retrieval.index.statistics import Statistics
from pytest_retrieval.index.vocabulary import Vocabulary, WordCounts
from pytest_retrieval.snapshots.base import MemoryContents, Snapshot, Tree, TreeFile
from pytest_retrieval.store.shelf import Shelf
from pytest_retrieval.store.store import Store
from tests.arms.support import CountingContents

Spelt = tuple[dict[bytes, int], dict[bytes, int] | None]


def shelf(folder: Path) -> Shelf:
    def gave_up(error: OSError) -> None:
        raise error

    return Shelf(folder, KIND, gave_up)


def spelt(vocabulary: Vocabulary, counts: WordCounts) -> Spelt:
    words = dict(zip(vocabulary.spell(counts.words), counts.counts.tolist(), strict=True))
    return words, None if counts.respelled is None else spelt(vocabulary, counts.respelled)[0]


def keep(folder: Path, texts: dict[str, bytes]) -> dict[str, Spelt]:
    vocabulary = Vocabulary()
    counted = {digest: vocabulary.count(text) for digest, text in texts.items()}
    keep_counts(shelf(folder), vocabulary, counted)
    return {digest: spelt(vocabulary, counts) for digest, counts in counted.items()}


def digest(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()


TEXTS = st.lists(
    st.sampled_from([b"a", b"bc", b" ", b"_x", "\u212a".encode(), "\u0130".encode(), b"\xff", b"Bc"]),
    max_size=12,
).map(b"".join)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(TEXTS, min_size=1, max_size=6, unique=True), data=st.data())
def test_counts_come_back_in_any_vocabulary(
    tmp_path_factory: pytest.TempPathFactory, texts: list[bytes], data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("shelf")
    expected = keep(folder, {digest(text): text for text in texts})
    other = Vocabulary()
    other.number([b"unrelated", b"bc"])
    asked = data.draw(st.lists(st.sampled_from(sorted(expected)), unique=True))
    found = dict(kept_counts(shelf(folder), other, [*asked, "0" * 64]))
    assert {name: spelt(other, counts) for name, counts in found.items()} == {
        name: expected[name] for name in asked
    }


@pytest.mark.parametrize("times", [255, 256, 65_535, 65_536])
def test_large_counts_come_back(tmp_path: Path, times: int) -> None:
    text = b"word " * times
    expected = keep(tmp_path, {digest(text): text})
    vocabulary = Vocabulary()
    [(_, counts)] = kept_counts(shelf(tmp_path), vocabulary, [digest(text)])
    assert spelt(vocabulary, counts) == expected[digest(text)] == ({b"word": times}, None)


def test_many_words_come_back(tmp_path: Path) -> None:
    text = b" ".join(b"w%d" % number for number in range(70_000))
    expected = keep(tmp_path, {digest(text): text})
    vocabulary = Vocabulary()
    [(_, counts)] = kept_counts(shelf(tmp_path), vocabulary, [digest(text)])
    assert spelt(vocabulary, counts) == expected[digest(text)]


def snapshot_of(files: dict[str, bytes], store: Store | None) -> Snapshot:
    rows = tuple(TreeFile(path, len(text), digest(text), True) for path, text in files.items())
    contents = CountingContents({digest(text): text for text in files.values()})
    return Snapshot("o/n", "0" * 40, "memory", Tree(rows, contents, "full"), store=store)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
@given(files=st.dictionaries(st.sampled_from(["a", "b/c", "d.py", "e"]), TEXTS, min_size=1))
def test_an_index_is_the_same_cold_warm_and_without_a_store(
    tmp_path_factory: pytest.TempPathFactory, files: dict[str, bytes]
) -> None:
    root = tmp_path_factory.mktemp("store")
    answers = []
    for use_store in (False, True, True):
        store = Store(root) if use_store else None
        snapshot = snapshot_of(files, store)
        statistics = Statistics()
        index = SnapshotIndex(snapshot.paths, statistics.of(snapshot), statistics.vocabulary)
        answers.append(
            [
                *(array.tolist() for array in index.substrings([b"bc", b"a", b"k", b"i"])),
                *(index.token_counts(token).tolist() for token in (b"bc", b"a", b"x")),
                *(index.word_counts(word).tolist() for word in (b"Bc", b"_x", b"abc")),
                index.lengths.tolist(),
            ]
        )
        if store is not None:
            store.close()
    assert answers[0] == answers[1] == answers[2]


def test_a_second_run_reads_no_text(tmp_path: Path) -> None:
    files = {"a": b"one two", "b": b"two", "c": b"one two"}
    read = []
    for _ in range(2):
        store = Store(tmp_path)
        snapshot = snapshot_of(files, store)
        Statistics().of(snapshot)
        assert isinstance(snapshot.contents, CountingContents)
        read.append(len(snapshot.contents.read_digests))
        store.close()
    assert read == [2, 0]


def test_a_damaged_pack_of_counts_is_made_again(tmp_path: Path) -> None:
    files = {"a": b"one two"}
    read = []
    for _ in range(3):
        store = Store(tmp_path)
        snapshot = snapshot_of(files, store)
        [counts] = Statistics().of(snapshot)
        assert counts.counts.tolist() == [1, 1]
        assert isinstance(snapshot.contents, CountingContents)
        read.append(len(snapshot.contents.read_digests))
        store.close()
        if len(read) == 1:
            [pack] = tmp_path.rglob("*.pack")
            pack.write_bytes(b"\0" + pack.read_bytes()[1:])
    assert read == [1, 1, 0]


def test_contents_without_a_store_stay_in_memory() -> None:
    snapshot = snapshot_of({"a": b"one"}, None)
    assert isinstance(snapshot.contents, MemoryContents)
    assert len(Statistics().of(snapshot)) == 1
