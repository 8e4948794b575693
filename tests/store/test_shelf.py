from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pytest_retrieval.store.pack import Block, Place
from pytest_retrieval.store.shelf import Shelf

ONE, TWO, THREE = (bytes([number]) * 32 for number in (1, 2, 3))


def block(*texts: tuple[bytes, bytes]) -> Block:
    places, start = [], 0
    for key, text in texts:
        places.append(Place(key, start, len(text)))
        start += len(text)
    return Block(b"".join(text for _, text in texts), places)


def read(shelf: Shelf, *keys: bytes) -> dict[bytes, bytes]:
    return {
        key: data[start : start + length]
        for data, places in shelf.fetch(keys)
        for key, start, length in places
    }


class Faults(list[OSError]):
    """What a shelf gave up with."""

    def __call__(self, error: OSError) -> None:
        self.append(error)


@pytest.fixture
def faults() -> Faults:
    return Faults()


@pytest.fixture
def shelf(tmp_path: Path, faults: Faults) -> Shelf:
    return Shelf(tmp_path, "texts", faults)


def test_what_was_added_is_found(shelf: Shelf) -> None:
    shelf.add([block((ONE, b"one"), (TWO, b"two"))])
    assert read(shelf, ONE, THREE, TWO) == {ONE: b"one", TWO: b"two"}
    assert shelf.missing([ONE, THREE]) == [THREE]
    assert (shelf.asked, shelf.found) == (3, 2)
    assert shelf.written > 0


def test_what_another_process_added_is_found(shelf: Shelf, tmp_path: Path, faults: Faults) -> None:
    shelf.add([block((ONE, b"one"))])
    assert shelf.missing([TWO]) == [TWO]
    Shelf(tmp_path, "texts", faults).add([block((TWO, b"two"))])
    assert read(shelf, ONE, TWO) == {ONE: b"one", TWO: b"two"}


def test_kinds_do_not_see_one_another(shelf: Shelf, tmp_path: Path, faults: Faults) -> None:
    shelf.add([block((ONE, b"one"))])
    assert read(Shelf(tmp_path, "words", faults), ONE) == {}


def test_a_damaged_block_costs_its_pack(shelf: Shelf, tmp_path: Path) -> None:
    shelf.add([block((ONE, b"one"))])
    shelf.add([block((TWO, b"two"))])
    [path] = [path for path in tmp_path.glob("*.pack") if read_pack(path) == b"one"]
    path.write_bytes(b"\0" + path.read_bytes()[1:])
    assert read(shelf, ONE, TWO) == {TWO: b"two"}
    assert not path.exists()
    shelf.add([block((ONE, b"one"))])
    assert read(shelf, ONE) == {ONE: b"one"}


def read_pack(path: Path) -> bytes:
    from pytest_retrieval.store.pack import Pack

    return Pack(path).block(0)


def test_a_pack_with_a_damaged_index_is_removed(tmp_path: Path, faults: Faults) -> None:
    Shelf(tmp_path, "texts", faults).add([block((ONE, b"one"))])
    [path] = tmp_path.glob("*.pack")
    path.write_bytes(path.read_bytes()[:-1])
    assert read(Shelf(tmp_path, "texts", faults), ONE) == {}
    assert not path.exists()


def test_packs_may_be_removed_by_hand_at_any_moment(shelf: Shelf, tmp_path: Path, faults: Faults) -> None:
    shelf.add([block((ONE, b"one"))])
    for path in tmp_path.iterdir():
        path.unlink()
    assert read(shelf, ONE) == {}
    shutil.rmtree(tmp_path)
    assert read(shelf, ONE) == {}
    assert shelf.missing([ONE]) == [ONE]
    assert faults == []
    shelf.add([block((ONE, b"one"))])
    assert len(faults) == 1


def test_a_full_disk_is_told_and_nothing_is_left(
    shelf: Shelf, tmp_path: Path, faults: Faults, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    shelf.add([block((ONE, b"one"))])
    assert [error.strerror for error in faults] == ["No space left on device"]
    assert [path.name for path in tmp_path.iterdir()] == ["lock"]
