"""What each blob of a repository is in a view, so that neighbouring commits read only what changed."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from pytest_retrieval.store.pack import KEY_SIZE, Block, Place
from pytest_retrieval.store.shelf import Shelf

_RECORD = struct.Struct("<32sQB")
_IS_TEXT, _IS_CUT, _IS_HIDDEN = 1, 2, 4


class Blob(NamedTuple):
    """A blob as a view shows it: SHA-256 and size of what is shown; ``hidden`` if the view leaves it out."""

    digest: str
    size: int
    text: bool
    cut: bool = False
    hidden: bool = False


HIDDEN = Blob("0" * 64, 0, text=False, hidden=True)


def known_blobs(shelf: Shelf | None, oids: Iterable[str]) -> dict[str, Blob]:
    """The blobs among ``oids`` that ``shelf`` knows."""
    if shelf is None:
        return {}
    names = {_key(oid): oid for oid in oids}
    found: dict[str, Blob] = {}
    for data, places in shelf.fetch(names):
        for key, start, _ in places:
            digest, size, flags = _RECORD.unpack_from(data, start)
            kinds = (bool(flags & flag) for flag in (_IS_TEXT, _IS_CUT, _IS_HIDDEN))
            found[names[key]] = Blob(digest.hex(), size, *kinds)
    return found


def keep_blobs(shelf: Shelf | None, blobs: Mapping[str, Blob]) -> None:
    """Put blobs, by object id, on ``shelf``."""
    if shelf is None or not blobs:
        return
    places = [Place(_key(oid), row * _RECORD.size, _RECORD.size) for row, oid in enumerate(blobs)]
    shelf.add([Block(b"".join(map(_record, blobs.values())), places)])


def _record(blob: Blob) -> bytes:
    flags = _IS_TEXT * blob.text | _IS_CUT * blob.cut | _IS_HIDDEN * blob.hidden
    return _RECORD.pack(bytes.fromhex(blob.digest), blob.size, flags)


def _key(oid: str) -> bytes:
    return bytes.fromhex(oid).ljust(KEY_SIZE, b"\0")
