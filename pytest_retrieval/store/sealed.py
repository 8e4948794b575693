"""Bytes that tell when they are damaged, and files that appear whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path

import zstandard

TEMPORARY = ".tmp"
SUM_SIZE = 16
_MAGIC = b"RTVSEAL1"
_LEVEL = 1  # the fastest: a cold run must not wait for its store


class DamagedError(Exception):
    """Kept bytes are not what was written; they are dropped and made again, so no user reads this."""


def checksum(data: bytes) -> bytes:
    """16 bytes that change with ``data``."""
    return blake2b(data, digest_size=SUM_SIZE).digest()


def compress(data: bytes) -> bytes:
    """``data`` as one zstd frame that says its own size."""
    return zstandard.ZstdCompressor(level=_LEVEL).compress(data)


def decompress(data: bytes) -> bytes:
    """What :func:`compress` was given.

    Raises:
        DamagedError: it is no such frame.
    """
    try:
        return zstandard.ZstdDecompressor().decompress(data)
    except (zstandard.ZstdError, MemoryError) as error:
        raise DamagedError(str(error)) from error


def seal(payload: bytes) -> bytes:
    """``payload`` compressed, behind a mark and a checksum."""
    packed = compress(payload)
    return _MAGIC + checksum(packed) + packed


def unseal(data: bytes) -> bytes:
    """What :func:`seal` was given.

    Raises:
        DamagedError: a byte is wrong, missing or too many.
    """
    head = len(_MAGIC) + SUM_SIZE
    packed = data[head:]
    if data[:head] != _MAGIC + checksum(packed):
        raise DamagedError("the checksum does not fit")
    return decompress(packed)


def write_whole(path: Path, pieces: Iterable[bytes]) -> int:
    """Write ``path`` beside itself and rename it; the number of bytes.

    Nothing is synced: after a power cut the checksums tell what did not reach the disk.

    Raises:
        OSError: it cannot be written; nothing is left behind.
    """
    partial = path.with_name(f"{path.name}.{os.getpid()}-{secrets.token_hex(4)}{TEMPORARY}")
    try:
        with partial.open("xb") as target:
            for piece in pieces:
                target.write(piece)
            size = target.tell()
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    return size
