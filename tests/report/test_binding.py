"""What is known of snapshots before any is built."""

from __future__ import annotations

import hashlib
import json
from importlib.metadata import version
from pathlib import Path

import pytest

from pytest_retrieval.report.binding import bind_corpora, bind_snapshots
from pytest_retrieval.snapshots.catalog import Catalog

COMMIT = "1" * 40
RING = ("acme/ring", COMMIT)
NAME = f"acme/ring@{COMMIT}"
CHUNKS = f"acme__ring/{COMMIT}.chunks.jsonl"


def corpus(folder: Path, *, suffix: str = "") -> Path:
    (folder / "acme__ring").mkdir(parents=True)
    (folder / f"{CHUNKS}{suffix}").write_bytes(b'{"kind":"file","path":"ring.c","text":"ring"}\n')
    return folder


def archive(folder: Path, size: int) -> Path:
    """The folder of an archive that was opened, of ``size`` bytes."""
    packed = folder / "somewhere" / "release.tar.zst"
    packed.parent.mkdir(parents=True)
    packed.write_bytes(b"x" * size)
    opened = folder / "scratch" / "archive-0"
    opened.mkdir(parents=True)
    about = {"path": str(packed), "shown": "release.tar.zst", "members": None}
    (opened / "archive.json").write_text(json.dumps(about))
    return opened


@pytest.mark.parametrize("suffix", ["", ".zst"])
def test_a_chunk_file_has_its_size(suffix: str, tmp_path: Path) -> None:
    found = bind_snapshots([RING, RING], {}, [corpus(tmp_path / "corpus", suffix=suffix)])
    assert found == {NAME: {"source": CHUNKS, "size": 46}}


def test_what_was_named_comes_first_and_stays_as_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = tmp_path / "tree"
    (tree / "sub" / ".git").mkdir(parents=True)
    (tree / ".git").write_text("gitdir: elsewhere")
    (tree / "a.py").write_bytes(b"12345")
    (tree / "sub" / "b.py").write_bytes(b"123")
    (tree / "sub" / ".git" / "HEAD").write_bytes(b"not counted")
    (tree / "link.py").symlink_to("a.py")
    monkeypatch.chdir(tmp_path)
    found = bind_snapshots([RING], {NAME: "tree"}, [corpus(tmp_path / "corpus")])
    assert found == {NAME: {"source": "tree", "files": 2, "size": 8}}


def test_a_commit_of_a_clone_needs_no_more(tmp_path: Path) -> None:
    (tmp_path / "acme" / "ring" / ".git").mkdir(parents=True)
    assert bind_snapshots([RING], {}, [tmp_path]) == {NAME: {"source": "git:acme/ring"}}
    assert bind_snapshots([RING], {NAME: "git:x?view=arb"}, []) == {NAME: {"source": "git:x?view=arb"}}


def test_a_distribution_has_its_version() -> None:
    found = bind_snapshots([("dist/numpy", "2"), ("dist/none", "1")], {"dist/numpy@2": "dist:numpy"}, [])
    assert found["dist/numpy@2"] == {"source": "dist:numpy", "version": version("numpy")}
    missing = bind_snapshots([RING], {NAME: "dist:no-such-distribution"}, [])
    assert missing == {NAME: {"source": "dist:no-such-distribution"}}


def test_an_archive_is_named_and_not_read(tmp_path: Path) -> None:
    """Nor is the folder that it was opened in told: another run has another one."""
    opened = archive(tmp_path, 77)
    assert bind_snapshots([RING], {}, [opened]) == {NAME: {"source": CHUNKS, "archives": ["release.tar.zst"]}}
    assert bind_corpora({str(opened): opened}) == [{"source": "release.tar.zst", "size": 77}]
    assert [path.name for path in opened.iterdir()] == ["archive.json"]


def test_a_folder_that_has_the_snapshot_is_told_rather_than_an_archive(tmp_path: Path) -> None:
    places = [archive(tmp_path / "a", 1), corpus(tmp_path / "corpus")]
    assert bind_snapshots([RING], {}, places) == {NAME: {"source": CHUNKS, "size": 46}}


def test_an_archive_that_is_gone_has_no_size(tmp_path: Path) -> None:
    opened = archive(tmp_path, 1)
    (tmp_path / "somewhere" / "release.tar.zst").unlink()
    assert bind_corpora({"x": opened}) == [{"source": "release.tar.zst"}]


def test_a_manifest_has_its_digest(tmp_path: Path) -> None:
    row = json.dumps({"repo": "acme/ring", "base_commit": "v1", "source": "git:ring"}).encode() + b"\n"
    (tmp_path / "corpus_manifest.jsonl").write_bytes(row)
    digest = hashlib.sha256(row).hexdigest()
    assert bind_corpora({"data/corpus?view=arb": f"{tmp_path}?view=arb"}) == [
        {"source": "data/corpus?view=arb", "manifest_sha256": digest}
    ]
    (tmp_path / "bare").mkdir()
    assert bind_corpora({"bare": tmp_path / "bare"}) == [{"source": "bare"}]
    assert bind_snapshots([("acme/ring", "v1")], {}, [tmp_path]) == {"acme/ring@v1": {"source": "git:ring"}}


def test_what_nothing_holds_has_no_facts(tmp_path: Path) -> None:
    row = {"repo": "acme/ring", "base_commit": COMMIT, "status": "missing_commit"}
    (tmp_path / "corpus_manifest.jsonl").write_text(json.dumps(row))
    assert bind_snapshots([RING], {}, [tmp_path]) == {NAME: {}}
    assert bind_snapshots([RING], {}, []) == {NAME: {}}
    assert bind_snapshots([RING], {NAME: str(tmp_path / "absent")}, []) == {
        NAME: {"source": str(tmp_path / "absent")}
    }


def test_sources_are_those_that_a_catalog_opens(tmp_path: Path) -> None:
    places = [corpus(tmp_path / "corpus")]
    catalog = Catalog({}, places, tmp_path)
    source = catalog.open(*RING).source
    catalog.close()
    assert bind_snapshots([RING], {}, places)[NAME]["source"] == source
