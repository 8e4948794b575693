"""Zstandard as a plain byte stream: several frames, bounded memory, and a truncated file is noticed."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import zstandard

from pytest_retrieval.errors import SnapshotError
from pytest_retrieval.regular import open_regular

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

WINDOW_LIMIT = 128 << 20
# A block of 4 bytes can mean 128 KiB, so what is fed at once bounds what comes out at once (to 128 MiB).
_FEED = 4096


class ZstdReader(io.RawIOBase):
    """The decompressed bytes of ``source``, which is closed with the reader; ``shown`` names it in errors.

    The C library's own stream reader takes the end of a truncated file for the end of the data.
    """

    def __init__(self, source: BinaryIO, shown: str) -> None:
        self._source = source
        self._shown = shown
        self._decompressor = zstandard.ZstdDecompressor(max_window_size=WINDOW_LIMIT)
        self._frame: zstandard.ZstdDecompressionObj | None = None
        self._fed = b""
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        """True: the stream can only be read."""
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Fill ``buffer`` with what is ready; 0 at the end.

        Raises:
            SnapshotError: the data are damaged or end too early, or a frame wants too large a window.
        """
        while not self._ready:
            if not self._advance():
                return 0
        view = memoryview(buffer).cast("B")
        count = min(len(view), len(self._ready))
        view[:count] = self._ready[:count]
        self._ready = self._ready[count:]
        return count

    def close(self) -> None:
        """Close the source too."""
        self._source.close()
        super().close()

    def _advance(self) -> bool:
        """Decompress some more; False at a proper end."""
        fed = self._fed or self._source.read(_FEED)
        if not fed:
            if self._frame is not None:
                raise SnapshotError(f"{self._shown}: the zstd data end too early; the file is truncated")
            return False
        frame = self._frame or self._decompressor.decompressobj()
        try:
            self._ready = memoryview(frame.decompress(fed))
        except zstandard.ZstdError as error:
            raise SnapshotError(f"{self._shown}: {_reason(error)}") from error
        self._fed = frame.unused_data if frame.eof else b""
        self._frame = None if frame.eof else frame
        return True


def _reason(error: zstandard.ZstdError) -> str:
    text = str(error)
    if "too much memory" in text:
        return f"a zstd frame wants a window over {WINDOW_LIMIT >> 20} MiB; compress it again without --long"
    return f"the zstd data are damaged ({text.rpartition(': ')[2]})"


def open_packed(path: Path, shown: str) -> BinaryIO:
    """``path`` for reading as it is; raises SnapshotError where it cannot be opened."""
    try:
        return open_regular(path, buffering=1 << 20)
    except OSError as error:
        raise SnapshotError(f"{shown}: cannot be read ({error.strerror})") from error


def open_plain_or_zstd(path: Path, shown: str) -> BinaryIO:
    """``path`` for reading, decompressed when its name ends in ``.zst``.

    Raises:
        SnapshotError: it cannot be opened.
    """
    plain = open_packed(path, shown)
    if not path.name.endswith(".zst"):
        return plain
    return io.BufferedReader(ZstdReader(plain, shown), 1 << 20)
