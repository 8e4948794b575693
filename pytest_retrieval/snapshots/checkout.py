"""A user's own Git worktree: served only when it is clean and at the base commit, and never written."""

from __future__ import annotations

from pathlib import Path

from pytest_retrieval.errors import SnapshotError
from pytest_retrieval.snapshots.base import Tree
from pytest_retrieval.snapshots.directory import read_directory
from pytest_retrieval.snapshots.program import Git, git_directory


def is_checkout(path: Path) -> bool:
    """Whether ``path`` itself is a worktree: only a folder's own ``.git`` makes it one."""
    return (path / ".git").exists()


def head_commit(path: Path) -> str:
    """The full name of the commit that a repository or worktree is at.

    Raises:
        SnapshotError: there is no repository, or no commit yet.
    """
    head = Git(git_directory(path)).resolve("HEAD")
    if head is None:
        raise SnapshotError(f"{path}: the repository has no commit yet")
    return head


def read_checkout(path: Path, commit: str) -> Tree:
    """The files of the worktree at ``path``, read like a plain folder.

    Raises:
        SnapshotError: it is at another commit than ``commit`` (both are named), or not clean.
    """
    head = head_commit(path)
    if (Git(git_directory(path)).resolve(commit) or commit) != head:
        remedy = f"check that out, or use git:{path}"
        raise SnapshotError(f"{path}: the worktree is at {head}, the sample needs {commit}; {remedy}")
    changed = changes(path)
    if changed:
        more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
        fault = f"the worktree at {head} is not clean ({changed[0]!r}{more})"
        raise SnapshotError(f"{path}: {fault}, the sample needs {commit}; commit or stash, or use git:{path}")
    return read_directory(path)


def changes(path: Path, *, untracked: str = "normal") -> list[str]:
    """The paths that ``git status`` reports; no program that the repository names runs.

    ``untracked`` is as for ``--untracked-files``.
    """
    git = Git(git_directory(path), path)
    status = git.output(
        "status",
        "--porcelain",
        "-z",
        f"--untracked-files={untracked}",
        "--ignore-submodules=dirty",
        "--no-renames",
        variables=_without_filters(git),
    )
    return [record[3:].decode("utf-8", "surrogateescape") for record in status.split(b"\0") if record]


def _without_filters(git: Git) -> dict[str, str]:
    """Variables that empty every filter program of the repository's configuration.

    ``git status`` runs ``filter.NAME.clean`` on files that look touched; the names are the repository's own,
    so each is overridden by its exact key.
    """
    listed = git.output("config", "--list", "--includes", "--name-only", "-z")
    names = sorted({name.decode("utf-8", "surrogateescape") for name in listed.split(b"\0") if name})
    pairs = []
    for name in names:
        if name.startswith("filter.") and name.endswith((".clean", ".smudge", ".process")):
            pairs.append((name, ""))
        elif name.startswith("filter.") and name.endswith(".required"):
            pairs.append((name, "false"))
    variables = {"GIT_CONFIG_COUNT": str(len(pairs))}
    for index, (name, value) in enumerate(pairs):
        variables |= {f"GIT_CONFIG_KEY_{index}": name, f"GIT_CONFIG_VALUE_{index}": value}
    return variables
