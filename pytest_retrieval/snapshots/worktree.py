"""A snapshot as a private Git repository of exactly one commit, for arms that read files."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_retrieval.errors import SnapshotError
from pytest_retrieval.model import path_key
from pytest_retrieval.snapshots.paths import is_safe
from pytest_retrieval.snapshots.program import Git

if TYPE_CHECKING:
    from pytest_retrieval.snapshots.base import Snapshot

_WHO = "pytest-retrieval"
_MAIL = "pytest-retrieval@localhost"
_WHEN = "2000-01-01T00:00:00+0000"
_COMMITTER = {
    "GIT_AUTHOR_NAME": _WHO,
    "GIT_AUTHOR_EMAIL": _MAIL,
    "GIT_AUTHOR_DATE": _WHEN,
    "GIT_COMMITTER_NAME": _WHO,
    "GIT_COMMITTER_EMAIL": _MAIL,
    "GIT_COMMITTER_DATE": _WHEN,
}
# The tree's own .gitattributes must not change a byte, nor make `git add` refuse a file.
RAW_ATTRIBUTES = "* -text -ident -filter !eol !working-tree-encoding !crlf\n"


class Worktree:
    """The work tree of one snapshot: made when first asked for, under ``scratch``."""

    def __init__(self, scratch: Path | None) -> None:
        self._scratch = scratch
        self._folder: Path | None = None

    def of(self, snapshot: Snapshot) -> Path:
        """The folder that holds the snapshot's files and their one commit."""
        if self._folder is None:
            return self._make(snapshot) / "tree"
        return self._folder / "tree"

    def changes(self) -> tuple[str, ...]:
        """What Git's status says of the folder, a line each: nothing while it is clean, or not made."""
        if self._folder is None:
            return ()
        root = self._folder / "tree"
        try:
            said = Git(root / ".git", root).output("status", "--porcelain", "--untracked-files=all")
        except SnapshotError as error:
            return (f"its state cannot be told: {error}",)
        return tuple(said.decode("utf-8", "replace").splitlines())

    def rebuild(self, snapshot: Snapshot) -> None:
        """Make the folder's files and commit anew, in the same place; nothing while it is not made."""
        if self._folder is not None:
            shutil.rmtree(self._folder / "tree", ignore_errors=True)
            self._fill(snapshot, self._folder)

    def remove(self) -> None:
        """Remove the folder; harmless when there is none."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None

    def _make(self, snapshot: Snapshot) -> Path:
        if self._scratch is not None:
            self._scratch.mkdir(parents=True, exist_ok=True)
        self._folder = Path(tempfile.mkdtemp(prefix="worktree-", dir=self._scratch))
        self._fill(snapshot, self._folder)
        return self._folder

    def _fill(self, snapshot: Snapshot, folder: Path) -> None:
        try:
            (folder / "tree").mkdir()
            write_files(snapshot, folder / "tree")
            commit(folder / "tree")
        except OSError as error:
            self.remove()
            name = f"{snapshot.repo}@{snapshot.commit}"
            raise SnapshotError(f"{name}: the work tree cannot be written: {error.strerror}") from error
        except BaseException:
            self.remove()
            raise


def write_files(snapshot: Snapshot, root: Path) -> None:
    """Write every file of ``snapshot`` below the empty folder ``root``, as plain files.

    Raises:
        SnapshotError: a path would leave ``root``.
    """
    made = {root}
    for file, pieces in snapshot.contents.stream(snapshot.files):
        if not is_safe(file.path):
            raise SnapshotError(f"{snapshot.repo}@{snapshot.commit}: path {file.path!r} is refused")
        place = root / os.fsdecode(path_key(file.path))
        if place.parent not in made:
            place.parent.mkdir(parents=True, exist_ok=True)
            made.add(place.parent)
        # O_EXCL: two paths that a file system takes for one must not overwrite each other silently.
        descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644)
        with os.fdopen(descriptor, "wb") as target:
            for piece in pieces:
                target.write(piece)


def commit(root: Path) -> None:
    """Make ``root`` a Git repository whose one commit holds all of its files, ignored ones too."""
    git = Git(root / ".git", root)
    git.output("init", "--quiet", "--template=", "--initial-branch=main", str(root))
    with contextlib.suppress(FileExistsError):
        (root / ".git" / "info").mkdir()
    (root / ".git" / "info" / "attributes").write_text(RAW_ATTRIBUTES, encoding="ascii")
    git.output("add", "-f", "-A")
    git.output(
        "commit",
        "--quiet",
        "--no-verify",
        "--no-gpg-sign",
        "--allow-empty",
        "-m",
        "snapshot",
        variables=_COMMITTER,
    )
