from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_retrieval.cli import main
from pytest_retrieval.store.store import FORMAT, Store
from tests.snapshots.releases import release, write_archive
from tests.store.test_shelf import ONE, block


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A store with one pack and one record."""
    store = Store(tmp_path / "store")
    store.shelf("texts", "a/b").add([block((ONE, os.urandom(5000)))])
    store.keep_record("tree", "identity", b"payload")
    store.close()
    return tmp_path / "store"


def said(capsys: pytest.CaptureFixture[str], *words: str, root: Path) -> tuple[int, str]:
    code = main(["store", *words, "--retrieval-store", str(root)])
    return code, capsys.readouterr().out


def test_info_says_what_is_there(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out = said(capsys, "info", root=root)
    assert code == 0
    assert f"store: {root}" in out
    assert "texts: 1 files, 5.0 KiB" in out
    assert "tree: 1 files" in out


def test_info_of_no_store_is_empty(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, "info", root=tmp_path / "none")[1].splitlines()[1] == "size: 0 bytes"


def test_verify_fails_on_damage(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, "verify", root=root) == (0, "2 files, 0 damaged\n")
    [pack] = root.rglob("*.pack")
    pack.write_bytes(pack.read_bytes()[:-1])
    code, out = said(capsys, "verify", root=root)
    assert code == 1
    assert f"{pack.relative_to(root)}: no pack of this version\n" in out
    assert out.endswith("2 files, 1 damaged\n")


def test_prune_takes_what_is_too_much(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, "prune", root=root)[1].startswith("removed 0 bytes")
    [pack] = root.rglob("*.pack")
    os.utime(pack, (1000, 1000))
    assert said(capsys, "prune", "--size", "2K", root=root)[1].startswith("removed 5.0 KiB")
    assert not pack.exists()
    assert list(root.rglob("*.tree"))


def test_prune_takes_everything(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, "prune", "--all", root=root)[1].endswith(" 0 bytes left\n")
    assert not (root / FORMAT).exists()
    assert main(["store", "prune", "--all", "--size", "1G", "--retrieval-store", str(root)]) == 2


def test_import_says_what_it_did(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_archive(tmp_path / "v1.tar.zst", release("v1"))
    code, out = said(capsys, "import", str(path), root=tmp_path / "store")
    assert code == 0
    assert out.startswith("imported 3 snapshots with 3 files, ")
    code, out = said(capsys, "import", str(tmp_path / "absent"), root=tmp_path / "store")
    assert code == 2
