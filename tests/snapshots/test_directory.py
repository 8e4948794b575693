from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_retrieval.errors import SnapshotError
from pytest_retrieval.snapshots.base import Snapshot
from pytest_retrieval.snapshots.directory import read_directory


def put(root: Path, path: str, content: bytes = b"x") -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_bytes(content)


def test_every_regular_file_ignored_ones_too(tmp_path: Path) -> None:
    for path in (
        ".gitignore",
        "a/b.py",
        "build/x.o",
        ".corvint/notes",
        ".corvint/index/i",
        "a/.git/config",
        ".git",
    ):
        put(tmp_path, path)
    snapshot = Snapshot("o/n", "c", "x", read_directory(tmp_path))
    assert [file.path for file in snapshot.files] == [".corvint/notes", ".gitignore", "a/b.py", "build/x.o"]
    assert snapshot.paths == (".gitignore", "a/b.py", "build/x.o")


def test_the_folder_of_reports_is_no_part_of_it(tmp_path: Path) -> None:
    for path in (".retrieval/report.json", "deep/.retrieval/report.json.journal", "deep/a.retrieval"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("x")
    tree = read_directory(tmp_path)
    assert [file.path for file in tree.files] == ["deep/a.retrieval"]
    assert not tree.dropped


def test_links_and_special_files_are_not_followed(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    put(root, "a")
    put(tmp_path, "outside/secret")
    (root / "to_file").symlink_to(tmp_path / "outside" / "secret")
    (root / "to_folder").symlink_to(tmp_path / "outside")
    (root / "loop").symlink_to(root)
    os.mkfifo(root / "pipe")
    tree = read_directory(root)
    assert [file.path for file in tree.files] == ["a"]
    assert tree.dropped == {"symbolic link": 3, "special file": 1}


def test_names_are_bytes(tmp_path: Path) -> None:
    name = os.fsencode(tmp_path) + b"/\xff\xe9.py"
    os.close(os.open(name, os.O_CREAT | os.O_WRONLY))
    put(tmp_path, "a\nb\\c")
    snapshot = Snapshot("o/n", "c", "x", read_directory(tmp_path))
    assert snapshot.paths == ("a\nb\\c", "\udcff\udce9.py")
    assert snapshot.read("\udcff\udce9.py") == b""


def test_what_counts_as_text(tmp_path: Path) -> None:
    put(tmp_path, "big", b"x" * 1_048_576)
    put(tmp_path, "bigger", b"x" * 1_048_577)
    put(tmp_path, "early", b"x" * 8191 + b"\0")
    put(tmp_path, "late", b"x" * 8192 + b"\0")
    snapshot = Snapshot("o/n", "c", "x", read_directory(tmp_path))
    assert snapshot.paths == ("big", "late")
    assert len(snapshot.read("bigger")) == 1_048_577


def test_a_file_that_changes_under_the_run_is_noticed(tmp_path: Path) -> None:
    put(tmp_path, "a", b"one")
    put(tmp_path, "b")
    snapshot = Snapshot("o/n", "c", "x", read_directory(tmp_path))
    put(tmp_path, "a", b"two")
    with pytest.raises(SnapshotError, match="'a' changed while the benchmark ran"):
        snapshot.read("a")
    (tmp_path / "b").unlink()
    os.mkfifo(tmp_path / "b")
    with pytest.raises(SnapshotError, match="'b' is no regular file any more"):
        snapshot.read("b")
    with pytest.raises(SnapshotError, match="has no file 'c'"):
        snapshot.read("c")


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(SnapshotError, match="cannot be read"):
        read_directory(tmp_path / "none")
