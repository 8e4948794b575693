"""A pack: many small things in one file that never changes, each found by its 32-byte key.

Blocks lie behind one another, each compressed; the index behind them says which block holds a key and where
in it; the last 16 bytes say where the index starts. Blocks and index carry checksums of their own, so one
thing is read and checked without the rest.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from pytest_retrieval.store.sealed import (
    SUM_SIZE,
    DamagedError,
    checksum,
    compress,
    decompress,
    open_kept,
    read_exactly,
    seal,
    unseal,
    write_whole,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

KEY_SIZE = 32
PACK = ".pack"
_MAGIC = b"RTVPACK1"
_TRAILER = struct.Struct("<Q8s")
_COUNTS = struct.Struct("<II")


class Place(NamedTuple):
    """Where in its block a key's thing lies; what the numbers count is the writer's business."""

    key: bytes
    start: int
    length: int


@dataclass(frozen=True, slots=True)
class Block:
    """Bytes that are compressed and read together, and the places in them."""

    data: bytes
    places: Sequence[Place]


def write_pack(folder: Path, kind: str, blocks: Iterable[Block]) -> tuple[Path, int]:
    """Write ``blocks`` as a pack in ``folder``: its path, which follows from its content, and its size.

    Raises:
        OSError: it cannot be written.
    """
    import numpy as np

    pieces: list[bytes] = []
    table: list[tuple[int, int, bytes]] = []
    rows: list[tuple[bytes, int, int, int]] = []
    offset = 0
    for number, block in enumerate(blocks):
        packed = compress(block.data)
        pieces.append(packed)
        table.append((offset, len(packed), checksum(packed)))
        rows.extend((place.key, number, place.start, place.length) for place in block.places)
        offset += len(packed)
    sizes = _COUNTS.pack(len(rows), len(table))
    of_row, of_block = _layouts()
    index = seal(sizes + np.array(rows, of_row).tobytes() + np.array(table, of_block).tobytes(), kind)
    path = folder / f"{kind}-{checksum(index).hex()}{PACK}"
    return path, write_whole(path, [*pieces, index, _TRAILER.pack(offset, _MAGIC)])


class Pack:
    """A pack whose index has been read; the file is opened anew for every block, so none stays open."""

    def __init__(self, path: Path) -> None:
        """Read the index of ``path``.

        Raises:
            DamagedError: it is no pack of this version and of the kind that its name says, or its index is
                damaged.
            OSError: it cannot be read.
        """
        self.path = path
        with open_kept(path) as file:
            self._rows, self._blocks = _index(file, path.name.partition("-")[0])
        raw = self._rows["key"].tobytes()
        self.keys = [raw[at : at + KEY_SIZE] for at in range(0, len(raw), KEY_SIZE)]

    def places(self, rows: Sequence[int]) -> dict[int, list[Place]]:
        """The places of ``rows`` by block."""
        found: dict[int, list[Place]] = {}
        chosen = self._rows[list(rows)]
        columns = (chosen[name].tolist() for name in ("block", "start", "length"))
        for row, block, start, length in zip(rows, *columns, strict=True):
            found.setdefault(block, []).append(Place(self.keys[row], start, length))
        return found

    def block(self, number: int) -> bytes:
        """The bytes of a block.

        Raises:
            DamagedError: they are not what was written.
            OSError: the file cannot be read, or is gone.
        """
        offset, size, said = self._blocks[number].tolist()
        with open_kept(self.path) as file:
            file.seek(offset)
            packed = read_exactly(file, size)
        if checksum(packed) != said:
            raise DamagedError("the checksum of a block does not fit")
        return decompress(packed)

    def check(self) -> None:
        """Read every block; raises as :meth:`block` does."""
        for number in range(len(self._blocks)):
            self.block(number)


@cache
def _layouts() -> tuple[np.dtype[np.void], np.dtype[np.void]]:
    """The columns of the index: of keys, and of blocks.

    numpy is imported late throughout this module: a controller starts its workers without it.
    """
    import numpy as np

    of_row = np.dtype([("key", f"S{KEY_SIZE}"), ("block", "<u4"), ("start", "<u4"), ("length", "<u4")])
    return of_row, np.dtype([("offset", "<u8"), ("size", "<u4"), ("sum", f"V{SUM_SIZE}")])


def _index(file: BinaryIO, kind: str) -> tuple[NDArray[np.void], NDArray[np.void]]:
    import numpy as np

    size = os.fstat(file.fileno()).st_size
    behind = file.seek(max(0, size - _TRAILER.size))
    tail = file.read(_TRAILER.size)
    if len(tail) != _TRAILER.size or not tail.endswith(_MAGIC):
        raise DamagedError("no pack of this version")
    start = _TRAILER.unpack(tail)[0]
    if start > behind:
        raise DamagedError("the index lies outside the file")
    file.seek(start)
    index = unseal(file, behind - start, kind)
    rows, blocks = _COUNTS.unpack_from(index)
    of_row, of_block = _layouts()
    behind = _COUNTS.size + rows * of_row.itemsize
    return np.frombuffer(index, of_row, rows, _COUNTS.size), np.frombuffer(index, of_block, blocks, behind)
