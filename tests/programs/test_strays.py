"""Strays: what a call left behind is found by its mark, whatever its number and its program of the moment."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_retrieval.programs import strays

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="looks processes up in /proc")


@pytest.fixture
def leader() -> Iterator[subprocess.Popen[bytes]]:
    """A process that has ended and was not waited for, as when a call's strays are looked for."""
    process = subprocess.Popen([sys.executable, "-S", "-c", ""])
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    yield process
    process.wait()


@pytest.fixture
def marked() -> Iterator[tuple[int, str]]:
    """A process in a session of its own with the mark of a call."""
    mark = strays.new_mark()
    process = subprocess.Popen(
        ["sleep", "60"], start_new_session=True, env={**os.environ, strays.VARIABLE: mark}
    )
    yield process.pid, mark
    process.send_signal(signal.SIGKILL)
    process.wait()


def test_a_marked_process_is_found(leader: subprocess.Popen[bytes], marked: tuple[int, str]) -> None:
    pid, mark = marked
    assert strays.strays(leader.pid, mark) == [pid]
    assert strays.strays(leader.pid, strays.new_mark()) == []


def test_a_child_of_one_that_forked_and_ended_meanwhile_is_found(
    leader: subprocess.Popen[bytes], marked: tuple[int, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its parent was listed before the fork, and was gone when it was looked at."""
    pid, mark = marked
    listings = iter([[os.getpid()], [os.getpid(), pid], [os.getpid(), pid]])
    monkeypatch.setattr(strays, "_processes", lambda: next(listings))
    assert strays.strays(leader.pid, mark) == [pid]


def test_age_is_told_by_the_start_and_not_by_the_number(
    leader: subprocess.Popen[bytes], marked: tuple[int, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Numbers start again from below: a younger process may have the smaller one."""
    pid, mark = marked
    assert strays.strays(pid, mark) == []  # the leader is none of its own strays
    stat = strays._stat(leader.pid)
    assert stat is not None
    later = {leader.pid: stat._replace(started=stat.started + 10_000)}
    monkeypatch.setattr(strays, "_stat", lambda number, real=strays._stat: later.get(number) or real(number))
    assert strays.strays(leader.pid, mark) == []


def test_a_process_that_turns_into_another_program_is_looked_at_again(
    leader: subprocess.Popen[bytes], marked: tuple[int, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pid, mark = marked
    real, shown = Path.read_bytes, iter([b"", b""])

    def read(path: Path) -> bytes:
        return next(shown, real(path)) if path == Path(f"/proc/{pid}/environ") else real(path)

    monkeypatch.setattr(Path, "read_bytes", read)
    assert strays.strays(leader.pid, mark) == [pid]
