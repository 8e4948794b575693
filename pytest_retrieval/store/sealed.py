"""Bytes that tell when they are damaged, and files that appear whole or not at all."""

from __future__ import annotations

import os
import secrets
import struct
from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path
from typing import BinaryIO

import zstandard

from pytest_retrieval.regular import open_regular

TEMPORARY = ".tmp"
SUM_SIZE = 16
_MAGIC = b"RTVSEAL2"
_HEAD = struct.Struct(f"<8s{SUM_SIZE}sQ")
_LEVEL = 1  # the fastest: a cold run must not wait for its store


class DamagedError(Exception):
    """Kept bytes are not what was written; they are dropped and made again, so no user reads this."""


def checksum(*data: bytes) -> bytes:
    """16 bytes that change with ``data``."""
    whole = blake2b(digest_size=SUM_SIZE)
    for piece in data:
        whole.update(piece)
    return whole.digest()


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


def seal(payload: bytes, name: str) -> bytes:
    """``payload`` compressed, behind a mark, a checksum over it and ``name``, and its length."""
    packed = compress(payload)
    return _HEAD.pack(_MAGIC, checksum(name.encode(), packed), len(packed)) + packed


def unseal(file: BinaryIO, size: int, name: str) -> bytes:
    """What :func:`seal` was given under ``name``, from the next ``size`` bytes of ``file``.

    Raises:
        DamagedError: a byte is wrong, missing or too many, or it was sealed under another name.
        OSError: the file cannot be read.
    """
    head = file.read(_HEAD.size)
    if len(head) != _HEAD.size:
        raise DamagedError("it ends too early")
    magic, said, length = _HEAD.unpack(head)
    if magic != _MAGIC or length != size - _HEAD.size:  # before so much is read
        raise DamagedError("the mark or the length does not fit")
    packed = read_exactly(file, length)
    if checksum(name.encode(), packed) != said:
        raise DamagedError("the checksum does not fit")
    return decompress(packed)


def read_exactly(file: BinaryIO, size: int) -> bytes:
    """The next ``size`` bytes; raises DamagedError where there are fewer."""
    data = file.read(size)
    if len(data) != size:
        raise DamagedError("the file is shorter than it says")
    return data


def open_kept(path: Path) -> BinaryIO:
    """The file at ``path`` for reading, unbuffered.

    Raises:
        DamagedError: it is a folder, a pipe or a device, or a link to nothing.
        OSError: it cannot be opened.
    """
    try:
        return open_regular(path, buffering=0)
    except OSError as error:
        if path.is_symlink() or (path.exists() and not path.is_file()):
            raise DamagedError("no regular file") from error
        raise


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
