"""A program asked line by line is bounded in time and size; closing it ends all that it started."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from pytest_retrieval.programs.dialogue import Dialogue
from pytest_retrieval.programs.process import ProgramError, allowed_environment, run
from tests.processes import is_alive, wait_until_gone

LIMIT = 1 << 20


@contextmanager
def talking(code: str) -> Iterator[Dialogue]:
    dialogue = Dialogue([sys.executable, "-uc", code], cwd=None, environment=allowed_environment())
    try:
        yield dialogue
    finally:
        dialogue.kill()


def ask(dialogue: Dialogue, line: bytes, timeout: float = 60) -> bytes:
    return dialogue.ask(line, timeout=timeout, limit=LIMIT)


ECHO = "import sys\nfor line in sys.stdin: print(line.upper(), end='', flush=True)"


def test_each_line_gets_its_line() -> None:
    with talking(ECHO) as dialogue:
        assert [ask(dialogue, word) for word in (b"one", b"two", b"")] == [b"ONE", b"TWO", b""]


def test_a_question_larger_than_a_pipe_deadlocks_nobody() -> None:
    code = (
        "import os, sys\nsys.stderr.write('e' * 300_000)\n"
        "while piece := os.read(0, 1000):\n    os.write(1, piece)"
    )
    with talking(code) as dialogue:
        assert ask(dialogue, b"x" * 900_000) == b"x" * 900_000


@pytest.mark.parametrize(
    ("code", "message"),
    [
        pytest.param("input(); import time; time.sleep(300)", r"timed out after 0\.5 s", id="hangs"),
        pytest.param("input(); raise SystemExit('why')", "it ended with exit status 1: why", id="dies"),
        pytest.param("input(); import os; os.kill(os.getpid(), 9)", "was ended by signal 9", id="killed"),
        pytest.param(
            "import sys; input(); print('x' * 3_000_000)", "its answer exceeds 1,048,576", id="floods"
        ),
        pytest.param(
            "import os, time; input(); os.close(1); time.sleep(300)",
            "it closed its standard output",
            id="mute",
        ),
        pytest.param(
            "import subprocess; input(); subprocess.Popen(['sleep', '300'])",
            "it ended with exit status 0",
            id="grandchild-holds-the-pipe",
        ),
    ],
)
def test_no_answer_is_one_line(code: str, message: str) -> None:
    timeout = 0.5 if "0\\.5" in message else 60
    with talking(code) as dialogue, pytest.raises(ProgramError, match=message):
        ask(dialogue, b"?", timeout)


def test_what_was_said_unasked_is_no_answer() -> None:
    with talking("import sys\nfor line in sys.stdin: print('a\\nb', flush=True)") as dialogue:
        assert ask(dialogue, b"?") == b"a"
        with pytest.raises(ProgramError, match="said something before it was asked: b'b"):
            ask(dialogue, b"?")


DAEMON = (
    "import os, subprocess, sys\n"
    "child = subprocess.Popen(['sleep', '300'], start_new_session=True, stdout=2)\n"
    "print(child.pid, flush=True)\n"
)


def test_closing_ends_the_program_and_the_sessions_it_started() -> None:
    with talking("input()\n" + DAEMON + "sys.stdin.read()") as dialogue:
        daemon = int(ask(dialogue, b"?"))
        assert is_alive(daemon)
        dialogue.close()
        assert wait_until_gone(daemon)


def test_closing_ends_one_that_will_not_end() -> None:
    deaf = "import os, signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); "
    with talking(deaf + "input(); print(os.getpid()); time.sleep(300)") as dialogue:
        pid = int(ask(dialogue, b"?"))
        dialogue.close(grace=0.1)
        assert wait_until_gone(pid)


def test_a_traced_program_is_told_of_what_it_left_behind() -> None:
    done = run([sys.executable, "-c", DAEMON], timeout=60, traced=True)
    assert (done.returncode, done.left_behind) == (0, 1)
    assert wait_until_gone(int(done.stdout))
    assert run(["true"], timeout=60, traced=True).left_behind == 0
    assert run(["sh", "-c", "sleep 0.1 & exit 0"], timeout=60, traced=True).left_behind == 0


def test_a_traced_program_that_times_out_leaves_nothing() -> None:
    done = run([sys.executable, "-c", DAEMON + "input(); os.pause()"], timeout=60, traced=True, stdin=b"")
    assert wait_until_gone(int(done.stdout))
    done = run([sys.executable, "-c", DAEMON + "import time; time.sleep(300)"], timeout=3, traced=True)
    assert done.timed_out
    assert wait_until_gone(int(done.stdout))
