"""What a user may name as the source of a snapshot, and how each kind is read.

``git:PATH[?view=arb]``, ``dist:NAME``, a chunk file, a folder that is a Git worktree, or any other folder.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from pytest_retrieval.errors import SnapshotError, UsageError
from pytest_retrieval.regular import is_named
from pytest_retrieval.snapshots.base import Snapshot, Tree
from pytest_retrieval.snapshots.checkout import head_commit, is_checkout, read_checkout
from pytest_retrieval.snapshots.chunkfile import read_chunk_file
from pytest_retrieval.snapshots.directory import read_directory
from pytest_retrieval.snapshots.distribution import distribution_version, read_distribution
from pytest_retrieval.snapshots.git import read_commit
from pytest_retrieval.snapshots.kept import UNKEPT, Keeper, file_identity

_OPTION = re.compile(r"(?P<repo>[^/@=:\s]+/[^/@=:\s]+)@(?P<commit>[^@=\s]+)=(?P<source>.+)", re.DOTALL)
_VIEW = re.compile(r"(?P<path>.*)\?view=(?P<view>[^/?]*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class NamedSource:
    """A source and the ``repo@commit`` that it serves."""

    repo: str
    commit: str
    source: str

    @property
    def name(self) -> str:
        """``repo@commit``, the key of a catalog's explicit sources."""
        return f"{self.repo}@{self.commit}"


def split_view(text: str) -> tuple[str, str | None]:
    """``PATH?view=V`` as path and view; the view is None when the text names none."""
    found = _VIEW.fullmatch(text)
    return (found["path"], found["view"]) if found else (text, None)


def rebase(source: str, base: Path) -> str:
    """``source`` with its path, if it has one, relative to ``base`` instead of the working directory."""
    return _seen_from(Path.cwd(), source, base)


def shown_from(here: Path, source: str) -> str:
    """``source`` as one that stands in the folder ``here`` would write it, whatever the working directory."""
    return _seen_from(here, source, Path.cwd(), normal=True)


def _seen_from(here: Path, source: str, base: Path, *, normal: bool = False) -> str:
    if source.startswith("dist:"):
        return source
    prefix = "git:" if source.startswith("git:") else ""
    place, mark, view = source.removeprefix(prefix).partition("?view=")
    path = base / Path(place).expanduser()
    if normal:
        path = Path(os.path.normpath(path))
    if path.is_relative_to(here):
        path = path.relative_to(here)
    return f"{prefix}{path}{mark}{view}"


def parse_snapshot_option(text: str, base: Path | None = None) -> NamedSource:
    """``OWNER/NAME@COMMIT=SOURCE``, or a bare ``SOURCE`` whose repository and commit are derived.

    Relative paths are below ``base``, by default the working directory.

    A worktree or ``git:PATH`` is ``local/FOLDER`` at its HEAD; ``dist:NAME`` is ``dist/NAME`` at its version;
    any other folder or a chunk file is ``local/NAME`` at the first 40 digits of its tree digest.

    Raises:
        UsageError: an empty text.
        SnapshotError: a bare source that cannot be read.
    """
    found = _OPTION.fullmatch(text)
    if found:
        return NamedSource(found["repo"], found["commit"], rebase(found["source"], base or Path.cwd()))
    if not text.strip():
        raise UsageError("--snapshot wants OWNER/NAME@COMMIT=SOURCE or SOURCE, and got an empty text")
    return _derived(rebase(text, base or Path.cwd()))


def _derived(source: str) -> NamedSource:
    if source.startswith("dist:"):
        name = source.removeprefix("dist:")
        return NamedSource(f"dist/{name}", distribution_version(name), source)
    path = Path(split_view(source.removeprefix("git:"))[0])
    name = path.absolute().name
    name = (path.resolve().name if name in {"", ".."} else name).removesuffix(".git") or "root"
    if source.startswith("git:") or is_checkout(path):
        return NamedSource(f"local/{name}", head_commit(path), source)
    name = name.removesuffix(".zst").removesuffix(".chunks.jsonl")
    whole = Snapshot("local", "", source, read_source(source, ""))
    digest = whole.tree_digest
    whole.close()
    return NamedSource(f"local/{name}", digest[:40], source)


def read_source(source: str, commit: str, base: Path | None = None, keeper: Keeper = UNKEPT) -> Tree:
    """The tree that ``source`` gives for ``commit``; relative paths are below ``base``.

    ``keeper`` may know it from before; folders and worktrees are read each time, for nothing tells cheaply
    that they are unchanged.

    Raises:
        SnapshotError: nothing is there, or it cannot serve that commit.
    """
    if source.startswith("dist:"):
        return read_distribution(source.removeprefix("dist:"), keeper)
    if source.startswith("git:"):
        place, view = split_view(source.removeprefix("git:"))
        return read_commit(_below(base, place), commit, view or "full", keeper)
    path = _below(base, source)
    if is_named(path):
        return keeper.read(lambda: file_identity(path), lambda: read_chunk_file(path, source))
    if not path.is_dir():
        raise SnapshotError(
            f"{source}: no such file or folder; a source is git:PATH, dist:NAME, a chunk file or a folder"
        )
    if is_checkout(path):
        return read_checkout(path, commit)
    if (path / "HEAD").is_file() and (path / "objects").is_dir():
        raise SnapshotError(f"{source}: a bare Git repository is read at a commit: write git:{source}")
    return read_directory(path)


def _below(base: Path | None, place: str) -> Path:
    return Path(place) if base is None else base / place
