"""A snapshot: the files of a repository at a commit, read without a work tree."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pytest_retrieval.errors import SnapshotError
from pytest_retrieval.model import path_key
from pytest_retrieval.snapshots.paths import is_walked
from pytest_retrieval.snapshots.worktree import Worktree

if TYPE_CHECKING:
    from pytest_retrieval.store.store import Store


@dataclass(frozen=True, slots=True)
class TreeFile:
    """One file of a tree: its size in bytes, the SHA-256 of its content, and whether that is text.

    ``text`` is the text-file rule alone; whether text search walks the path is the snapshot's business.
    """

    path: str
    size: int
    digest: str
    text: bool


class Contents(ABC):
    """Where the bytes of a tree's files come from; ``held`` are those in memory, by SHA-256."""

    held: Mapping[str, bytes] = MappingProxyType({})

    @abstractmethod
    def stream(self, files: Iterable[TreeFile]) -> Iterator[tuple[TreeFile, Iterator[bytes]]]:
        """Each of ``files`` with its content in pieces; a piece iterator is used up before the next file.

        Raises:
            SnapshotError: a content cannot be read, or is no longer what it was.
        """

    def read(self, file: TreeFile) -> bytes:
        """The whole content of ``file``."""
        for _, pieces in self.stream([file]):
            return b"".join(pieces)
        raise SnapshotError(f"{file.path}: no content")

    @abstractmethod
    def close(self) -> None:
        """Let go of memory and handles."""


class MemoryContents(Contents):
    """Contents held in memory, each distinct one once, by its SHA-256."""

    def __init__(self, held: Mapping[str, bytes]) -> None:
        self.held = held

    def stream(self, files: Iterable[TreeFile]) -> Iterator[tuple[TreeFile, Iterator[bytes]]]:
        """Each of ``files`` with its content in one piece."""
        for file in files:
            yield file, iter((self.held[file.digest],))

    def close(self) -> None:
        """Forget every content."""
        self.held = {}


@dataclass(frozen=True, slots=True)
class Tree:
    """What a source gives: its files in any order, their contents, and what was left out.

    ``cut`` are the paths whose text the source shortened, ``dropped`` counts left-out entries by reason.
    """

    files: tuple[TreeFile, ...]
    contents: Contents
    view: str
    cut: frozenset[str] = frozenset()
    dropped: Mapping[str, int] | None = None
    version: str | None = None


class Snapshot:
    """The tree of ``repo@commit`` that arms search.

    ``files`` are all files, sorted by the bytes of their path; ``texts`` are those that text search walks
    (the N of the formulas); ``cut`` are paths whose text the source shortened; ``dropped`` counts what the
    view left out, by reason; ``source`` is where it came from, as a user would write it. What is made of
    the texts may be kept in ``store``.
    """

    def __init__(
        self,
        repo: str,
        commit: str,
        source: str,
        tree: Tree,
        scratch: Path | None = None,
        *,
        store: Store | None = None,
    ) -> None:
        self.repo = repo
        self.commit = commit
        self.source = source
        self.store = store
        self.view = tree.view
        self.version = tree.version
        self.cut = tree.cut
        self.dropped = dict(sorted((tree.dropped or {}).items()))
        self.files = tuple(sorted(tree.files, key=lambda file: path_key(file.path)))
        self.texts = tuple(file for file in self.files if file.text and is_walked(file.path))
        self.contents = tree.contents
        self._by_path = {file.path: file for file in self.files}
        self._worktree = Worktree(scratch)

    def __repr__(self) -> str:
        return f"<Snapshot {self.repo}@{self.commit} of {self.source}>"

    def __contains__(self, path: object) -> bool:
        return path in self._by_path

    @cached_property
    def paths(self) -> tuple[str, ...]:
        """The paths of :attr:`texts`."""
        return tuple(file.path for file in self.texts)

    @cached_property
    def tree_digest(self) -> str:
        """SHA-256 over the lines ``PATH NUL SHA256-OF-CONTENT LF``, sorted by the bytes of the path."""
        lines = "".join([f"{file.path}\0{file.digest}\n" for file in self.files])
        return hashlib.sha256(path_key(lines)).hexdigest()

    def read(self, path: str) -> bytes:
        """The bytes of the file at ``path``.

        Raises:
            SnapshotError: the tree has no such file, or its content cannot be read any more.
        """
        return self.contents.read(self._file(path))

    def _file(self, path: str) -> TreeFile:
        file = self._by_path.get(path)
        if file is None:
            raise SnapshotError(f"{self.repo}@{self.commit} has no file {path!r}")
        return file

    def read_each(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Each of ``paths``, in an order that suits the source, with its bytes; raises as :meth:`read` does.

        Cheaper than one :meth:`read` after another where contents are kept many together.
        """
        for file, pieces in self.contents.stream(map(self._file, paths)):
            yield file.path, b"".join(pieces)

    def text(self, path: str) -> str:
        """The file at ``path`` as UTF-8, with U+FFFD for what is none."""
        return self.read(path).decode("utf-8", "replace")

    def worktree(self) -> Path:
        """A private Git repository that holds these files in exactly one commit; made at the first call.

        Raises:
            SnapshotError: the folder cannot be written, or Git is missing.
        """
        return self._worktree.of(self)

    def worktree_changes(self) -> tuple[str, ...]:
        """What differs from the commit in :meth:`worktree`, as lines of ``git status --porcelain``.

        Nothing while the work tree is clean, or was never asked for. Ignored files are no change.
        """
        return self._worktree.changes()

    def rebuild_worktree(self) -> None:
        """Replace the work tree by a fresh one at the same place, without whatever an arm left in it.

        Raises:
            SnapshotError: the folder cannot be written.
        """
        self._worktree.rebuild(self)

    def close(self) -> None:
        """Remove the work tree and let go of the contents; harmless when repeated."""
        self._worktree.remove()
        self.contents.close()

    def facts(self) -> dict[str, Any]:
        """What a report keeps of the snapshot: JSON values only."""
        version = {} if self.version is None else {"version": self.version}
        return {
            "source": self.source,
            "view": self.view,
            **version,
            "tree": self.tree_digest,
            "files": len(self.files),
            "texts": len(self.texts),
            "cut": len(self.cut),
            "dropped": dict(self.dropped),
        }
