"""A commit of any Git repository, bare or not, read as raw blobs: no checkout, no archive, no filters."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from pytest_retrieval.errors import SnapshotError, closest
from pytest_retrieval.snapshots import arb
from pytest_retrieval.snapshots.base import Contents, Tree, TreeFile
from pytest_retrieval.snapshots.blobs import HIDDEN, Blob, keep_blobs, known_blobs
from pytest_retrieval.snapshots.kept import UNKEPT, Keeper
from pytest_retrieval.snapshots.paths import TEXT_LIMIT, is_safe, is_text
from pytest_retrieval.snapshots.program import Git, git_directory
from pytest_retrieval.store.shelf import Shelf

VIEWS = ("full", "arb")
_PIECE = 1 << 20
_LINE_LIMIT = 1 << 16
_LINK, _SUBMODULE = "120000", "160000"


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of ``git ls-tree``: ``size`` in bytes, 0 for a submodule, -1 for a blob that is missing."""

    path: str
    mode: str
    oid: str
    size: int


def read_commit(path: Path, revision: str, view: str = "full", keeper: Keeper = UNKEPT) -> Tree:
    """The tree of ``revision`` in the repository at ``path``, through ``view`` (``full`` or ``arb``).

    A commit never changes, so a tree that ``keeper`` has is right; of any other it may know most blobs.

    Raises:
        SnapshotError: no repository, no such commit, an unknown view, or an object that is missing.
    """
    if view not in VIEWS:
        raise SnapshotError(f"unknown view {view!r}: the views are {', '.join(VIEWS)}{closest(view, VIEWS)}")
    git = Git(git_directory(path))
    commit = git.resolve(revision)
    if commit is None:
        raise SnapshotError(
            f"{path}: no commit {revision!r} in this repository; fetch it, or give another source"
        )
    read = _full_view if view == "full" else _arb_view
    shelf = keeper.shelf(f"git1{view}")
    return keeper.read(lambda: ("git", commit, view), lambda: read(git, list_entries(git, commit), shelf))


def list_entries(git: Git, commit: str) -> list[Entry]:
    """Every entry of the commit's tree, in the order of ``git ls-tree -r``."""
    with git.stream("ls-tree", "-r", "-z", "--long", "--full-tree", commit) as reader:
        return [_entry(record) for record in reader.read().split(b"\0") if record]


def _entry(record: bytes) -> Entry:
    head, _, name = record.partition(b"\t")
    mode, _, oid, size = head.decode("ascii").split()
    length = {"-": 0, "BAD": -1}.get(size)
    path = name.decode("utf-8", "surrogateescape")
    return Entry(path, mode, oid, int(size) if length is None else length)


def _full_view(git: Git, entries: Iterable[Entry], shelf: Shelf | None) -> Tree:
    dropped: Counter[str] = Counter()
    kept = [entry for entry in entries if _is_kept(_full_reason(entry), dropped)]
    held: dict[str, bytes] = {}
    blobs = _blobs(git, kept, shelf, lambda size, pieces: _measured(size, pieces, held))
    return _tree(git, kept, blobs, held, view="full", dropped=dropped)


def _blobs(
    git: Git, entries: Iterable[Entry], shelf: Shelf | None, measure: Callable[[int, Iterator[bytes]], Blob]
) -> dict[str, Blob]:
    """What each blob of ``entries`` is, by object id; only those that ``shelf`` does not know are read."""
    oids = list(dict.fromkeys(entry.oid for entry in entries))
    known = known_blobs(shelf, oids)
    unknown = [oid for oid in oids if oid not in known]
    read = {oid: measure(size, pieces) for oid, size, pieces in batch(git, unknown)}
    keep_blobs(shelf, read)
    return {**known, **read}


def _tree(
    git: Git,
    entries: Sequence[Entry],
    blobs: Mapping[str, Blob],
    held: dict[str, bytes],
    *,
    view: str,
    dropped: Mapping[str, int],
) -> Tree:
    shown = [(entry, blobs[entry.oid]) for entry in entries if not blobs[entry.oid].hidden]
    files = tuple(TreeFile(entry.path, blob.size, blob.digest, blob.text) for entry, blob in shown)
    cut = frozenset(entry.path for entry, blob in shown if blob.cut)
    origin = {blob.digest: entry.oid for entry, blob in shown}
    return Tree(files, GitContents(git, held, origin, view), view, cut, dropped)


def _full_reason(entry: Entry) -> str | None:
    if entry.mode == _SUBMODULE:
        return "submodule"
    if entry.mode == _LINK:
        return "symbolic link"
    return None if is_safe(entry.path) else "refused path"


def _measured(size: int, pieces: Iterator[bytes], held: dict[str, bytes]) -> Blob:
    """Hash a blob, and keep it in ``held`` if it is text; bigger ones pass through in pieces."""
    whole = hashlib.sha256()
    if size > TEXT_LIMIT:
        for piece in pieces:
            whole.update(piece)
        return Blob(whole.hexdigest(), size, text=False)
    content = b"".join(pieces)
    whole.update(content)
    text = is_text(size, content)
    if text:
        held[whole.hexdigest()] = content
    return Blob(whole.hexdigest(), size, text)


def _arb_view(git: Git, entries: Iterable[Entry], shelf: Shelf | None) -> Tree:
    dropped: Counter[str] = Counter()
    listed = [entry for entry in entries if _is_kept(_arb_reason(entry), dropped)]
    if len(listed) > arb.PATH_CAP:
        dropped["beyond 20,000 paths"] = len(listed) - arb.PATH_CAP
    kept = [entry for entry in listed[: arb.PATH_CAP] if _is_kept(arb.dropped_size(entry.size), dropped)]
    held: dict[str, bytes] = {}
    blobs = _blobs(git, kept, shelf, lambda _, pieces: _shown(b"".join(pieces), held))
    if hidden := sum(blobs[entry.oid].hidden for entry in kept):
        dropped["binary content"] = hidden
    return _tree(git, kept, blobs, held, view="arb", dropped=dropped)


def _arb_reason(entry: Entry) -> str | None:
    if entry.mode == _SUBMODULE:
        return "submodule"
    return arb.dropped_path(entry.path) or (None if is_safe(entry.path) else "refused path")


def _shown(content: bytes, held: dict[str, bytes]) -> Blob:
    row = arb.shown_text(content)
    if row is None:
        return HIDDEN
    text = row[0].encode("utf-8")
    digest = hashlib.sha256(text).hexdigest()
    held[digest] = text
    return Blob(digest, len(text), text=True, cut=row[1])


def _is_kept(reason: str | None, dropped: Counter[str]) -> bool:
    if reason is not None:
        dropped[reason] += 1
    return reason is None


def batch(git: Git, oids: Sequence[str]) -> Iterator[tuple[str, int, Iterator[bytes]]]:
    """Each of the blobs ``oids``, in order, with its size and content in pieces, by one ``git cat-file``.

    Raises:
        SnapshotError: an object is missing (a shallow or partial clone) or is no blob.
    """
    if not oids:
        return
    with git.stream("cat-file", "--batch", stdin="".join(f"{oid}\n" for oid in oids).encode()) as reader:
        for oid in oids:
            size = _announced(git, reader.readline(_LINE_LIMIT), oid)
            pieces = _pieces(reader, size)
            yield oid, size, pieces
            for _ in pieces:
                pass
            reader.read(1)


def _announced(git: Git, line: bytes, oid: str) -> int:
    words = line.split()
    if len(words) != 3 or words[0].decode("ascii", "replace") != oid or words[1] != b"blob":
        raise SnapshotError(
            f"{git.directory}: object {oid} is missing or no blob; a shallow or partial clone cannot serve"
        )
    return int(words[2])


def _pieces(reader: BinaryIO, size: int) -> Iterator[bytes]:
    while size > 0:
        piece = reader.read(min(size, _PIECE))
        if not piece:
            raise SnapshotError("git cat-file ended in the middle of an object")
        size -= len(piece)
        yield piece


class GitContents(Contents):
    """Text held in memory, everything else fetched from the repository when asked for."""

    def __init__(self, git: Git, held: dict[str, bytes], origin: dict[str, str], view: str) -> None:
        self.git = git
        self.held = held
        self.origin = origin
        self.view = view

    def stream(self, files: Iterable[TreeFile]) -> Iterator[tuple[TreeFile, Iterator[bytes]]]:
        """Each of ``files`` with its content; the ones not held come last, from one Git process."""
        absent = []
        for file in files:
            if file.digest in self.held:
                yield file, iter((self.held[file.digest],))
            else:
                absent.append(file)
        found = batch(self.git, [self.origin[file.digest] for file in absent])
        for file, (_, _, pieces) in zip(absent, found, strict=True):
            yield file, pieces if self.view == "full" else _seen(pieces)

    def close(self) -> None:
        """Forget the texts that are held."""
        self.held = {}


def _seen(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The content of a blob as the view ``arb`` shows it."""
    row = arb.shown_text(b"".join(pieces))
    yield b"" if row is None else row[0].encode("utf-8")
