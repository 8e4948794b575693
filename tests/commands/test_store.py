from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_retrieval.cli import main
from pytest_retrieval.store.location import existing_root
from pytest_retrieval.store.store import FORMAT, Store
from tests.snapshots.releases import chunks, release, write_archive, write_tree
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


def test_what_another_version_kept_is_counted_and_goes_with_everything(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (root / FORMAT).rename(root / "v1")
    out = said(capsys, "info", root=root)[1]
    assert "texts:" not in out
    assert "of other versions: 2 files, 5.0 KiB; prune --all takes them, too\n" in out
    assert said(capsys, "prune", "--size", "0", root=root)[1].startswith("removed 0 bytes")
    assert said(capsys, "prune", "--all", root=root)[1].startswith("removed 5.0 KiB")
    assert not (root / "v1").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--retrieval-store", ""], "names no store"),
        (["--retrieval-store", "none"], "names no store"),
        (["--retrieval-store", "file"], "that is no folder"),
        ([], "no home directory is known"),
    ],
)
def test_what_is_no_store_is_said(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    homeless(monkeypatch)
    for command in (["info"], ["verify"], ["prune"], ["import", "release"]):
        assert main(["store", *command, *words]) == 2
        assert message in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def homeless(monkeypatch: pytest.MonkeyPatch) -> None:
    """A user as containers have them: no home and no entry among the users."""
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("HOME")
    monkeypatch.setattr("os.path.expanduser", lambda path: path)


def test_a_home_is_expanded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert existing_root("~/here") == tmp_path / "here"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["prune", "--size", ""], "--size is a number with"),
        (["import", "release", "--retrieval-store-size", "1X"], "--retrieval-store-size is a number with"),
    ],
)
def test_a_size_that_is_none_is_said(
    root: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    assert main(["store", *words, "--retrieval-store", str(root)]) == 2
    assert message in capsys.readouterr().err


def state(root: Path, name: str, size: int, used: float) -> Path:
    """An index of an engine."""
    folder = root / "engines" / name
    (folder / "state").mkdir(parents=True)
    (folder / "state" / "db").write_bytes(bytes(size))
    (folder / "built.json").write_text("{}", encoding="utf-8")
    os.utime(folder / "built.json", (used, used))
    return folder


def test_indexes_of_engines_are_counted(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    state(root, "my-tool-0a", 3 << 20, 1.0)
    state(root, "my-tool-0b", 1 << 20, 2.0)
    state(root, "ripgrep-0c", 1 << 20, 3.0)
    lines = said(capsys, "info", root=root)[1].splitlines()
    assert lines[1] == "size: 5.0 MiB"
    assert "engine my-tool: 2 indexes, 4.0 MiB" in lines
    assert "engine ripgrep: 1 index, 1.0 MiB" in lines


def test_prune_takes_the_oldest_of_all(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The texts are newer than two of three indexes, and 12 K have room for them and the newest index."""
    [pack] = root.rglob("*.pack")
    os.utime(pack, (3000, 3000))
    old, older = state(root, "tool-0a", 4096, 2000), state(root, "tool-0b", 4096, 1000)
    new = state(root, "tool-0c", 4096, 4000)
    assert said(capsys, "prune", "--size", "12K", root=root)[1].startswith("removed 8.0 KiB")
    assert [path.exists() for path in (old, older, new, pack)] == [False, False, True, True]


def test_prune_leaves_an_index_that_is_in_use(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from pytest_retrieval.snapshots.scratch import hold, let_go, private_base

    used, other = state(root, "tool-0d0d", 100, 1.0), state(root, "tool-0e0e", 100, 1.0)
    lock = private_base() / "engine-0d0d.lock"
    descriptor = hold(lock, fcntl.LOCK_SH)
    try:
        said(capsys, "prune", "--all", root=root)
    finally:
        let_go(lock, descriptor)
    assert [path.exists() for path in (used, other)] == [True, False]
    said(capsys, "prune", "--all", root=root)
    assert not (root / "engines").exists()


def test_import_says_what_it_did(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_archive(tmp_path / "v1.tar.zst", release("v1"))
    code, out = said(capsys, "import", str(path), root=tmp_path / "store")
    assert code == 0
    assert out.startswith("imported 3 snapshots with 3 files, ")
    code, out = said(capsys, "import", str(tmp_path / "absent"), root=tmp_path / "store")
    assert code == 2


@pytest.mark.parametrize("damaged", [False, True])
def test_an_import_draws_one_line_on_a_terminal(tmp_path: Path, damaged: bool) -> None:
    """However it ends: what is said behind the bar begins a line of its own."""
    files = {
        **release("v1"),
        **{f"corpus/v1/o__n{number}/{'d' * 40}.chunks.jsonl": chunks("x") for number in range(20)},
    }
    if damaged:
        files[f"corpus/v1/z__z/{'e' * 40}.chunks.jsonl"] = b"{\n"
    root = write_tree(tmp_path / "data", files)
    argv = ["store", "import", str(root), "--retrieval-store", str(tmp_path / "store")]
    terminal, end = os.openpty()
    done = subprocess.run([sys.executable, "-c", SLOW_BAR, *argv], stdout=end, stderr=end, check=False)
    os.close(end)
    said = os.read(terminal, 1 << 20).decode()
    os.close(terminal)
    bars, last, rest = said.split("\r\n")
    assert bars.count("\r[") > 5
    assert rest == ""
    assert done.returncode == int(damaged)
    if damaged:
        assert last.startswith("pytest-retrieval: ")
    else:
        assert "] 100%  23 snapshots, 23 files, " in bars
        assert last.startswith("imported 23 snapshots with 23 files, ")


SLOW_BAR = """
import sys
from pytest_retrieval import cli
from pytest_retrieval.commands import store

if __name__ == "__main__":
    store._SECONDS_BETWEEN = 0
    sys.exit(cli.main(sys.argv[1:]))
"""
