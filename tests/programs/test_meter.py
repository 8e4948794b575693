"""How much memory a program needs: the pitfalls of engine.md, section 9."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

from pytest_retrieval.programs.groups import running
from pytest_retrieval.programs.process import Completed, ProgramError, Usage, run

MIB = 1 << 20
SHELL = "/bin/sh"
ON_LINUX = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="there is no /proc to look at")

#: Holds 64 MiB until its input ends.
HOLD = "import sys; held = b'x' * (64 << 20); print(flush=True); sys.stdin.read()"
#: What starts such processes and looks at them for a while.
START = f"""
import os, subprocess, sys, time
def start(**more):
    both = dict(stdin=subprocess.PIPE, stdout=subprocess.PIPE, **more)
    child = subprocess.Popen([sys.executable, "-ISc", {HOLD!r}], **both)
    child.stdout.readline()
    return child
"""
TWO = START + "children = [start(), start()]; time.sleep(0.6); [child.communicate() for child in children]"
LEFT = START + "child = start(start_new_session=True); time.sleep(0.6); os._exit(0)"


def metered(*argv: str, **options: object) -> Completed:
    return run(argv, timeout=30, metered=True, traced=True, **options)  # type: ignore[arg-type]


def usage(*argv: str) -> Usage:
    found = metered(*argv).usage
    assert found is not None
    return found


def python(code: str) -> Usage:
    return usage(sys.executable, "-ISc", code)


def test_the_floor_is_not_that_of_the_caller() -> None:
    held = b"x" * (100 * MIB)
    assert usage(SHELL, "-c", ":").peak < 30 * MIB
    assert len(held) == 100 * MIB


def test_what_a_program_holds_is_seen() -> None:
    found = python(HOLD)
    assert 64 * MIB < found.peak < 110 * MIB
    assert found.wall > 0


@ON_LINUX
def test_the_peak_is_the_largest_process_and_the_tree_their_sum() -> None:
    found = python(TWO)
    assert found.peak < 110 * MIB
    assert found.tree is not None
    assert found.tree > 128 * MIB


@ON_LINUX
def test_a_process_that_nobody_waits_for_is_in_the_tree_alone() -> None:
    found = python(LEFT)
    assert found.peak < 40 * MIB
    assert found.tree is not None
    assert found.tree > 64 * MIB


def test_the_program_ends_as_it_would_alone() -> None:
    done = metered(SHELL, "-c", "cat; echo err >&2; exit 3", stdin=b"given")
    assert (done.returncode, done.stdout, done.stderr) == (3, b"given", b"err\n")
    assert metered(SHELL, "-c", "kill -SEGV $$").returncode == -signal.SIGSEGV
    assert metered(SHELL, "-c", "kill -TERM $$").returncode == -signal.SIGTERM


def test_signals_reach_the_program_as_usual() -> None:
    loop = "trap 'echo told; exit 5' TERM; echo ready; while :; do sleep 0.02; done"
    with running([SHELL, "-c", loop], None, None, None, metered=True) as group:
        os.set_blocking(group.stdout, True)
        assert os.read(group.stdout, 100) == b"ready\n"
        group.signal(signal.SIGTERM)
        assert os.read(group.stdout, 100) == b"told\n"
        assert os.read(group.stdout, 100) == b""
        assert group.process.wait() == 5
        assert group.usage() is not None


def test_a_program_that_is_killed_with_its_group_tells_nothing() -> None:
    done = metered(SHELL, "-c", "kill -KILL 0")
    assert (done.returncode, done.usage) == (-signal.SIGKILL, None)


def test_a_program_that_cannot_be_started() -> None:
    with pytest.raises(ProgramError, match=r"cannot start '/nowhere': No such file or directory"):
        metered("/nowhere")


def test_without_a_meter_there_is_no_figure() -> None:
    assert run([SHELL, "-c", ":"], timeout=30).usage is None
