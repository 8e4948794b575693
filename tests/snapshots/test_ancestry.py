"""A copy with history: what came before its commit and, by no name, anything that came after."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from pytest_retrieval.errors import SnapshotError
from pytest_retrieval.snapshots.ancestry import copy_with_history, count_commits, has_commit
from tests.snapshots.repos import git


@pytest.fixture
def repository(tmp_path: Path) -> tuple[Path, list[str]]:
    """A repository with the commits base, feature and docs, a tag on the last and a branch beside."""
    folder = tmp_path / 'repo: "main"'
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=main")
    commits = []
    for name in ("base", "feature", "docs"):
        (folder / f"{name}.txt").write_text(f"{name}\r\n$Id$\n")
        (folder / ".gitattributes").write_text("* text ident\n")
        git(folder, "-c", "core.autocrlf=false", "add", "-A")
        git(folder, "commit", "--quiet", "-m", name)
        commits.append(git(folder, "rev-parse", "HEAD").decode().strip())
    git(folder, "tag", "-a", "-m", "release", "v1")
    git(folder, "checkout", "--quiet", "-b", "side", commits[1])
    (folder / "side.txt").write_text("side")
    git(folder, "add", "-A")
    git(folder, "commit", "--quiet", "-m", "side")
    commits.append(git(folder, "rev-parse", "HEAD").decode().strip())
    git(folder, "checkout", "--quiet", "main")
    return folder, commits


def state(folder: Path) -> list[tuple[str, bytes]]:
    return sorted((str(path), path.read_bytes()) for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("packed", [False, True])
def test_later_commits_are_not_there_by_any_name(
    repository: tuple[Path, list[str]], tmp_path: Path, packed: bool
) -> None:
    """25-11: a shared clone shows the answer to ``git log --all``, and its objects to who knows a name."""
    folder, (base, feature, docs, side) = repository
    if packed:
        git(folder, "gc", "--quiet")
    before = state(folder)
    root = tmp_path / "copy"
    root.mkdir()
    copy_with_history(folder, feature, root)
    assert git(root, "rev-parse", "HEAD").decode().strip() == feature
    assert git(root, "log", "--all", "--reflog", "--format=%H").decode().split() == [feature, base]
    assert git(root, "for-each-ref") == b""
    objects = {"docs.txt": git(folder, "rev-parse", f"{docs}:docs.txt").decode().strip()}
    for name in (docs, side, *objects.values(), git(folder, "rev-parse", "v1").decode().strip()):
        found = subprocess.run(["git", "cat-file", "-e", name], cwd=root, capture_output=True, check=False)
        assert found.returncode != 0
    assert not (root / ".git" / "objects" / "info" / "alternates").exists()
    assert sorted(path.name for path in root.iterdir()) == [
        ".git",
        ".gitattributes",
        "base.txt",
        "feature.txt",
    ]
    assert git(root, "status", "--porcelain", "--ignored") == b""
    assert git(root, "remote") == b""
    assert state(folder) == before


def test_files_are_the_blobs_as_they_are(repository: tuple[Path, list[str]], tmp_path: Path) -> None:
    folder, (base, *_) = repository
    root = tmp_path / "copy"
    root.mkdir()
    copy_with_history(folder, base, root)
    assert (root / "base.txt").read_bytes() == git(folder, "cat-file", "blob", f"{base}:base.txt")


def test_a_shallow_clone_ends_where_it_ends(repository: tuple[Path, list[str]], tmp_path: Path) -> None:
    folder, (_, feature, docs, _) = repository
    shallow = tmp_path / "shallow"
    git(tmp_path, "clone", "--quiet", "--depth=2", "--branch=main", folder.as_uri(), str(shallow))
    root = tmp_path / "copy"
    root.mkdir()
    copy_with_history(shallow, docs, root)
    assert git(root, "log", "--format=%H").decode().split() == [docs, feature]


def test_commits_are_known_by_their_full_names_only(repository: tuple[Path, list[str]]) -> None:
    folder, (_, feature, docs, _) = repository
    assert has_commit(folder, docs)
    assert [has_commit(folder, name) for name in (docs[:12], "main", "0" * 40, "", "--all", f"{docs}\n")] == [
        False
    ] * 6
    assert (count_commits(folder, docs), count_commits(folder, feature)) == (3, 2)


def test_what_is_no_repository_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SnapshotError, match="not a Git repository"):
        has_commit(tmp_path, "0" * 40)
