from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_retrieval.store.sealed import DamagedError, seal, unseal, write_whole


@given(st.binary(max_size=300))
def test_what_is_sealed_comes_back(payload: bytes) -> None:
    assert unseal(seal(payload)) == payload


@given(st.binary(max_size=60), st.data())
def test_a_changed_byte_a_cut_or_an_addition_is_noticed(payload: bytes, data: st.DataObject) -> None:
    whole = seal(payload)
    at = data.draw(st.integers(0, len(whole) - 1))
    bit = data.draw(st.integers(1, 255))
    changed = whole[:at] + bytes([whole[at] ^ bit]) + whole[at + 1 :]
    for damaged in (changed, whole[:at], whole + b"\0"):
        with pytest.raises(DamagedError):
            unseal(damaged)


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
