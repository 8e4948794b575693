from __future__ import annotations

from pathlib import Path

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_retrieval.errors import SnapshotError
from pytest_retrieval.snapshots.zstd import open_plain_or_zstd


def read(path: Path) -> bytes:
    with open_plain_or_zstd(path, "shown") as reader:
        return reader.read()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.binary(max_size=30_000), max_size=4))
def test_frames_one_after_another_are_one_stream(tmp_path: Path, frames: list[bytes]) -> None:
    path = tmp_path / "x.zst"
    path.write_bytes(b"".join(zstandard.compress(frame) for frame in frames))
    assert read(path) == b"".join(frames)


def test_a_name_without_the_ending_is_read_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(zstandard.compress(b"a"))
    assert read(tmp_path / "x") == zstandard.compress(b"a")


def test_every_truncation_is_noticed(tmp_path: Path) -> None:
    whole = zstandard.compress(bytes(range(256)) * 4)
    for length in range(1, len(whole)):
        (tmp_path / "x.zst").write_bytes(whole[:length])
        with pytest.raises(
            SnapshotError, match=r"^shown: the zstd data end too early; the file is truncated$"
        ):
            read(tmp_path / "x.zst")


def test_damage_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "x.zst").write_bytes(b"no zstd at all")
    with pytest.raises(SnapshotError, match=r"^shown: the zstd data are damaged \([^\n]*\)$"):
        read(tmp_path / "x.zst")


def test_a_window_over_128_mib_is_one_line(tmp_path: Path) -> None:
    parameters = zstandard.ZstdCompressionParameters(window_log=28, enable_ldm=False)
    compressor = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    (tmp_path / "x.zst").write_bytes(compressor.compress(b"a" * 1000) + compressor.flush())
    with pytest.raises(SnapshotError, match=r"^shown: a zstd frame wants a window over 128 MiB"):
        read(tmp_path / "x.zst")


def test_a_window_of_128_mib_is_taken(tmp_path: Path) -> None:
    parameters = zstandard.ZstdCompressionParameters(window_log=27, enable_ldm=False)
    compressor = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    (tmp_path / "x.zst").write_bytes(compressor.compress(b"a" * 1000) + compressor.flush())
    assert read(tmp_path / "x.zst") == b"a" * 1000


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(SnapshotError, match=r"^shown: cannot be read"):
        read(tmp_path / "x.zst")
