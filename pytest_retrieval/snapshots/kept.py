"""Trees that the store keeps: which source was read, what it held, and its texts by content."""

from __future__ import annotations

import json
import struct
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from pytest_retrieval import __version__
from pytest_retrieval.errors import SnapshotError
from pytest_retrieval.model import path_key
from pytest_retrieval.snapshots.base import Contents, Tree, TreeFile
from pytest_retrieval.store.pack import Block, Place
from pytest_retrieval.store.shelf import Shelf
from pytest_retrieval.store.store import Store

#: What tells a source from any other, and from itself before a change; None if that cannot be told.
Identity = tuple[str | int, ...]

_TEXTS = "texts"
_TREE = "tree"
_BLOCK_SIZE = 512 << 10  # bytes of text: one file is read without decompressing much more
_HEAD = struct.Struct("<I")
_IS_TEXT, _IS_CUT = 1, 2
_SETTLED = 100_000_000  # nanoseconds; a file changed later than that may change again in the same tick


class Keeper:
    """Reads the trees of ``repo`` through ``store``; without a store it only reads."""

    def __init__(self, store: Store | None = None, repo: str = "") -> None:
        self.store = store
        self.repo = repo

    def read(self, identify: Callable[[], Identity | None], read: Callable[[], Tree]) -> Tree:
        """The tree that ``read`` gives, from the store if a source of the same identity was read before.

        The identity is taken before and after reading: a source that changes meanwhile is not kept.
        """
        identity = identify() if self.store is not None else None
        if self.store is None or identity is None:
            return read()
        shelf = self.store.shelf(_TEXTS, self.repo)
        payload = self.store.record(_TREE, self._key(identity))
        if payload is not None:
            return decoded(payload, StoredContents(shelf, read))
        tree = read()
        if self.store.writable and identify() == identity:
            keep_texts(shelf, tree.contents.held)
            self.store.keep_record(_TREE, self._key(identity), encoded(tree))
        return tree

    def shelf(self, kind: str) -> Shelf | None:
        """The shelf of ``kind`` of the repository, if there is a store."""
        return None if self.store is None else self.store.shelf(kind, self.repo)

    def knows(self, identity: Identity | None) -> bool:
        """Whether :meth:`read` would not have to read."""
        if self.store is None or identity is None:
            return False
        return self.store.has_record(_TREE, self._key(identity))

    def _key(self, identity: Identity) -> str:
        # The version of the package stands for its rules of reading.
        return json.dumps([__version__, self.repo, *identity])


UNKEPT = Keeper()


def file_identity(path: Path) -> Identity | None:
    """The identity of a regular file that nobody is writing at this moment."""
    try:
        found = path.stat()
    except OSError:
        return None
    if time.time_ns() - found.st_mtime_ns < _SETTLED:
        return None
    times = (found.st_mtime_ns, found.st_ctime_ns)
    return (str(path.resolve()), found.st_size, found.st_dev, found.st_ino, *times)


def keep_texts(shelf: Shelf, held: Mapping[str, bytes]) -> None:
    """Put the contents of ``held``, by SHA-256, on ``shelf`` unless they are there."""
    missing = shelf.missing(bytes.fromhex(digest) for digest in held)
    if missing:
        shelf.add(_blocks((key, held[key.hex()]) for key in missing))


def _blocks(contents: Iterable[tuple[bytes, bytes]]) -> Iterator[Block]:
    places: list[Place] = []
    pieces: list[bytes] = []
    size = 0
    for key, content in contents:
        places.append(Place(key, size, len(content)))
        pieces.append(content)
        size += len(content)
        if size >= _BLOCK_SIZE:
            yield Block(b"".join(pieces), places)
            places, pieces, size = [], [], 0
    if places:
        yield Block(b"".join(pieces), places)


class StoredContents(Contents):
    """Contents from the store; what it has lost comes from the source, which is then read again."""

    def __init__(self, shelf: Shelf, reread: Callable[[], Tree]) -> None:
        self._shelf = shelf
        self._reread = reread
        self._source: Tree | None = None

    def stream(self, files: Iterable[TreeFile]) -> Iterator[tuple[TreeFile, Iterator[bytes]]]:
        """Each of ``files`` with its content, those of one block side by side."""
        wanted: dict[bytes, list[TreeFile]] = {}
        for file in files:
            wanted.setdefault(bytes.fromhex(file.digest), []).append(file)
        for block, places in self._shelf.fetch(list(wanted)):
            for key, start, length in places:
                for file in wanted.pop(key, ()):
                    yield file, iter((block[start : start + length],))
        lost = [file for several in wanted.values() for file in several]
        if lost:
            yield from self._again(lost).stream(lost)

    def _again(self, files: Iterable[TreeFile]) -> Contents:
        """The contents of the source itself, if it still has these files."""
        if self._source is None:
            self._source = self._reread()
            keep_texts(self._shelf, self._source.contents.held)
        there = {file.digest for file in self._source.files}
        for file in files:
            if file.digest not in there:
                raise SnapshotError(f"{file.path!r} changed while the benchmark ran")
        return self._source.contents

    def close(self) -> None:
        """Close the source, if it had to be opened."""
        if self._source is not None:
            self._source.contents.close()
            self._source = None


def encoded(tree: Tree) -> bytes:
    """A tree without its contents, as columns."""
    files = tree.files
    flags = [(_IS_TEXT if file.text else 0) | (_IS_CUT if file.path in tree.cut else 0) for file in files]
    facts = {"count": len(files), "view": tree.view, "version": tree.version, "dropped": tree.dropped or {}}
    head = json.dumps(facts).encode()
    sizes = struct.pack(f"<{len(files)}Q", *(file.size for file in files))
    digests = bytes.fromhex("".join(file.digest for file in files))
    # No path holds a NUL.
    paths = b"\0".join(path_key(file.path) for file in files)
    return b"".join((_HEAD.pack(len(head)), head, sizes, bytes(flags), digests, paths))


def decoded(payload: bytes, contents: Contents) -> Tree:
    """The tree of :func:`encoded`, with ``contents``."""
    start = _HEAD.size + _HEAD.unpack_from(payload)[0]
    facts = json.loads(payload[_HEAD.size : start])
    count = facts["count"]
    sizes = struct.unpack_from(f"<{count}Q", payload, start)
    start += 8 * count
    flags = payload[start : start + count]
    start += count
    digests = payload[start : start + 32 * count].hex()
    names = payload[start + 32 * count :].split(b"\0")
    paths = [name.decode("utf-8", "surrogateescape") for name in names]
    files = tuple(
        TreeFile(path, size, digests[64 * row : 64 * row + 64], bool(flag & _IS_TEXT))
        for row, (path, size, flag) in enumerate(zip(paths, sizes, flags, strict=False))
    )
    cut = frozenset(path for path, flag in zip(paths, flags, strict=False) if flag & _IS_CUT)
    return Tree(files, contents, facts["view"], cut, facts["dropped"], facts["version"])
