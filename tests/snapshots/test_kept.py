from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_retrieval.errors import SnapshotError
from pytest_retrieval.snapshots import archive, directory, sources
from pytest_retrieval.snapshots import git as git_rooms
from pytest_retrieval.snapshots.archive import open_archive
from pytest_retrieval.snapshots.base import MemoryContents, Snapshot, Tree, TreeFile
from pytest_retrieval.snapshots.catalog import Catalog
from pytest_retrieval.snapshots.kept import decoded, encoded
from pytest_retrieval.store.store import FORMAT, Store
from tests.snapshots.releases import COMMIT, OTHER, release, write_archive
from tests.snapshots.repos import bare_repository, git

Opened = Callable[[Path | None], Snapshot]
FILES = {"a.py": "alpha beta", "b/c.py": "alpha", "d.md": "", "é.txt": "é \u2028", "same.py": "alpha"}


def chunk_file(path: Path, files: dict[str, str]) -> Path:
    rows = [{"kind": "file", "path": name, "text": text} for name, text in files.items()]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    settle(path)
    return path


def settle(path: Path) -> None:
    """Make a file look old: one that was just written may change again in the same tick."""
    os.utime(path, ns=(10**18, 10**18))


def contents(snapshot: Snapshot) -> dict[str, bytes]:
    return {file.path: snapshot.read(file.path) for file in snapshot.files}


def refused(*_: object, **__: object) -> None:
    raise AssertionError("the source was read")


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[Callable[[], Store]]:
    made: list[Store] = []

    def store() -> Store:
        made.append(Store(tmp_path / "store"))
        return made[-1]

    yield store
    for each in made:
        each.close()


def opened(source: str, store: Store | None, commit: str = COMMIT) -> Snapshot:
    return Catalog({f"o/n@{commit}": source}, (), store=store).open("o/n", commit)


def assert_alike(first: Snapshot, second: Snapshot) -> None:
    assert first.files == second.files
    assert first.facts() == second.facts()
    assert first.cut == second.cut
    assert contents(first) == contents(second)


def test_a_second_run_reads_no_chunk_file(
    tmp_path: Path, stores: Callable[[], Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = chunk_file(
        tmp_path / "x.chunks.jsonl", {**FILES, "../refused": "", "cut": "x" * 7999 + "\n...[truncated]"}
    )
    without = opened(str(path), None)
    cold = opened(str(path), stores())
    assert_alike(without, cold)
    monkeypatch.setattr(sources, "read_chunk_file", refused)
    warm = opened(str(path), stores())
    assert warm.cut == {"cut"}
    assert warm.dropped == {"refused path": 1}
    assert_alike(without, warm)


def test_a_changed_chunk_file_is_read_again(tmp_path: Path, stores: Callable[[], Store]) -> None:
    path = chunk_file(tmp_path / "x.chunks.jsonl", {"a": "one"})
    assert opened(str(path), stores()).text("a") == "one"
    chunk_file(path, {"a": "two"})
    assert opened(str(path), stores()).text("a") == "two"


def test_a_file_that_was_just_written_is_not_kept(tmp_path: Path, stores: Callable[[], Store]) -> None:
    path = chunk_file(tmp_path / "x.chunks.jsonl", FILES)
    os.utime(path)
    opened(str(path), stores())
    assert not list((tmp_path / "store").rglob("*.tree"))


@pytest.mark.parametrize("lost", ["*.pack", "*.tree", "*"])
def test_what_the_store_loses_comes_from_the_source(
    tmp_path: Path, stores: Callable[[], Store], lost: str
) -> None:
    path = chunk_file(tmp_path / "x.chunks.jsonl", FILES)
    expected = contents(opened(str(path), stores()))
    for name in (tmp_path / "store").rglob(lost):
        if name.is_file():
            name.unlink()
    assert contents(opened(str(path), stores())) == expected


def test_what_is_lost_in_the_middle_of_a_run_comes_from_the_source(
    tmp_path: Path, stores: Callable[[], Store]
) -> None:
    path = chunk_file(tmp_path / "x.chunks.jsonl", FILES)
    expected = contents(opened(str(path), stores()))
    warm = opened(str(path), stores())
    assert warm.text("a.py") == "alpha beta"
    for name in (tmp_path / "store").rglob("*.pack"):
        name.unlink()
    assert contents(warm) == expected


def test_a_source_that_changed_meanwhile_is_said(tmp_path: Path, stores: Callable[[], Store]) -> None:
    path = chunk_file(tmp_path / "x.chunks.jsonl", FILES)
    opened(str(path), stores())
    warm = opened(str(path), stores())
    chunk_file(path, {"a.py": "other"})
    for name in (tmp_path / "store").rglob("*.pack"):
        name.unlink()
    with pytest.raises(SnapshotError, match=r"'a\.py' changed while"):
        warm.read("a.py")


def test_damaged_packs_are_made_again(tmp_path: Path, stores: Callable[[], Store]) -> None:
    path = chunk_file(tmp_path / "x.chunks.jsonl", FILES)
    expected = contents(opened(str(path), stores()))
    for name in (tmp_path / "store").rglob("*.pack"):
        name.write_bytes(name.read_bytes()[:-3])
    assert contents(opened(str(path), stores())) == expected


def test_lost_texts_are_kept_again(
    tmp_path: Path, stores: Callable[[], Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = chunk_file(tmp_path / "x.chunks.jsonl", FILES)
    expected = contents(opened(str(path), stores()))
    for name in (tmp_path / "store").rglob("*.pack"):
        name.write_bytes(name.read_bytes()[:-3])
    assert contents(opened(str(path), stores())) == expected
    monkeypatch.setattr(sources, "read_chunk_file", refused)
    assert contents(opened(str(path), stores())) == expected


def test_neighbours_keep_a_shared_text_once(tmp_path: Path, stores: Callable[[], Store]) -> None:
    store = stores()
    text = os.urandom(4000).hex()
    opened(str(chunk_file(tmp_path / "one.chunks.jsonl", {"a": text})), store)
    opened(str(chunk_file(tmp_path / "two.chunks.jsonl", {"b": text, "c": "new"})), store)
    sizes = sorted(path.stat().st_size for path in (tmp_path / "store" / FORMAT).rglob("texts-*"))
    assert len(sizes) == 2
    assert sizes[0] < 1000 < sizes[1]


ENTRIES = [("100644", b"a.py", b"alpha\r\n"), ("100644", b"b.bin", b"\0"), ("120000", b"l", b"a.py")]


@pytest.mark.parametrize("view", ["full", "arb"])
def test_a_commit_is_read_once(
    tmp_path: Path, stores: Callable[[], Store], monkeypatch: pytest.MonkeyPatch, view: str
) -> None:
    commit = bare_repository(tmp_path / "r", ENTRIES)
    source = f"git:{tmp_path / 'r'}?view={view}"
    without = opened(source, None, commit)
    assert_alike(without, opened(source, stores(), commit))
    monkeypatch.setattr(git_rooms, "list_entries", refused)
    warm = opened(source, stores(), commit)
    assert warm.facts() == without.facts()
    assert warm.read("a.py") == without.read("a.py")


@pytest.mark.parametrize("view", ["full", "arb"])
def test_a_later_commit_reads_only_what_changed(
    tmp_path: Path, stores: Callable[[], Store], monkeypatch: pytest.MonkeyPatch, view: str
) -> None:
    first = bare_repository(tmp_path / "r", ENTRIES)
    oid = git(tmp_path / "r", "hash-object", "-w", "--stdin", stdin=b"new").strip()
    git(tmp_path / "r", "update-index", "-z", "--index-info", stdin=b"100644 " + oid + b"\tn.py\0")
    tree = git(tmp_path / "r", "write-tree").strip()
    second = git(tmp_path / "r", "commit-tree", tree, "-m", "two").strip().decode()
    source = f"git:{tmp_path / 'r'}?view={view}"
    opened(source, stores(), first)
    asked: list[str] = []
    original = git_rooms.batch

    def counted(repository: object, oids: list[str]) -> object:
        asked.extend(oids)
        return original(repository, oids)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(git_rooms, "batch", counted)
        warm = opened(source, stores(), second)
    assert asked == [oid.decode()]
    assert_alike(opened(source, None, second), warm)


def test_a_distribution_is_read_once_and_again_after_an_edit(
    stores: Callable[[], Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    without = opened("dist:iniconfig", None, "label")
    assert_alike(without, opened("dist:iniconfig", stores(), "label"))
    measured: list[str] = []
    original = directory.measure

    def counted(root: Path, path: str) -> TreeFile:
        measured.append(path)
        return original(root, path)

    monkeypatch.setattr("pytest_retrieval.snapshots.distribution.measure", counted)
    opened("dist:iniconfig", stores(), "label")
    assert measured == []
    found = metadata.distribution("iniconfig")
    place = Path(str(found.locate_file("iniconfig/__init__.py")))
    before = place.stat()
    os.utime(place)
    try:
        opened("dist:iniconfig", stores(), "label")
    finally:
        os.utime(place, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert "iniconfig/__init__.py" in measured


def test_folders_are_read_every_time(tmp_path: Path, stores: Callable[[], Store]) -> None:
    (tmp_path / "folder").mkdir()
    for text in ("one", "two"):
        (tmp_path / "folder" / "a").write_text(text)
        settle(tmp_path / "folder" / "a")
        assert opened(str(tmp_path / "folder"), stores()).text("a") == text


def test_an_archive_is_read_once(
    tmp_path: Path, stores: Callable[[], Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_archive(tmp_path / "r.tar.zst", release("v1"))
    settle(path)

    def texts(scratch: str, store: Store | None) -> list[str]:
        folder = open_archive(path, tmp_path / scratch, store)
        assert len(list(folder.glob("benchmark/v1/*.jsonl"))) == 2
        catalog = Catalog({}, [folder], store=store)
        return [catalog.open("o/n", commit).text("a.py") for commit in (COMMIT, OTHER)]

    expected = ["first", "second"]
    assert texts("none", None) == expected
    assert texts("cold", stores()) == expected
    monkeypatch.setattr(archive, "members", refused)
    assert texts("warm", stores()) == expected


def test_an_archive_gives_what_the_store_lost(tmp_path: Path, stores: Callable[[], Store]) -> None:
    path = write_archive(tmp_path / "r.tar.zst", release("v1"))
    settle(path)
    for scratch in ("cold", "warm"):
        folder = open_archive(path, tmp_path / scratch, stores())
        store = stores()
        assert Catalog({}, [folder], store=store).open("o/n", COMMIT).text("a.py") == "first"
        for name in (tmp_path / "store").rglob("*.pack"):
            name.unlink()


PATHS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=8)


@given(
    st.dictionaries(PATHS, st.tuples(st.binary(max_size=5), st.booleans(), st.booleans()), max_size=6),
    st.none() | st.text(max_size=5),
    st.dictionaries(st.text(max_size=5), st.integers(1, 9), max_size=3),
)
def test_a_tree_comes_back(
    files: dict[str, tuple[bytes, bool, bool]], version: str | None, dropped: dict[str, int]
) -> None:
    import hashlib

    rows = tuple(
        TreeFile(path, len(data), hashlib.sha256(data).hexdigest(), text)
        for path, (data, text, _) in files.items()
    )
    cut = frozenset(path for path, (_, _, short) in files.items() if short)
    contents_ = MemoryContents({})
    tree = Tree(rows, contents_, "full", cut, dropped, version)
    assert decoded(encoded(tree), contents_) == tree


def test_names_that_are_no_text_come_back() -> None:
    tree = Tree((TreeFile("\udcff\n", 0, "0" * 64, True),), MemoryContents({}), "full", dropped={})
    assert decoded(encoded(tree), tree.contents) == tree
