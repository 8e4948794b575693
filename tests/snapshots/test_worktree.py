from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from pytest_retrieval.errors import SnapshotError
from pytest_retrieval.snapshots.base import MemoryContents, Snapshot, Tree, TreeFile
from pytest_retrieval.snapshots.chunkfile import read_chunk_file
from pytest_retrieval.snapshots.git import read_commit
from tests.snapshots.repos import bare_repository, git


def of_rows(folder: Path, rows: dict[str, str]) -> Snapshot:
    path = folder / "c.chunks.jsonl"
    lines = (json.dumps({"kind": "file", "path": name, "text": text}) for name, text in rows.items())
    path.write_text("\n".join(lines))
    return Snapshot("o/n", "c", "x", read_chunk_file(path), folder / "scratch")


def test_one_clean_commit_of_everything_and_nothing_else(tmp_path: Path) -> None:
    rows = {"a.py": "1\r\n", ".gitignore": "*\n", "b/c.log": "2", "empty": "", "-n": "x", "d e": "f"}
    snapshot = of_rows(tmp_path, rows)
    assert not (tmp_path / "scratch").exists()
    root = snapshot.worktree()
    assert root == snapshot.worktree()
    assert {
        str(p.relative_to(root)) for p in root.rglob("*") if p.is_file() and ".git" not in p.parts
    } == set(rows)
    assert git(root, "rev-list", "--all", "--count") == b"1\n"
    assert git(root, "status", "--porcelain", "--ignored") == b""
    assert git(root, "cat-file", "blob", "HEAD:a.py") == b"1\r\n"
    assert set(git(root, "ls-tree", "-r", "--name-only", "-z", "HEAD").decode().split("\0")) - {""} == set(
        rows
    )
    assert not (root / ".git" / "hooks").exists()
    assert git(root, "remote") == b""
    snapshot.close()
    assert list((tmp_path / "scratch").iterdir()) == []
    snapshot.close()


def test_the_commit_is_the_same_every_time(tmp_path: Path) -> None:
    commits = set()
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        snapshot = of_rows(tmp_path / name, {"a": "x"})
        commits.add(git(snapshot.worktree(), "rev-parse", "HEAD"))
        snapshot.close()
    assert len(commits) == 1


def test_the_trees_own_attributes_and_modules_change_nothing(tmp_path: Path) -> None:
    rows = {
        ".gitattributes": "* text eol=crlf ident filter=x working-tree-encoding=UTF-16\n",
        "a.txt": "$Id: 1$\r\nb\n",
        ".gitmodules": '[submodule "x"\n broken',
        "sub/HEAD": "ref: refs/heads/main",
    }
    snapshot = of_rows(tmp_path, rows)
    root = snapshot.worktree()
    for path, text in rows.items():
        assert git(root, "cat-file", "blob", f"HEAD:{path}") == text.encode()
        assert (root / path).read_bytes() == text.encode()
    assert git(root, "status", "--porcelain") == b""
    snapshot.close()


def test_links_are_plain_text_and_odd_names_are_bytes(tmp_path: Path) -> None:
    entries = [("120000", b"link", b"/etc/passwd"), ("100644", b"a.py", b"x")]
    commit = bare_repository(tmp_path / "r.git", entries)
    snapshot = Snapshot("o/n", commit, "x", read_commit(tmp_path / "r.git", commit, "arb"), tmp_path / "s")
    assert not (snapshot.worktree() / "link").is_symlink()
    assert (snapshot.worktree() / "link").read_bytes() == b"/etc/passwd"
    snapshot.close()


def test_binary_and_big_files_are_there_too(tmp_path: Path) -> None:
    entries = [
        ("100644", b"\xff", b"a\0b"),
        ("100644", b"big", b"x" * 1_200_000),
        ("100644", b"two", b"a\0b"),
    ]
    commit = bare_repository(tmp_path / "r.git", entries)
    snapshot = Snapshot("o/n", commit, "x", read_commit(tmp_path / "r.git", commit), tmp_path / "s")
    root = os.fsencode(snapshot.worktree())
    for _, path, content in entries:
        assert Path(os.fsdecode(root + b"/" + path)).read_bytes() == content
    snapshot.close()


def test_a_path_that_escapes_is_refused_once_more(tmp_path: Path) -> None:
    file = TreeFile("../escaped", 1, "d", True)
    snapshot = Snapshot("o/n", "c", "x", Tree((file,), MemoryContents({"d": b"x"}), "full"), tmp_path / "s")
    with pytest.raises(SnapshotError, match=r"'\.\./escaped' is refused"):
        snapshot.worktree()
    assert not list(tmp_path.rglob("escaped"))
    assert list((tmp_path / "s").iterdir()) == []


def test_names_that_git_takes_for_its_own(tmp_path: Path) -> None:
    rows = {"git~1/x": "y", "a\\b": "z", "ok": "1", ".git\u200c/x": "hfs"}
    snapshot = of_rows(tmp_path, {**rows, ".GIT/config": "[core]\n\tfsmonitor = touch ran\n"})
    assert snapshot.dropped == {"refused path": 1}
    root = snapshot.worktree()
    for path, text in rows.items():
        assert (root / path).read_text() == text
    assert git(root, "status", "--porcelain") == b""
    snapshot.close()
