from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_retrieval.errors import UsageError
from pytest_retrieval.store import upkeep
from pytest_retrieval.store.location import default_root, parse_size
from pytest_retrieval.store.store import FORMAT, Store
from tests.store.test_shelf import ONE, TWO, block, read

CHECKOUT = Path(__file__).parents[2]


def put(store: Store, repo: str, key: bytes, text: bytes) -> None:
    store.shelf("texts", repo).add([block((key, text))])


def test_repositories_have_shelves_of_their_own(tmp_path: Path) -> None:
    store = Store(tmp_path)
    put(store, "a/b", ONE, b"one")
    assert read(store.shelf("texts", "a/b"), ONE) == {ONE: b"one"}
    assert read(store.shelf("texts", "a_b"), ONE) == {}
    store.close()


def test_a_later_store_finds_what_an_earlier_one_kept(tmp_path: Path) -> None:
    first = Store(tmp_path)
    put(first, "a/b", ONE, b"one")
    first.keep_record("tree", "an identity", b"payload")
    first.close()
    later = Store(tmp_path)
    assert read(later.shelf("texts", "a/b"), ONE) == {ONE: b"one"}
    assert later.has_record("tree", "an identity")
    assert later.record("tree", "an identity") == b"payload"
    assert later.record("tree", "another") is None
    later.close()


def test_another_version_of_the_store_is_left_alone(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.keep_record("tree", "identity", b"payload")
    store.close()
    (tmp_path / FORMAT).rename(tmp_path / "v0")
    later = Store(tmp_path)
    assert later.record("tree", "identity") is None
    later.keep_record("tree", "identity", b"new")
    later.close()
    assert upkeep.clear(tmp_path / FORMAT) > 0
    assert list((tmp_path / "v0").glob("*/*.tree"))


def test_a_damaged_record_is_removed_and_made_again(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.keep_record("tree", "identity", b"payload")
    [path] = (tmp_path / FORMAT).glob("*/*.tree")
    whole = path.read_bytes()
    for at in range(len(whole)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        assert store.record("tree", "identity") is None
        assert not path.exists()
    store.keep_record("tree", "identity", b"payload")
    assert store.record("tree", "identity") == b"payload"
    store.close()


def pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "inside").touch()


def link_to_nothing(path: Path) -> None:
    path.unlink()
    path.symlink_to("nothing")


def link_to_a_device(path: Path) -> None:
    path.unlink()
    path.symlink_to("/dev/full")  # endless zeros to who reads it


def other_content(path: Path) -> None:
    """A whole file of this store, but not this one."""
    [other] = [each for each in path.parent.glob(f"*{path.suffix}") if each != path]
    shutil.copy(other, path)


@pytest.mark.parametrize("replace", [pipe, folder, link_to_nothing, link_to_a_device, other_content])
def test_what_was_put_in_place_of_a_file_is_replaced(tmp_path: Path, replace: Callable[[Path], None]) -> None:
    def fill(store: Store) -> None:
        for identity in ("one", "two"):
            store.keep_record("tree", identity, identity.encode())
        for kind, text in (("texts", b"text"), ("words", b"word")):
            if (shelf := store.shelf(kind, "a/b")).missing([ONE]):
                shelf.add([block((ONE, text))])

    def kept(store: Store) -> list[object]:
        return [
            *(store.record("tree", identity) for identity in ("one", "two")),
            *(read(store.shelf(kind, "a/b"), ONE) for kind in ("texts", "words")),
        ]

    first = Store(tmp_path)
    fill(first)
    whole = kept(first)
    assert whole == [b"one", b"two", {ONE: b"text"}, {ONE: b"word"}]
    first.close()
    files = [path for path in (tmp_path / FORMAT).rglob("*") if path.is_file()]
    assert len(files) == 6  # with a lock and the log of uses
    for path in files:
        if replace is not other_content or path.suffix in {".tree", ".pack"}:
            replace(path)
    assert len(list(upkeep.verify(tmp_path / FORMAT))) >= 2
    upkeep.info(tmp_path / FORMAT)
    notices: list[str] = []
    store = Store(tmp_path, notice=notices.append)
    for found, expected in zip(kept(store), whole, strict=True):
        assert not found or found == expected
    fill(store)
    assert kept(store) == whole
    store.close()
    assert notices == []
    assert list(upkeep.verify(tmp_path / FORMAT)) == []
    assert upkeep.info(tmp_path / FORMAT).uses["records asked"] > 0


def test_a_store_that_cannot_be_made_is_one_notice(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    notices: list[str] = []
    store = Store(tmp_path / "file" / "store", notice=notices.append)
    for _ in range(2):
        put(store, "a/b", ONE, b"one")
        store.keep_record("tree", "identity", b"payload")
        assert read(store.shelf("texts", "a/b"), ONE) == {}
        assert store.record("tree", "identity") is None
    store.close()
    assert len(notices) == 1
    assert "Not a directory" in notices[0]
    assert not store.writable


@pytest.mark.parametrize("place", ["open", "replace", "mkdir"])
@pytest.mark.parametrize("failing", range(6))
def test_any_failing_step_of_writing_is_one_notice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, failing: int
) -> None:
    original = getattr(Path, place)
    calls = 0

    def counted(path: Path, *arguments: object, **named: object) -> object:
        nonlocal calls
        calls += 1
        if calls > failing and ("xb" in arguments or place != "open"):
            raise OSError(28, "No space left on device")
        return original(path, *arguments, **named)

    notices: list[str] = []
    with monkeypatch.context() as patched:
        patched.setattr(Path, place, counted)
        store = Store(tmp_path, notice=notices.append)
        put(store, "a/b", ONE, b"one")
        store.keep_record("tree", "identity", b"payload")
        put(store, "a/b", TWO, b"two")
        store.close()
    assert len(notices) <= 1
    assert not list(tmp_path.rglob("*.tmp"))
    assert not list(upkeep.verify(tmp_path / FORMAT))


def test_the_longest_unused_goes_first(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for number, repo in enumerate(("a/a", "b/b", "c/c")):
        put(store, repo, ONE, os.urandom(5000))
        [path] = (tmp_path / FORMAT).glob(f"shelf-{repo[0]}_*/*.pack")
        os.utime(path, (1000 + number, 1000 + number))
    store.close()
    folder = tmp_path / FORMAT
    reader = Store(tmp_path)
    assert read(reader.shelf("texts", "a/a"), ONE)  # used now, so the longest unused is b/b
    reader.close()
    assert upkeep.evict(folder, 12_000) > 5000
    assert {path.parent.name[6] for path in folder.glob("shelf-*/*.pack")} == {"a", "c"}
    assert upkeep.evict(folder, 12_000) == 0


def test_what_is_in_use_stays(tmp_path: Path) -> None:
    store = Store(tmp_path)
    put(store, "a/a", ONE, os.urandom(5000))
    assert upkeep.evict(tmp_path / FORMAT, 100) == 0
    assert read(store.shelf("texts", "a/a"), ONE)
    store.close()
    assert upkeep.evict(tmp_path / FORMAT, 100) > 0


def test_closing_keeps_the_store_within_its_limit(tmp_path: Path) -> None:
    for number in range(8):
        store = Store(tmp_path, limit=20_000)
        put(store, f"owner/{number}", ONE, os.urandom(5000))
        store.close()
        assert upkeep.info(tmp_path / FORMAT).size <= 20_000


def test_info_counts_files_and_uses(tmp_path: Path) -> None:
    store = Store(tmp_path)
    put(store, "a/b", ONE, b"one")
    read(store.shelf("texts", "a/b"), ONE, TWO)
    store.record("tree", "identity")
    store.keep_record("tree", "identity", b"payload")
    store.close()
    found = upkeep.info(tmp_path / FORMAT)
    assert found.files == {"texts": 1, "tree": 1}
    assert found.size == sum(found.sizes.values()) > 0
    assert found.uses == {"contents asked": 2, "contents found": 1, "records asked": 1, "records found": 0}


def test_verify_names_what_is_damaged(tmp_path: Path) -> None:
    store = Store(tmp_path)
    put(store, "a/b", ONE, b"one")
    store.keep_record("tree", "identity", b"payload")
    store.close()
    folder = tmp_path / FORMAT
    assert list(upkeep.verify(folder)) == []
    [pack] = folder.glob("*/*.pack")
    pack.write_bytes(b"\0" + pack.read_bytes()[1:])
    [record] = folder.glob("*/*.tree")
    record.write_bytes(b"")
    assert {path for path, _ in upkeep.verify(folder)} == {pack, record}


def test_clearing_leaves_nothing_of_ours_and_everything_else(tmp_path: Path) -> None:
    store = Store(tmp_path)
    put(store, "a/b", ONE, b"one")
    store.close()
    folder = tmp_path / FORMAT
    [shelf] = folder.glob("shelf-*")
    (shelf / "notes.txt").write_text("mine")
    assert upkeep.clear(folder) > 0
    assert [path for path in folder.rglob("*") if path.is_file()] == [shelf / "notes.txt"]
    (shelf / "notes.txt").unlink()
    upkeep.clear(folder)
    assert not folder.exists()
    assert upkeep.clear(folder) == 0


WRITER = """
import sys
from pathlib import Path
from pytest_retrieval.store.store import Store
from tests.store.test_shelf import block
root, number, rounds = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
store = Store(root, 1 << 30)
print("ready", flush=True)
for step in range(rounds):
    key = (step % 50).to_bytes(2) * 16
    text = key * 200
    shelf = store.shelf("texts", "a/b")
    for data, places in shelf.fetch([key]):
        assert data[places[0].start:][:places[0].length] == text
    if shelf.missing([key]) or number:
        shelf.add([block((key, text), ((number * 10000 + step).to_bytes(4) * 7 + b"mine", b"own"))])
    store.keep_record("tree", str(step % 7), text)
    assert store.record("tree", str(step % 7)) is not None
    if step % 20 == 19:
        store.close()
store.close()
"""


def start_writer(root: Path, number: int, rounds: int) -> subprocess.Popen[bytes]:
    argv = [sys.executable, "-c", WRITER, str(root), str(number), str(rounds)]
    return subprocess.Popen(argv, cwd=CHECKOUT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_many_processes_write_at_once(tmp_path: Path) -> None:
    writers = [start_writer(tmp_path, number, 60) for number in range(4)]
    for writer in writers:
        _, said = writer.communicate(timeout=60)
        assert (writer.returncode, said) == (0, b"")
    assert not list(upkeep.verify(tmp_path / FORMAT))
    assert not list(tmp_path.rglob("*.tmp"))
    store = Store(tmp_path)
    keys = [step.to_bytes(2) * 16 for step in range(50)]
    assert read(store.shelf("texts", "a/b"), *keys) == {key: key * 200 for key in keys}
    store.close()


def test_a_killed_writer_leaves_nothing_that_is_believed(tmp_path: Path) -> None:
    for attempt in range(4):
        writer = start_writer(tmp_path, 1, 100_000)
        assert writer.stdout is not None
        writer.stdout.readline()
        time.sleep(0.05 * attempt)
        writer.send_signal(signal.SIGKILL)
        writer.communicate()
        assert not list(upkeep.verify(tmp_path / FORMAT))
    store = Store(tmp_path)
    put(store, "a/b", TWO, b"two")
    assert read(store.shelf("texts", "a/b"), TWO) == {TWO: b"two"}
    store.close()


def test_what_a_killed_writer_left_is_swept_when_it_is_old(tmp_path: Path) -> None:
    store = Store(tmp_path)
    put(store, "a/b", ONE, b"one")
    store.close()
    [shelf] = (tmp_path / FORMAT).glob("shelf-*")
    old, new = shelf / "texts-1.pack.1-a.tmp", shelf / "texts-1.pack.2-b.tmp"
    for path in (old, new):
        path.write_bytes(b"half")
    os.utime(old, (1000, 1000))
    upkeep.evict(tmp_path / FORMAT, 1 << 30)
    assert not old.exists()
    assert new.exists()


@pytest.mark.parametrize(
    ("text", "size"), [("4G", 4 << 30), ("500m", 500 << 20), ("10 KiB", 10240), ("7", 7), ("1TB", 1 << 40)]
)
def test_a_size_is_read(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "G", "-1", "1.5G", "4 gigs"])
def test_anything_else_is_no_size(text: str) -> None:
    with pytest.raises(UsageError, match="a size is a number"):
        parse_size(text)


def test_the_default_place_is_the_cache_directory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_root() == tmp_path / "pytest-retrieval"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_root() == tmp_path / ".cache" / "pytest-retrieval"
