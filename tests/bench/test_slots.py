"""An arm's places are held across processes, come back from the dead, and leave nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_retrieval.bench.slots import slot

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    yield tmp_path
    assert list(tmp_path.glob("pytest-retrieval-*")) == []


def python(script: str, *words: str) -> subprocess.Popen[str]:
    variables = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": tempfile.gettempdir()}
    argv = [sys.executable, "-c", script, *words]
    return subprocess.Popen(argv, cwd=ROOT, env=variables, stdout=subprocess.PIPE, text=True)


def test_never_more_processes_than_places(temporary: Path) -> None:
    script = """
import os, sys
from pathlib import Path
from pytest_retrieval.bench.slots import slot
inside = Path(sys.argv[1])
for turn in range(40):
    with slot("arm", 2):
        mine = inside / str(os.getpid())
        mine.touch()
        assert len(list(inside.iterdir())) <= 2
        mine.unlink()
"""
    (temporary / "inside").mkdir()
    asking = [python(script, str(temporary / "inside")) for _ in range(4)]
    assert [process.communicate() and process.returncode for process in asking] == [0, 0, 0, 0]


def test_a_killed_holder_gives_its_place_back() -> None:
    script = """
import time
from pytest_retrieval.bench.slots import slot
with slot("arm", 1):
    print("held", flush=True)
    time.sleep(600)
"""
    with python(script) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with slot("another arm", 1):
            pass
        holder.send_signal(signal.SIGKILL)
        with slot("arm", 1):
            pass


def test_without_a_limit_nothing_is_locked(temporary: Path) -> None:
    with slot("arm", None):
        assert list(temporary.iterdir()) == []
