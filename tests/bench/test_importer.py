from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_retrieval.bench.importer import Progress, import_release
from pytest_retrieval.datasets.release import find_releases
from pytest_retrieval.errors import SnapshotError, UsageError
from pytest_retrieval.index.statistics import Statistics
from pytest_retrieval.index.vocabulary import Vocabulary
from pytest_retrieval.snapshots import archive, sources
from pytest_retrieval.snapshots.base import Snapshot
from pytest_retrieval.snapshots.catalog import Catalog
from pytest_retrieval.store.store import FORMAT, Store
from tests.snapshots.releases import COMMIT, OTHER, chunks, release, write_archive, write_tree

CHECKOUT = Path(__file__).parents[2]


def settle(root: Path) -> None:
    for path in (root, *root.rglob("*")):
        os.utime(path, ns=(10**18, 10**18))


def done_with(root: Path, store: Store) -> Progress:
    steps: list[Progress] = []
    progress = import_release(root, store, lambda now: steps.append(replace(now)))
    store.close()
    assert [step.snapshots for step in steps] == list(range(1, progress.snapshots + 1))
    assert progress.read == progress.size
    return progress


def snapshots(root: Path, scratch: Path, store: Store) -> list[Snapshot]:
    [found] = find_releases(root, scratch, store)
    catalog = Catalog({}, found.corpora, store=store)
    return [catalog.open("o/n", commit) for commit in (COMMIT, OTHER)]


def refused(*_: object, **__: object) -> None:
    raise AssertionError("the release was read")


@pytest.fixture(params=["archive", "folder", "folder of archives"])
def root(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    files = {**release("v1"), f"corpus/v1/p__q/{COMMIT}.chunks.jsonl": chunks("other")}
    if request.param == "folder":
        return write_tree(tmp_path / "data", files)
    path = write_archive(tmp_path / "data" / "v1.tar.zst", files)
    return path if request.param == "archive" else path.parent


def test_an_imported_release_is_not_read_again(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settle(root)
    done = done_with(root, Store(tmp_path / "store"))
    assert (done.snapshots, done.files) == (4, 4)
    monkeypatch.setattr(archive, "members", refused)
    monkeypatch.setattr(sources, "read_chunk_file", refused)
    store = Store(tmp_path / "store")
    first, second = snapshots(root, tmp_path / "scratch", store)
    assert (first.text("a.py"), second.text("a.py")) == ("first", "second")
    monkeypatch.setattr(Vocabulary, "count", refused)
    assert [counts.counts.tolist() for counts in Statistics().of(first)] == [[1]]
    store.close()


def test_an_imported_archive_is_known_to_lack_a_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_archive(tmp_path / "v1.tar.zst", release("v1"))
    settle(path)
    done_with(path, Store(tmp_path / "store"))
    monkeypatch.setattr(archive, "members", refused)
    store = Store(tmp_path / "store")
    [found] = find_releases(path, tmp_path / "scratch", store)
    with pytest.raises(SnapshotError, match="no snapshot for o/n@"):
        Catalog({}, found.corpora, store=store).open("o/n", "f" * 40)
    store.close()


def test_importing_twice_adds_nothing(root: Path, tmp_path: Path) -> None:
    settle(root)
    done_with(root, Store(tmp_path / "store"))
    before = sorted(path for path in (tmp_path / "store").rglob("*.*"))
    done_with(root, Store(tmp_path / "store"))
    assert sorted(path for path in (tmp_path / "store").rglob("*.*")) == before


def test_a_damaged_archive_is_said_and_its_samples_are_not_kept(tmp_path: Path) -> None:
    path = write_archive(tmp_path / "v1.tar.zst", release("v1"))
    path.write_bytes(path.read_bytes()[:-20])
    settle(path)
    with pytest.raises(SnapshotError, match=r"v1\.tar\.zst"):
        import_release(path, Store(tmp_path / "store"), lambda progress: None)
    assert not list((tmp_path / "store" / FORMAT).rglob("*.release"))


def test_samples_of_an_import_are_those_of_a_run_without_a_store(tmp_path: Path) -> None:
    """A run reads an archive until its samples end; what calls itself samples behind the corpus is none."""
    late = {"benchmark/v1/late.jsonl": b"{}", "./benchmark/v1/samples.jsonl": b"{}"}
    path = write_archive(tmp_path / "v1.tar.zst", {**release("v1"), **late})
    settle(path)
    [without] = find_releases(path, tmp_path / "without")
    done_with(path, Store(tmp_path / "store"))
    store = Store(tmp_path / "store")
    [imported] = find_releases(path, tmp_path / "imported", store)
    store.close()
    texts = [{each.name: each.read_bytes() for each in found.samples} for found in (without, imported)]
    assert texts[0] == texts[1]
    assert b'"id": "2"' in texts[0]["samples.jsonl"]


def test_an_archive_without_samples_is_no_release_to_import(tmp_path: Path) -> None:
    files = {name: text for name, text in release("v1").items() if not name.startswith("benchmark")}
    path = write_archive(tmp_path / "v1.tar.zst", files)
    settle(path)
    with pytest.raises(SnapshotError, match="no release of the benchmark"):
        import_release(path, Store(tmp_path / "store"), lambda progress: None)
    assert not list((tmp_path / "store" / FORMAT).rglob("*.release"))


def test_a_pipe_is_no_archive(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "v1.tar.zst")
    with pytest.raises(SnapshotError, match=r"v1\.tar\.zst: cannot be read \(it is a pipe"):
        import_release(tmp_path / "v1.tar.zst", Store(tmp_path / "store"), lambda progress: None)


def test_what_a_killed_import_left_is_removed_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first is killed after its samples were copied, when it hears of a snapshot."""
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setattr("tempfile.tempdir", None)
    (tmp_path / "temporary").mkdir()
    path = write_archive(tmp_path / "v1.tar.zst", release("v1"))
    argv = [sys.executable, "-c", KILLED, str(path), str(tmp_path / "store")]
    killed = subprocess.run(argv, cwd=CHECKOUT, check=False, timeout=60)
    assert killed.returncode == -signal.SIGKILL
    assert list((tmp_path / "temporary").rglob("samples.jsonl"))
    done_with(path, Store(tmp_path / "store"))
    assert not list((tmp_path / "temporary").iterdir())


KILLED = """
import os, signal, sys
from pathlib import Path
from pytest_retrieval.bench.importer import import_release
from pytest_retrieval.store.store import Store

if __name__ == "__main__":
    kill = lambda progress: os.kill(os.getpid(), signal.SIGKILL)
    import_release(Path(sys.argv[1]), Store(Path(sys.argv[2])), kill)
"""


def test_a_damaged_chunk_file_is_said(tmp_path: Path) -> None:
    files = {**release("v1"), f"corpus/v1/o__n/{COMMIT}.chunks.jsonl": b'{"kind": "file"\n'}
    root = write_tree(tmp_path / "data", files)
    settle(root)
    with pytest.raises(SnapshotError, match=r"chunks\.jsonl:1: not JSON"):
        import_release(root, Store(tmp_path / "store"), lambda progress: None)


@pytest.mark.parametrize("make", [Path.mkdir, Path.touch])
def test_nothing_to_import_is_a_usage_error(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / "data")
    with pytest.raises((UsageError, SnapshotError)):
        import_release(tmp_path / "data", Store(tmp_path / "store"), lambda progress: None)


def test_a_store_that_cannot_be_written_is_a_usage_error(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "data", release("v1"))
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match=r"cannot be written \(Not a directory\)"):
        import_release(root, Store(tmp_path / "file" / "store"), lambda progress: None)
