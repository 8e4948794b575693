"""A commit as a private Git repository with its own history, and not one object of what came after it."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from pytest_retrieval.errors import SnapshotError
from pytest_retrieval.snapshots.program import HEX, Git, git_directory
from pytest_retrieval.snapshots.worktree import RAW_ATTRIBUTES

_ALTERNATES = "GIT_ALTERNATE_OBJECT_DIRECTORIES"


def has_commit(source: Path, commit: str) -> bool:
    """Whether the repository at ``source`` has the commit of this full name.

    Raises:
        SnapshotError: there is no repository.
    """
    return HEX.fullmatch(commit) is not None and Git(git_directory(source)).resolve(commit) == commit


def count_commits(source: Path, commit: str) -> int:
    """How many commits ``commit`` and what came before it are."""
    return int(Git(git_directory(source)).output("rev-list", "--count", "--end-of-options", commit))


def copy_with_history(source: Path, commit: str, root: Path) -> None:
    """Make the empty folder ``root`` a repository whose HEAD is ``commit``.

    Only objects that the commit reaches are copied, so no branch, tag or name of a later object leads past
    it: a shared clone would lend all of them. The source is only read.

    Raises:
        SnapshotError: there is no such commit, or objects are missing (a partial clone).
    """
    origin = Git(git_directory(source))
    form = origin.output("rev-parse", "--show-object-format").decode().strip()
    git = Git(root / ".git", root)
    git.output(
        "init", "--quiet", "--template=", "--initial-branch=main", f"--object-format={form}", str(root)
    )
    with contextlib.suppress(FileExistsError):
        (root / ".git" / "info").mkdir()
    (root / ".git" / "info" / "attributes").write_text(RAW_ATTRIBUTES, encoding="ascii")
    _keep_shallow(origin, root)
    packs = root / ".git" / "objects" / "pack"
    packs.mkdir(parents=True, exist_ok=True)
    git.output(
        "pack-objects",
        "--revs",
        "--quiet",
        str(packs / "pack"),
        stdin=f"{commit}\n".encode("ascii"),
        variables={_ALTERNATES: _listed(_place(origin, "objects"))},
    )
    git.output("checkout", "--quiet", "--detach", commit)
    if git.resolve("HEAD") != commit:
        raise SnapshotError(f"{source}: {commit} is not the full name of a commit")


def _keep_shallow(origin: Git, root: Path) -> None:
    """Let the copy of a shallow clone end where the clone does."""
    shallow = _place(origin, "shallow")
    if shallow.is_file():
        (root / ".git" / "shallow").write_bytes(shallow.read_bytes())


def _listed(path: Path) -> str:
    """A path as the one entry of a list that colons part, where a quoted entry is read as a C string."""
    text = str(path)
    if ":" not in text and not text.startswith('"'):
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _place(origin: Git, name: str) -> Path:
    """Where a part of the repository lies: a linked worktree has most of them elsewhere."""
    return Path(os.fsdecode(origin.output("rev-parse", "--git-path", name).rstrip(b"\n")))
