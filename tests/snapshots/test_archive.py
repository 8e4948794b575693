from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_retrieval.errors import SnapshotError
from pytest_retrieval.snapshots import archive
from pytest_retrieval.snapshots.archive import ArchiveCorpus, open_archive
from pytest_retrieval.snapshots.catalog import Catalog
from pytest_retrieval.snapshots.tar import Member
from tests.snapshots.releases import COMMIT, OTHER, chunks, release, write_archive

THIRD = "c" * 40


@pytest.fixture
def packed(tmp_path: Path) -> Path:
    return write_archive(tmp_path / "r.tar.zst", release("v2_x"))


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    counted: list[int] = []
    original = archive.members

    def members(path: Path) -> Iterator[Member]:
        counted.append(1)
        return original(path)

    monkeypatch.setattr(archive, "members", members)
    return counted


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.rglob("*") if path.is_file()}


def test_opening_takes_the_samples_and_nothing_else(packed: Path, tmp_path: Path, passes: list[int]) -> None:
    folder = open_archive(packed, tmp_path / "s")
    assert open_archive(packed, tmp_path / "s") == folder
    assert len(passes) == 1
    assert names(folder) == {"samples.jsonl", "code2test.jsonl", "archive.json", "lock"}


def test_one_pass_extracts_what_the_samples_need(packed: Path, tmp_path: Path, passes: list[int]) -> None:
    folder = open_archive(packed, tmp_path / "s")
    catalog = Catalog({}, [folder])
    passes.clear()
    snapshots = [catalog.open("o/n", commit) for commit in (COMMIT, OTHER)]
    assert [snapshot.text("a.py") for snapshot in snapshots] == ["first", "second"]
    assert [snapshot.source for snapshot in snapshots] == [f"o__n/{c}.chunks.jsonl" for c in (COMMIT, OTHER)]
    assert len(passes) == 1
    assert f"{THIRD}.chunks.jsonl.zst" not in names(folder)
    assert Catalog({}, [folder]).open("o/n", THIRD).text("a.py") == "third"
    assert len(passes) == 2
    assert "partial" not in " ".join(names(folder))
    catalog.close()


def test_a_run_may_ask_for_less(packed: Path, tmp_path: Path) -> None:
    folder = open_archive(packed, tmp_path / "s")
    catalog = Catalog({}, [folder])
    catalog.expect([("o/n", OTHER)])
    assert catalog.open("o/n", OTHER).text("a.py") == "second"
    assert f"{COMMIT}.chunks.jsonl.zst" not in names(folder)
    catalog.close()


def test_what_is_not_there_is_looked_for_once(packed: Path, tmp_path: Path, passes: list[int]) -> None:
    library = ArchiveCorpus(open_archive(packed, tmp_path / "s"))
    passes.clear()
    for repo, commit in [("o/n", "d" * 40), ("o/n", "d" * 40), ("o/n", "v1"), ("../n", COMMIT)]:
        assert library.find(repo, commit) is None
    assert len(passes) == 2


def test_processes_share_one_pass(packed: Path, tmp_path: Path) -> None:
    folder = open_archive(packed, tmp_path / "s")
    script = f"""
from pytest_retrieval.snapshots.catalog import Catalog
print(Catalog({{}}, [{str(folder)!r}]).open("o/n", "{OTHER}").text("a.py"))
"""
    root = Path(__file__).parents[2]
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", script], cwd=root, stdout=subprocess.PIPE, env={"PYTHONPATH": "."}
        )
        for _ in range(4)
    ]
    assert [worker.communicate()[0] for worker in workers] == [b"second\n"] * 4


def test_an_archive_whose_corpus_comes_first(tmp_path: Path) -> None:
    files = dict(reversed(release("v2_x").items()))
    folder = open_archive(write_archive(tmp_path / "r.tar.zst", files), tmp_path / "s")
    assert names(folder) == {"samples.jsonl", "code2test.jsonl", "archive.json", "lock"}


def test_an_archive_with_a_folder_above(tmp_path: Path) -> None:
    files = {f"agent_retrieval_bench/{name}": content for name, content in release("v2_x").items()}
    folder = open_archive(write_archive(tmp_path / "r.tar.zst", files), tmp_path / "s")
    assert Catalog({}, [folder]).open("o/n", COMMIT).text("a.py") == "first"


def test_hostile_members_write_nothing_outside(tmp_path: Path) -> None:
    hostile = {"../up.jsonl": b"x", "/abs.jsonl": b"x", "benchmark/../../up/samples.jsonl": b"x"}
    folder = open_archive(
        write_archive(tmp_path / "r.tar.zst", {**hostile, **release("v2_x")}), tmp_path / "s"
    )
    assert names(tmp_path) == {"r.tar.zst", *names(folder)}


def test_archives_that_cannot_serve(packed: Path, tmp_path: Path) -> None:
    whole = packed.read_bytes()
    packed.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(SnapshotError, match=r"^r\.tar\.zst: [^\n]*truncated$"):
        library = ArchiveCorpus(open_archive(packed, tmp_path / "s"))
        library.find("o/n", THIRD)
    write_archive(packed, {"readme": b"x"})
    with pytest.raises(SnapshotError, match="no release of the benchmark"):
        open_archive(packed, tmp_path / "s2")


def test_a_chunk_file_with_a_bad_row_names_archive_and_member(tmp_path: Path) -> None:
    member = f"corpus/v2_x/o__n/{COMMIT}.chunks.jsonl"
    files = release("v2_x", **{member: chunks("x") + b'{"kind":"file"}\n'})
    folder = open_archive(write_archive(tmp_path / "r.tar.zst", files), tmp_path / "s")
    with pytest.raises(SnapshotError, match=rf"^r\.tar\.zst: o__n/{COMMIT}\.chunks\.jsonl:2: field 'path'"):
        Catalog({}, [folder]).open("o/n", COMMIT)
