from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest

from pytest_retrieval.errors import SnapshotError
from pytest_retrieval.snapshots.base import Snapshot
from pytest_retrieval.snapshots.git import read_commit
from tests.snapshots.repos import bare_repository, checkout, git

SUBMODULE = b"1" * 40
ENTRIES = [
    ("100644", b"a.py", b"print(1)\r\n"),
    ("100755", b"run.sh", b"#!/bin/sh\n"),
    ("120000", b"link", b"a.py"),
    ("160000", b"sub", SUBMODULE),
    ("100644", b".gitattributes", b"* text eol=crlf ident\n*.txt export-ignore export-subst\n"),
    ("100644", b"note.txt", b"$Id$ $Format:%H$\n"),
    ("100644", b"\xff\xfe.py", b"odd name\n"),
    ("100644", b"nul.dat", b"a\0b"),
    ("100644", b"empty", b""),
    ("100644", b"big.txt", b"x" * 1_100_000),
    ("100644", b"copy.py", b"print(1)\r\n"),
]


def sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@pytest.fixture
def bare(tmp_path: Path) -> tuple[Path, str]:
    folder = tmp_path / "o__n.git"
    return folder, bare_repository(folder, ENTRIES)


def opened(bare: tuple[Path, str], view: str) -> Snapshot:
    return Snapshot("o/n", bare[1], "git:x", read_commit(bare[0], bare[1], view))


def test_the_full_view_is_every_tracked_regular_file_raw(bare: tuple[Path, str]) -> None:
    snapshot = opened(bare, "full")
    expected = {
        path.decode("utf-8", "surrogateescape"): c for mode, path, c in ENTRIES if mode.startswith("100")
    }
    assert {file.path: snapshot.read(file.path) for file in snapshot.files} == expected
    assert {file.path: file.digest for file in snapshot.files} == {p: sha(c) for p, c in expected.items()}
    assert [file.path for file in snapshot.files] == sorted(
        expected, key=lambda path: path.encode("utf-8", "surrogateescape")
    )
    assert set(expected) - set(snapshot.paths) == {"nul.dat", "big.txt"}
    assert snapshot.dropped == {"submodule": 1, "symbolic link": 1}
    assert snapshot.cut == frozenset()
    snapshot.close()


def test_the_arb_view_shows_links_as_text_and_drops_what_the_builder_loses(bare: tuple[Path, str]) -> None:
    snapshot = opened(bare, "arb")
    assert {file.path: snapshot.text(file.path) for file in snapshot.files} == {
        ".gitattributes": "* text eol=crlf ident\n*.txt export-ignore export-subst",
        "a.py": "print(1)",
        "copy.py": "print(1)",
        "link": "a.py",
        "note.txt": "$Id$ $Format:%H$",
        "run.sh": "#!/bin/sh",
    }
    assert snapshot.dropped == {
        "binary content": 1,
        "empty": 1,
        "over 400,000 bytes": 1,
        "quoted path": 1,
        "submodule": 1,
    }


def test_the_tree_digest_is_the_stated_one(bare: tuple[Path, str]) -> None:
    snapshot = opened(bare, "arb")
    rows = {
        ".gitattributes": ENTRIES[4][2].strip(),
        "a.py": b"print(1)",
        "copy.py": b"print(1)",
        "link": b"a.py",
    }
    rows |= {"note.txt": b"$Id$ $Format:%H$", "run.sh": b"#!/bin/sh"}
    lines = b"".join(f"{path}\0{sha(rows[path])}\n".encode() for path in sorted(rows))
    assert snapshot.tree_digest == sha(lines)


def test_only_the_first_twenty_thousand_paths_of_what_remains(tmp_path: Path) -> None:
    names = [b"a.lock", b"b-", b"b/c", *(b"c%05d" % number for number in range(19_999))]
    entries = [("100644", name, b"" if name == b"b-" else b"x") for name in names]
    commit = bare_repository(tmp_path / "r.git", entries)
    tree = read_commit(tmp_path / "r.git", commit, "arb")
    # The dropped path does not count towards the cap, the empty file does.
    paths = [file.path for file in tree.files]
    assert (paths[:2], paths[-1], len(paths)) == (["b/c", "c00000"], "c19997", 19_999)
    assert tree.dropped == {"beyond 20,000 paths": 1, "generated file": 1, "empty": 1}


def test_cut_files_are_known(tmp_path: Path) -> None:
    commit = bare_repository(
        tmp_path / "r.git", [("100644", b"a", b"x" * 8001), ("100644", b"b", b"x" * 8000)]
    )
    assert read_commit(tmp_path / "r.git", commit, "arb").cut == {"a"}


def test_a_repository_of_sha256(tmp_path: Path) -> None:
    commit = bare_repository(tmp_path / "r.git", [("100644", b"a", b"x")], "sha256")
    assert len(commit) == 64
    assert [file.path for file in read_commit(tmp_path / "r.git", commit).files] == ["a"]


def test_an_ordinary_clone_and_a_branch_name(tmp_path: Path) -> None:
    commit = checkout(tmp_path / "r", {"a.py": b"1\n"})
    (tmp_path / "r" / "a.py").write_bytes(b"changed\n")
    for revision in (commit, "main", "HEAD"):
        (file,) = read_commit(tmp_path / "r", revision).files
        assert file.digest == sha(b"1\n")


@pytest.mark.parametrize("revision", ["f" * 40, "--help", "-h", "no-such", "", "a\nb", "HEAD:a.py"])
def test_a_commit_that_is_not_there(tmp_path: Path, revision: str) -> None:
    checkout(tmp_path / "r", {"a.py": b"1\n"})
    with pytest.raises(SnapshotError, match=r"no commit .* in this repository"):
        read_commit(tmp_path / "r", revision)


def test_a_folder_that_is_no_repository_and_a_view_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(SnapshotError, match="not a Git repository"):
        read_commit(tmp_path, "HEAD")
    with pytest.raises(SnapshotError, match=r"unknown view 'abr'.*did you mean 'arb'"):
        read_commit(tmp_path, "HEAD", "abr")


def test_a_missing_object_is_one_clear_line(bare: tuple[Path, str]) -> None:
    oid = git(bare[0], "rev-parse", f"{bare[1]}:run.sh").decode().strip()
    (bare[0] / "objects" / oid[:2] / oid[2:]).unlink()
    with pytest.raises(SnapshotError, match=r"^[^\n]+$"):
        opened(bare, "full")


def test_a_partial_clone_never_runs_its_fetch_helper(tmp_path: Path) -> None:
    commit = checkout(tmp_path / "r", {"a.py": b"1\n"})
    clone = tmp_path / "r"
    marker = tmp_path / "ran"
    git(clone, "config", "core.repositoryFormatVersion", "1")
    git(clone, "config", "extensions.partialClone", "origin")
    git(clone, "config", "remote.origin.promisor", "true")
    git(clone, "config", "remote.origin.url", f"ext::sh -c 'touch {marker}'")
    git(clone, "config", "remote.origin.uploadpack", f"touch {marker};")
    git(clone, "config", "protocol.ext.allow", "always")
    oid = git(clone, "rev-parse", "HEAD:a.py").decode().strip()
    (clone / ".git" / "objects" / oid[:2] / oid[2:]).unlink()
    with pytest.raises(SnapshotError):
        read_commit(clone, commit)
    assert not marker.exists()


def test_replacement_objects_are_not_followed(tmp_path: Path) -> None:
    folder = tmp_path / "r.git"
    commit = bare_repository(folder, [("100644", b"a", b"true\n")])
    other = git(folder, "hash-object", "-w", "--stdin", stdin=b"false\n").decode().strip()
    git(folder, "replace", git(folder, "rev-parse", f"{commit}:a").decode().strip(), other)
    (file,) = read_commit(folder, commit).files
    assert file.digest == sha(b"true\n")


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a repository to another user")
def test_a_repository_of_another_user(bare: tuple[Path, str]) -> None:
    for place in (bare[0], *bare[0].rglob("*")):
        os.lchown(place, 65534, 65534)
    assert opened(bare, "full").files


def test_a_dot_git_entry_is_refused_and_counted(tmp_path: Path) -> None:
    folder = tmp_path / "r.git"
    bare_repository(folder, [("100644", b"a", b"x")])
    blob = git(folder, "hash-object", "-w", "--stdin", stdin=b"[core]\n").decode().strip()
    inner = git(folder, "mktree", stdin=f"100644 blob {blob}\tconfig\n".encode()).decode().strip()
    raw = b"100644 a\0" + bytes.fromhex(blob) + b"40000 .git\0" + bytes.fromhex(inner)
    tree = (
        git(folder, "hash-object", "-w", "-t", "tree", "--literally", "--stdin", stdin=raw).decode().strip()
    )
    commit = git(folder, "commit-tree", tree, "-m", "x").decode().strip()
    for view in ("full", "arb"):
        read = read_commit(folder, commit, view)
        assert [file.path for file in read.files] == ["a"]
        assert read.dropped == {"refused path": 1}


def oracle_commits() -> list[tuple[str, str]]:
    path = Path(__file__).parents[2].parent / "shared" / "oracle" / "samples.jsonl"
    if not path.is_file():
        return []
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return sorted({(row["repo"], row["base_commit"]) for row in rows})


@pytest.mark.skipif("RETRIEVAL_UPSTREAM" not in os.environ, reason="RETRIEVAL_UPSTREAM names no clones")
def test_views_of_real_clones_agree_where_they_must() -> None:
    clones = Path(os.environ["RETRIEVAL_UPSTREAM"])
    for repo, commit in oracle_commits():
        folder = clones / f"{repo.replace('/', '__')}.git"
        if not folder.exists():
            continue
        whole = Snapshot(repo, commit, "git:x", read_commit(folder, commit))
        shown = Snapshot(repo, commit, "git:x", read_commit(folder, commit, "arb"))
        listed = git(folder, "ls-tree", "-r", "-z", "--name-only", commit).decode().split("\0")[:-1]
        assert len(listed) == len(whole.files) + sum(whole.dropped.values())
        assert len(listed) == len(shown.files) + sum(shown.dropped.values())
        for path in set(shown.paths) & set(whole.paths) - shown.cut:
            plain = whole.text(path).replace("\r\n", "\n").replace("\r", "\n").strip()
            assert shown.text(path) == plain
