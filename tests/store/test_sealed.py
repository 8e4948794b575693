from __future__ import annotations

import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_retrieval.store.sealed import DamagedError, seal, unseal, write_whole


def opened(data: bytes, name: str = "a.tree") -> bytes:
    return unseal(io.BytesIO(data), len(data), name)


@given(st.binary(max_size=300))
def test_what_is_sealed_comes_back(payload: bytes) -> None:
    assert opened(seal(payload, "a.tree")) == payload


def test_what_was_sealed_under_another_name_is_damaged() -> None:
    with pytest.raises(DamagedError):
        opened(seal(b"payload", "a.tree"), "b.tree")


def test_no_more_is_read_than_was_sealed() -> None:
    class Endless(io.BytesIO):
        """A file that grew to a terabyte; no more than its head may be asked for."""

        def read(self, size: int | None = -1) -> bytes:
            assert size is not None
            assert size < 1000
            return super().read(size)

    with pytest.raises(DamagedError):
        unseal(Endless(seal(b"payload", "a.tree")), 1 << 40, "a.tree")


@given(st.binary(max_size=60), st.data())
def test_a_changed_byte_a_cut_or_an_addition_is_noticed(payload: bytes, data: st.DataObject) -> None:
    whole = seal(payload, "a.tree")
    at = data.draw(st.integers(0, len(whole) - 1))
    bit = data.draw(st.integers(1, 255))
    changed = whole[:at] + bytes([whole[at] ^ bit]) + whole[at + 1 :]
    for damaged in (changed, whole[:at], whole + b"\0"):
        with pytest.raises(DamagedError):
            opened(damaged)


def test_a_file_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    def failing() -> list[bytes]:
        raise OSError(28, "No space left on device")

    target = tmp_path / "file"
    assert write_whole(target, [b"one", b"two"]) == 6
    assert target.read_bytes() == b"onetwo"
    with pytest.raises(OSError, match="No space"):
        write_whole(target, (piece for piece in [b"x", *failing()]))
    assert target.read_bytes() == b"onetwo"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
