"""The changed file of the ``affected`` arm: dirty during the call, byte for byte itself after it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_retrieval.arms.corvint_affected import dirtied
from pytest_retrieval.errors import ArmError
from pytest_retrieval.snapshots.base import Snapshot
from tests.arms.corvint_support import RING, paths, query, ready
from tests.arms.support import snapshot_of
from tests.processes import is_alive, wait_until_gone

QUESTION = query(changed_file="ring.c")


@pytest.fixture
def snapshot() -> Iterator[Snapshot]:
    snapshot = snapshot_of(RING)
    yield snapshot
    snapshot.close()


# --- the file alone


@settings(max_examples=50)
@given(content=st.binary(max_size=100), fails=st.booleans())
def test_two_line_feeds_during_the_block_and_the_same_bytes_after_it(
    content: bytes, fails: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("copy")
    place = folder / "file"
    place.write_bytes(content)
    place.chmod(0o640)
    with contextlib.suppress(ZeroDivisionError), dirtied(place, folder):
        assert place.read_bytes() == content + b"\n\n"
        if fails:
            raise ZeroDivisionError
    assert place.read_bytes() == content
    assert place.stat().st_mode & 0o777 == 0o640
    assert list(folder.iterdir()) == [place]


@pytest.mark.parametrize("instead", ["nothing", "link", "other bytes"])
def test_whatever_became_of_the_file_it_is_back(instead: str, tmp_path: Path) -> None:
    place, outside = tmp_path / "file", tmp_path / "outside"
    place.write_bytes(b"mine")
    outside.write_bytes(b"theirs")
    with dirtied(place, tmp_path):
        place.unlink()
        if instead == "link":
            place.symlink_to(outside)
        elif instead == "other bytes":
            place.write_bytes(b"x" * 100)
    assert not place.is_symlink()
    assert place.read_bytes() == b"mine"
    assert outside.read_bytes() == b"theirs"


def test_an_interrupt_stays_an_interrupt_even_if_the_file_cannot_come_back(tmp_path: Path) -> None:
    place = tmp_path / "file"
    place.write_bytes(b"mine")
    with pytest.raises(KeyboardInterrupt), dirtied(place, tmp_path):
        place.unlink()
        place.mkdir()
        raise KeyboardInterrupt


def test_a_file_that_cannot_come_back_is_a_fault(tmp_path: Path) -> None:
    place = tmp_path / "file"
    place.write_bytes(b"mine")
    with pytest.raises(ArmError, match="the changed file cannot be restored in the work tree: Is a direc"):  # noqa: SIM117
        with dirtied(place, tmp_path):
            place.unlink()
            place.mkdir()


@pytest.mark.parametrize("kind", ["missing", "folder", "link", "pipe"])
def test_only_a_regular_file_is_dirtied(kind: str, tmp_path: Path) -> None:
    place, outside = tmp_path / "file", tmp_path / "outside"
    outside.write_bytes(b"theirs")
    if kind == "folder":
        place.mkdir()
    elif kind == "link":
        place.symlink_to(outside)
    elif kind == "pipe":
        os.mkfifo(place)
    with pytest.raises(ArmError, match=r"^the changed file "), dirtied(place, tmp_path):
        pytest.fail("the block was entered")
    assert outside.read_bytes() == b"theirs"


# --- through the arm


@pytest.mark.parametrize("path", ["ring.c", "notes.md"])
def test_every_byte_is_back_and_git_finds_nothing(path: str, snapshot: Snapshot) -> None:
    ready("affected", snapshot).rank(query(changed_file=path))
    assert (snapshot.worktree() / path).read_bytes() == RING[path]
    assert snapshot.worktree_changes() == ()


def test_names_are_bytes(tmp_path: Path) -> None:
    odd = os.fsdecode(b"d\xff/ring \xc3\xa9.c")
    snapshot = snapshot_of({odd: b"int x;\n", "a_test.c": b"d\n"})
    answer = ready("affected", snapshot).rank(query(changed_file=odd))
    assert answer.state == "BOUNDED"
    assert snapshot.worktree_changes() == ()
    snapshot.close()


@pytest.mark.parametrize("path", ["gone.c", "../../etc/passwd", "/etc/passwd", ".git/config", "a\0b"])
def test_a_file_that_the_copy_does_not_hold_is_a_fault(path: str, snapshot: Snapshot) -> None:
    with pytest.raises(ArmError, match="the snapshot has no file"):
        ready("affected", snapshot).rank(query(changed_file=path))


def test_a_file_that_an_arm_removed_is_a_fault(snapshot: Snapshot) -> None:
    arm = ready("affected", snapshot)
    (snapshot.worktree() / "ring.c").unlink()
    with pytest.raises(ArmError, match="the changed file cannot be read in the work tree: No such file"):
        arm.rank(QUESTION)


@pytest.mark.parametrize(
    ("switches", "message"),
    [
        ("dirty", r"work tree left dirty: \?\? junk\.txt$"),
        ("dirty-tracked", r"work tree left dirty: M notes\.md$"),
        ("dirty-changed", "the changed file cannot be restored in the work tree: Is a directory"),
    ],
)
def test_a_copy_left_dirty_is_a_fault(
    switches: str, message: str, snapshot: Snapshot, monkeypatch: pytest.MonkeyPatch
) -> None:
    arm = ready("affected", snapshot)
    monkeypatch.setenv("FAKE_CORVINT", switches)
    with pytest.raises(ArmError, match=message):
        arm.rank(QUESTION)
    assert snapshot.worktree_changes()
    monkeypatch.delenv("FAKE_CORVINT")
    snapshot.rebuild_worktree()
    assert paths(arm.rank(QUESTION)) == ["ring_test.c"]


def test_a_file_that_the_program_removed_is_put_back(
    snapshot: Snapshot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_CORVINT", "drop-changed")
    assert paths(ready("affected", snapshot).rank(QUESTION)) == ["ring_test.c"]
    assert (snapshot.worktree() / "ring.c").read_bytes() == RING["ring.c"]


# --- an interrupt

SESSION = """
import sys
from pathlib import Path
from tests.arms.corvint_support import QUESTIONS, RING, ready
from tests.arms.support import snapshot_of

snapshot = snapshot_of(RING)
arm = ready(sys.argv[1], snapshot)
try:
    QUESTIONS[sys.argv[2]](arm)
except KeyboardInterrupt:
    root = snapshot.worktree()
    print("interrupted", (root / "ring.c").read_bytes() == RING["ring.c"], snapshot.worktree_changes(), root)
finally:
    snapshot.close()
"""


@pytest.mark.parametrize(
    ("name", "what", "switches"),
    [
        ("context", "rank", "grandchild,hang"),
        ("context", "index", "grandchild,hang"),
        ("affected", "rank", "grandchild,hang"),
        ("affected", "rank", "grandchild,hang,stubborn"),
    ],
)
def test_an_interrupt_leaves_no_process_and_no_change(
    name: str, what: str, switches: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pids = tmp_path / "pids"
    spoiled = "index" if what == "index" else name
    monkeypatch.setenv("FAKE_CORVINT", ",".join(f"{spoiled}:{switch}" for switch in switches.split(",")))
    monkeypatch.setenv("FAKE_CORVINT_PIDS", str(pids))
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    session = subprocess.Popen(
        [sys.executable, "-c", SESSION, name, what], stdout=subprocess.PIPE, text=True, cwd=tmp_path
    )
    numbers = _numbers(pids, session)
    assert all(map(is_alive, numbers))
    session.send_signal(signal.SIGINT)
    said, _ = session.communicate(timeout=60)
    words = said.split()
    assert words[:3] == ["interrupted", "True", "()"]
    assert not Path(words[3]).exists()
    assert all(map(wait_until_gone, numbers))


def _numbers(pids: Path, session: subprocess.Popen[str]) -> list[int]:
    """The process numbers of program and grandchild, once both have noted theirs."""
    while session.poll() is None:
        lines = pids.read_text().split() if pids.exists() else []
        if len(lines) == 2:
            return [int(line) for line in lines]
        time.sleep(0.02)
    pytest.fail(f"the session ended with {session.returncode} before the program hung")
