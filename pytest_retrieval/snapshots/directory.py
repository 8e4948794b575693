"""A plain folder as a snapshot: every regular file of it, ignored ones too."""

from __future__ import annotations

import hashlib
import os
import stat
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from pytest_retrieval.errors import SnapshotError
from pytest_retrieval.model import path_key
from pytest_retrieval.snapshots.base import Contents, Tree, TreeFile
from pytest_retrieval.snapshots.paths import OWN_FOLDER, TEXT_HEAD, is_safe, is_text

_PIECE = 1 << 20
_INDEX = ".corvint/index"
_UNREAD = {b".git", OWN_FOLDER.encode()}


def read_directory(root: Path) -> Tree:
    """The tree below ``root`` without ``.git``, ``.retrieval`` and ``.corvint/index``; no link is followed.

    The first two are left out at any depth: a run may write its report and journal into ``.retrieval``.

    Raises:
        SnapshotError: ``root`` is no folder, or something in it cannot be read.
    """
    dropped: Counter[str] = Counter()
    files = []
    try:
        for path in _walk(os.fsencode(root), b"", dropped):
            if is_safe(path):
                files.append(measure(root, path))
            else:
                dropped["refused path"] += 1
    except OSError as error:
        raise SnapshotError(f"{root}: cannot be read ({error.strerror})") from error
    return Tree(tuple(files), DirectoryContents(root), "full", dropped=dropped)


def _walk(root: bytes, inside: bytes, dropped: Counter[str]) -> Iterator[str]:
    """Paths of the regular files below ``root/inside``; names are bytes, so no locale changes them."""
    folders = [inside]
    while folders:
        folder = folders.pop()
        with os.scandir(root + b"/" + folder) as entries:
            for entry in entries:
                path = folder + b"/" + entry.name if folder else entry.name
                if entry.name in _UNREAD or path == _INDEX.encode():
                    continue
                if entry.is_symlink():
                    dropped["symbolic link"] += 1
                elif entry.is_dir(follow_symlinks=False):
                    folders.append(path)
                elif entry.is_file(follow_symlinks=False):
                    yield path.decode("utf-8", "surrogateescape")
                else:
                    dropped["special file"] += 1


def measure(root: Path, path: str) -> TreeFile:
    """Size, digest and kind of one file, read in pieces."""
    whole = hashlib.sha256()
    size, head = 0, b""
    with open_regular(root, path) as reader:
        while piece := reader.read(_PIECE):
            head = head or piece[:TEXT_HEAD]
            size += len(piece)
            whole.update(piece)
    return TreeFile(path, size, whole.hexdigest(), is_text(size, head))


def open_regular(root: Path, path: str) -> BinaryIO:
    """The regular file ``root/path``, opened without following a link or waiting for a pipe."""
    place = os.fsencode(root) + b"/" + path_key(path)
    descriptor = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise SnapshotError(f"{root}: {path!r} is no regular file any more")
    return os.fdopen(descriptor, "rb", buffering=0)


class DirectoryContents(Contents):
    """Contents read from the folder when asked for, and checked against their digest."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def stream(self, files: Iterable[TreeFile]) -> Iterator[tuple[TreeFile, Iterator[bytes]]]:
        """Each of ``files`` with its content in pieces."""
        for file in files:
            yield file, self._pieces(file)

    def _pieces(self, file: TreeFile) -> Iterator[bytes]:
        whole = hashlib.sha256()
        try:
            with open_regular(self.root, file.path) as reader:
                while piece := reader.read(_PIECE):
                    whole.update(piece)
                    yield piece
        except OSError as error:
            raise SnapshotError(f"{self.root}: {file.path!r} cannot be read ({error.strerror})") from error
        if whole.hexdigest() != file.digest:
            raise SnapshotError(f"{self.root}: {file.path!r} changed while the benchmark ran")

    def close(self) -> None:
        """Nothing is held."""
