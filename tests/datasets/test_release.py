from __future__ import annotations

from pathlib import Path

import pytest

from pytest_retrieval.datasets.release import find_releases
from pytest_retrieval.errors import UsageError
from pytest_retrieval.snapshots.catalog import Catalog
from tests.snapshots.releases import COMMIT, lines, release, sample, write_archive, write_tree

MIXED = "v2_selective_retrieval_balanced"
MIXED_FILES = {f"benchmark/{MIXED}/samples.jsonl": lines(sample("1"))}


def test_an_extracted_release(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "r", release("v2_code2test"))
    (found,) = find_releases(root, tmp_path / "s")
    assert found.id == "v2_code2test"
    assert found.samples == (root / "benchmark/v2_code2test/samples.jsonl",)
    assert found.corpora == (root / "corpus/v2_code2test",)
    assert not (tmp_path / "s").exists()


def test_without_the_whole_list_each_tasks_list_is_read(tmp_path: Path) -> None:
    files = {f"benchmark/v/{name}.jsonl": lines(sample("1")) for name in ("trace2code", "code2test")}
    (found,) = find_releases(write_tree(tmp_path / "r", files), tmp_path / "s")
    assert [path.name for path in found.samples] == ["code2test.jsonl", "trace2code.jsonl"]


def test_a_data_root_of_several_releases_leaves_mixed_lists_out(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "r", release("v2_b") | release("v2_a") | MIXED_FILES)
    first, second = find_releases(root, tmp_path / "s")
    assert (first.id, second.id) == ("v2_a", "v2_b")
    assert first.corpora == (root / "corpus/v2_a", root / "corpus/v2_b")
    assert second.corpora == (root / "corpus/v2_b", root / "corpus/v2_a")


def test_a_mixed_list_named_alone_is_used(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "r", MIXED_FILES)
    (found,) = find_releases(root, tmp_path / "s")
    assert found.id == MIXED


def test_extracted_folders_one_level_down(tmp_path: Path) -> None:
    write_tree(tmp_path / "r" / "one", release("v2_a"))
    write_tree(tmp_path / "r" / "two", release("v2_b"))
    assert [found.id for found in find_releases(tmp_path / "r", tmp_path / "s")] == ["v2_a", "v2_b"]


def test_an_archive_is_found_and_serves_its_snapshots(tmp_path: Path) -> None:
    path = write_archive(tmp_path / "agent_retrieval_bench_v2_a.tar.zst", release("v2_a"))
    (found,) = find_releases(path, tmp_path / "s")
    assert found.id == "v2_a"
    assert [path.name for path in found.samples] == ["samples.jsonl"]
    catalog = Catalog({}, found.corpora)
    assert catalog.open("o/n", COMMIT).text("a.py") == "first"
    catalog.close()
    assert find_releases(path, tmp_path / "s") == (found,)


def test_a_data_root_of_archives_and_folders(tmp_path: Path) -> None:
    root = tmp_path / "r"
    write_tree(root, release("v2_a"))
    write_archive(root / "agent_retrieval_bench_v2_a.tar.zst", {"nothing": b""})
    write_archive(root / "down" / "agent_retrieval_bench_v2_b.tar.zst", release("v2_b"))
    first, second = find_releases(root, tmp_path / "s")
    assert (first.id, second.id) == ("v2_a", "v2_b")
    assert first.corpora[0] == root / "corpus/v2_a"
    assert set(first.corpora) == set(second.corpora)


@pytest.mark.parametrize("place", ["empty", "absent"])
def test_nothing_there_says_what_was_looked_for(tmp_path: Path, place: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(
        UsageError, match=r"--release .*: no release there; looked for benchmark/<id>/\*\.jsonl"
    ):
        find_releases(tmp_path / place, tmp_path / "s")
