from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_retrieval.errors import SnapshotError
from pytest_retrieval.snapshots.checkout import is_checkout, read_checkout
from tests.snapshots.repos import checkout, git

FILES = {"a.py": b"1\n", "b/c.py": b"2\n", ".gitignore": b"*.log\n"}


@pytest.fixture
def worktree(tmp_path: Path) -> tuple[Path, str]:
    return tmp_path / "r", checkout(tmp_path / "r", FILES)


def test_a_clean_worktree_at_the_commit_is_read_like_a_folder(worktree: tuple[Path, str]) -> None:
    folder, commit = worktree
    (folder / "x.log").write_bytes(b"ignored, but there")
    assert {file.path for file in read_checkout(folder, commit).files} == {*FILES, "x.log"}
    assert read_checkout(folder, "main").files


def test_another_commit_names_both(worktree: tuple[Path, str]) -> None:
    folder, commit = worktree
    with pytest.raises(SnapshotError, match=f"the worktree is at {commit}, the sample needs {'e' * 40}; "):
        read_checkout(folder, "e" * 40)


@pytest.mark.parametrize("change", ["modified", "untracked", "staged", "deleted"])
def test_a_worktree_that_is_not_clean(worktree: tuple[Path, str], change: str) -> None:
    folder, commit = worktree
    if change == "deleted":
        (folder / "a.py").unlink()
    else:
        (folder / ("new.py" if change == "untracked" else "a.py")).write_bytes(b"other\n")
    if change == "staged":
        git(folder, "add", "-A")
    with pytest.raises(SnapshotError, match=f"the worktree at {commit} is not clean .*needs {commit}"):
        read_checkout(folder, commit)


def test_only_a_folders_own_git_makes_it_a_worktree(worktree: tuple[Path, str]) -> None:
    assert is_checkout(worktree[0])
    assert not is_checkout(worktree[0] / "b")


def test_a_linked_worktree(worktree: tuple[Path, str], tmp_path: Path) -> None:
    git(worktree[0], "worktree", "add", "-q", "--detach", str(tmp_path / "linked"))
    assert {file.path for file in read_checkout(tmp_path / "linked", worktree[1]).files} == set(FILES)


def test_nothing_that_the_repository_names_is_run(worktree: tuple[Path, str], tmp_path: Path) -> None:
    folder, _ = worktree
    marker = tmp_path / "ran"
    trap = f"touch {marker}; cat"
    (folder / ".gitattributes").write_bytes(b"* filter=evil.one diff=evil\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "two")
    commit = git(folder, "rev-parse", "HEAD").strip().decode()
    settings = [
        "core.fsmonitor",
        "core.hooksPath",
        "core.pager",
        "core.sshCommand",
        "diff.external",
        "gpg.program",
    ]
    settings += [
        "filter.evil.one.clean",
        "filter.evil.one.process",
        "diff.evil.textconv",
        "diff.evil.command",
    ]
    for setting in [*settings, "core.alternateRefsCommand", "core.askPass", "alias.status"]:
        git(folder, "config", setting, trap)
    git(folder, "config", "filter.evil.one.required", "true")
    hook = folder / ".git" / "hooks" / "post-index-change"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {marker}\n")
    hook.chmod(0o755)
    for path in FILES:
        os.utime(folder / path, (1, 1))
    before = (folder / ".git" / "index").read_bytes()
    assert read_checkout(folder, commit).files
    assert not marker.exists()
    assert (folder / ".git" / "index").read_bytes() == before
