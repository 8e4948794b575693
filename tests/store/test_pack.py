from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_retrieval.store.pack import Block, Pack, Place, write_pack
from pytest_retrieval.store.sealed import DamagedError

KEYS = [bytes([number]) * 32 for number in range(1, 4)]
BLOCKS = [
    Block(b"alphabeta", [Place(KEYS[0], 0, 5), Place(KEYS[1], 5, 4)]),
    Block(b"gamma", [Place(KEYS[2], 0, 5)]),
]


def contents(path: Path) -> dict[bytes, bytes]:
    """Every key of a pack with its bytes."""
    pack = Pack(path)
    found = {}
    for number, places in pack.places(range(len(pack.keys))).items():
        data = pack.block(number)
        found.update({key: data[start : start + length] for key, start, length in places})
    return found


EXPECTED = dict(zip(KEYS, (b"alpha", b"beta", b"gamma"), strict=True))


def test_every_key_finds_its_bytes(tmp_path: Path) -> None:
    path, size = write_pack(tmp_path, "texts", BLOCKS)
    assert path.name.startswith("texts-")
    assert path.stat().st_size == size
    assert contents(path) == EXPECTED
    Pack(path).check()


def test_the_name_follows_from_the_content(tmp_path: Path) -> None:
    first, _ = write_pack(tmp_path, "texts", BLOCKS)
    second, _ = write_pack(tmp_path, "texts", BLOCKS)
    other, _ = write_pack(tmp_path, "texts", BLOCKS[:1])
    assert first == second != other


def test_a_key_may_end_with_zero_bytes_and_a_thing_may_be_empty(tmp_path: Path) -> None:
    key = b"\x07" + b"\0" * 31
    path, _ = write_pack(tmp_path, "texts", [Block(b"", [Place(key, 0, 0)])])
    assert contents(path) == {key: b""}


def test_a_pack_without_blocks_is_one(tmp_path: Path) -> None:
    path, _ = write_pack(tmp_path, "texts", [])
    assert contents(path) == {}


def assert_never_wrong(path: Path) -> None:
    """Reading a damaged pack either refuses or gives what was written."""
    try:
        found = contents(path)
    except DamagedError:
        return
    assert found == EXPECTED


@pytest.mark.parametrize("bit", [0x01, 0x80, 0xFF])
def test_a_changed_byte_anywhere_is_never_believed(tmp_path: Path, bit: int) -> None:
    path, size = write_pack(tmp_path, "texts", BLOCKS)
    whole = path.read_bytes()
    for at in range(size):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ bit]) + whole[at + 1 :])
        with pytest.raises(DamagedError):
            contents(path)


def test_a_cut_anywhere_is_noticed(tmp_path: Path) -> None:
    path, size = write_pack(tmp_path, "texts", BLOCKS)
    whole = path.read_bytes()
    for length in range(size):
        path.write_bytes(whole[:length])
        with pytest.raises(DamagedError):
            contents(path)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200)
@given(st.data())
def test_any_damage_is_never_believed(tmp_path: Path, data: st.DataObject) -> None:
    path, size = write_pack(tmp_path, "texts", BLOCKS)
    whole = bytearray(path.read_bytes())
    start = data.draw(st.integers(0, size))
    end = data.draw(st.integers(start, size))
    whole[start:end] = data.draw(st.binary(max_size=40))
    path.write_bytes(whole)
    assert_never_wrong(path)


@given(st.binary(max_size=80))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_anything_else_is_no_pack(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "texts-0.pack"
    path.write_bytes(data)
    with pytest.raises(DamagedError):
        Pack(path)


def test_a_pack_of_another_kind_is_none(tmp_path: Path) -> None:
    path, _ = write_pack(tmp_path, "texts", BLOCKS)
    with pytest.raises(DamagedError):
        Pack(path.rename(tmp_path / path.name.replace("texts", "words1")))


def test_another_version_is_no_pack(tmp_path: Path) -> None:
    path, _ = write_pack(tmp_path, "texts", BLOCKS)
    path.write_bytes(path.read_bytes()[:-1] + b"2")
    with pytest.raises(DamagedError, match="version"):
        Pack(path)
