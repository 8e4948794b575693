"""What a repository is, as far as the starting files need to know: its place, its name, and its branch."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_retrieval.errors import SnapshotError, UsageError
from pytest_retrieval.snapshots.checkout import is_checkout
from pytest_retrieval.snapshots.git import list_entries
from pytest_retrieval.snapshots.program import Git, git_directory

_REMOTE = re.compile(r".*[/:]([^/:@\s]+)/([^/:@\s]+?)(?:\.git)?/?")
_UNFIT = re.compile(r"[^A-Za-z0-9._-]")
_DEFAULT_BRANCH = "main"


@dataclass(frozen=True, slots=True)
class Repository:
    """The work tree at ``root``, its commit and the files in that; ``name`` is ``OWNER/NAME``."""

    root: Path
    name: str
    commit: str
    branch: str
    paths: Sequence[str]


def find_repository(folder: Path) -> Repository:
    """The repository that ``folder`` lies in.

    Raises:
        UsageError: there is none, or it has no commit; one line that says what to do.
    """
    start = folder.absolute()
    root = next((path for path in (start, *start.parents) if is_checkout(path)), None)
    if root is None:
        raise UsageError(
            f"{folder} is in no Git repository: queries are asked of a commit; run git init first"
        )
    try:
        git = Git(git_directory(root))
        commit = git.resolve("HEAD")
    except SnapshotError as error:
        raise UsageError(str(error)) from None
    if commit is None:
        raise UsageError(
            f"{root}: the repository has no commit yet; commit something first: queries are asked of a commit"
        )
    paths = [entry.path for entry in list_entries(git, commit)]
    return Repository(root, _name(git, root), commit, _branch(git), paths)


def _name(git: Git, root: Path) -> str:
    """``OWNER/NAME`` of the remote, else ``local/FOLDER``."""
    found = _REMOTE.fullmatch(_line(git, "config", "--get", "remote.origin.url"))
    owner, name = found.groups() if found else ("local", root.name)
    return f"{_UNFIT.sub('-', owner)}/{_UNFIT.sub('-', name) or 'root'}"


def _branch(git: Git) -> str:
    """The default branch: the remote's, else the one that is checked out."""
    remote = _line(git, "symbolic-ref", "--short", "--quiet", "refs/remotes/origin/HEAD")
    branch = remote.removeprefix("origin/") or _line(git, "symbolic-ref", "--short", "--quiet", "HEAD")
    return branch if re.fullmatch(r"[A-Za-z0-9._/-]+", branch) else _DEFAULT_BRANCH


def _line(git: Git, *words: str) -> str:
    """What a command prints, on one line; nothing where it has nothing to say."""
    try:
        return git.output(*words).decode("utf-8", "replace").strip()
    except SnapshotError:
        return ""
