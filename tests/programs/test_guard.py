"""A process that is killed takes its programs along: its guard ends what it could not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.processes import is_alive, wait_until

ROOT = Path(__file__).parents[2]
GUARD = ROOT / "pytest_retrieval" / "programs" / "guard.py"
# Notes which group was put under guard last, for a process may be killed just before it can tell.
TELLING = """
import sys
from pathlib import Path
from pytest_retrieval.programs import guard
def started(group, tell=guard.started):
    tell(group)
    Path(sys.argv[2]).write_text(str(group))
guard.started = started
"""
PROGRAM = 'sleep 300 & echo $$ $! > "$0.part"; mv "$0.part" "$0"; wait'


def ended(pids: list[int]) -> bool:
    return not any(map(is_alive, pids))


def start(script: str, *words: object) -> subprocess.Popen[bytes]:
    argv = [sys.executable, "-c", script, *map(str, words)]
    return subprocess.Popen(argv, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)})


def is_guarded(pids: Path, told: Path) -> bool:
    """Whether the program runs, and its group is the one that was put under guard last."""
    return pids.exists() and told.exists() and told.read_text() == pids.read_text().split()[0]


def guards_of(parent: int) -> list[int]:
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = place.read_bytes().split(b"\0")
        except OSError:
            continue
        if words[-3:-1] == [str(GUARD).encode(), str(parent).encode()]:
            found.append(int(place.parent.name))
    return found


pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks processes up in /proc")


def test_the_programs_of_a_killed_process_end_with_it(tmp_path: Path) -> None:
    pids, told = tmp_path / "pids", tmp_path / "told"
    script = f"""{TELLING}
from pytest_retrieval.programs.process import run
run(["true"], timeout=60)
run(["sh", "-c", {PROGRAM!r}, sys.argv[1]], timeout=300)
"""
    with start(script, pids, told) as process:
        wait_until(lambda: is_guarded(pids, told), "the program")
        (guard,) = guards_of(process.pid)
        os.kill(guard, signal.SIGTERM)
        assert all(map(is_alive, [guard, *map(int, pids.read_text().split())]))
        process.kill()
    wait_until(
        lambda: ended([guard, *map(int, pids.read_text().split())]),
        "the end of the program and its guard",
    )


def test_a_traced_program_ends_though_its_starter_was_killed_before_it_could_tell_its_group(
    tmp_path: Path,
) -> None:
    pids = tmp_path / "pids"
    script = f"""
import os, signal, sys, time
from pathlib import Path
from pytest_retrieval.programs import guard
from pytest_retrieval.programs.process import run
def started(group):
    while not Path(sys.argv[1]).exists():
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGKILL)
guard.started = started
run(["sh", "-c", {PROGRAM!r}, sys.argv[1]], timeout=300, traced=True)
"""
    with start(script, pids) as process:
        assert process.wait() == -signal.SIGKILL
    wait_until(lambda: ended([*map(int, pids.read_text().split())]), "the end of the program")
    wait_until(lambda: not guards_of(process.pid), "the end of the guard")


def test_what_has_left_the_group_of_a_traced_program_ends_with_the_killed_starter(tmp_path: Path) -> None:
    pids, told = tmp_path / "pids", tmp_path / "told"
    leaving = (
        "import os, sys, time; os.setsid(); open(sys.argv[1], 'w').write(str(os.getpid())); time.sleep(300)"
    )
    program = (
        f'{sys.executable} -c "{leaving}" "$0.gone" & until [ -s "$0.gone" ]; do sleep 0.1; done; {PROGRAM}'
    )
    script = f"""{TELLING}
from pytest_retrieval.programs.process import run
run(["sh", "-c", {program!r}, sys.argv[1]], timeout=300, traced=True)
"""
    with start(script, pids, told) as process:
        wait_until(lambda: is_guarded(pids, told), "the program")
        gone = int(Path(f"{pids}.gone").read_text())
        assert is_alive(gone)
        process.kill()
    wait_until(lambda: ended([gone, *map(int, pids.read_text().split())]), "the end of the program")


def test_a_traced_program_that_ended_is_not_looked_for_any_more(tmp_path: Path) -> None:
    """A bystander that has come by its mark is left alone."""
    script = """
import os, signal, subprocess, sys
from pathlib import Path
from pytest_retrieval.programs.process import run
from pytest_retrieval.programs.strays import VARIABLE
mark = run(["sh", "-c", f"echo ${VARIABLE}"], timeout=60, traced=True).stdout.decode().strip()
bystander = subprocess.Popen(["sleep", "300"], env={VARIABLE: mark}, start_new_session=True)
Path(sys.argv[1]).write_text(str(bystander.pid))
os.kill(os.getpid(), signal.SIGKILL)
"""
    with start(script, tmp_path / "pid") as process:
        process.wait()
    wait_until(lambda: not guards_of(process.pid), "the end of the guard")
    bystander = int((tmp_path / "pid").read_text())
    assert is_alive(bystander)
    os.kill(bystander, signal.SIGKILL)


def test_a_fork_that_lives_on_does_not_keep_the_programs_alive(tmp_path: Path) -> None:
    pids, told, fork = tmp_path / "pids", tmp_path / "told", tmp_path / "fork"
    script = f"""{TELLING}
import os, time
from pytest_retrieval.programs.process import run
run(["true"], timeout=60)
if os.fork() == 0:
    Path(sys.argv[3]).write_text(str(os.getpid()))
    time.sleep(300)
run(["sh", "-c", {PROGRAM!r}, sys.argv[1]], timeout=300)
"""
    with start(script, pids, told, fork) as process:
        wait_until(
            lambda: is_guarded(pids, told) and fork.exists() and fork.read_text() != "",
            "the program under guard, and its fork",
        )
        process.kill()
    wait_until(lambda: ended([*map(int, pids.read_text().split())]), "the end of the program")
    os.kill(int(fork.read_text()), signal.SIGKILL)


def test_a_group_that_has_ended_is_not_touched_any_more() -> None:
    """The number of a group may be another's by then, here that of a bystander."""
    with subprocess.Popen(["sleep", "300"], start_new_session=True) as bystander:
        script = """
import os, signal, sys
from pytest_retrieval.programs import guard
guard.started(int(sys.argv[1]))
guard.ended(int(sys.argv[1]))
os.kill(os.getpid(), signal.SIGKILL)
"""
        with start(script, bystander.pid) as process:
            process.wait()
        wait_until(lambda: not guards_of(process.pid), "the end of the guard")
        assert is_alive(bystander.pid)
        bystander.kill()


def test_a_process_that_starts_no_program_has_no_guard_and_one_that_ends_leaves_none() -> None:
    script = """
import sys
from pytest_retrieval.programs.process import run
input()
run(["true"], timeout=60)
input()
"""
    argv = [sys.executable, "-c", script]
    variables = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(argv, cwd=ROOT, env=variables, stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        time.sleep(0.2)
        assert guards_of(process.pid) == []
        process.stdin.write(b"\n")
        process.stdin.flush()
        wait_until(lambda: len(guards_of(process.pid)) == 1, "the guard")
        process.stdin.write(b"\n")
        process.stdin.close()
        assert process.wait() == 0
    wait_until(lambda: guards_of(process.pid) == [], "the end of the guard")
