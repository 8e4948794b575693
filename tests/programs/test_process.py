"""Programs are bounded in time and output, and none of their group outlives the call."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pytest_retrieval.programs.process import ProgramError, allowed_environment, run, stream
from tests.processes import is_alive, wait_until_gone


def test_output_diagnostics_and_exit_code_are_kept_apart() -> None:
    done = run(["sh", "-c", "echo out; echo err >&2; exit 3"], timeout=30)
    assert (done.returncode, done.stdout, done.stderr) == (3, b"out\n", b"err\n")
    assert not (done.stdout_truncated or done.stderr_truncated or done.timed_out)


def test_standard_input_is_empty_or_exactly_the_given_bytes() -> None:
    assert run(["cat"], timeout=30).stdout == b""
    blob = bytes(range(256)) * 4096
    assert run(["cat"], timeout=30, stdin=blob).stdout == blob


def test_no_shell_reads_the_arguments() -> None:
    assert run(["printf", "%s", "$HOME; *"], timeout=30).stdout == b"$HOME; *"


def test_a_program_that_writes_without_end_is_ended_at_the_bound() -> None:
    done = run(["yes"], timeout=60, stdout_limit=1000)
    assert done.stdout_truncated
    assert len(done.stdout) == 1000
    assert done.returncode == -signal.SIGTERM
    assert not done.timed_out


def test_output_beyond_the_bound_may_be_only_discarded() -> None:
    done = run(["sh", "-c", "yes | head -c 300000; exit 4"], timeout=60, stdout_limit=10, overflow_ends=False)
    assert done.stdout == b"y\ny\ny\ny\ny\n"
    assert (done.returncode, done.stdout_truncated, done.timed_out) == (4, True, False)


def test_what_may_not_linger_is_ended_with_its_leader() -> None:
    script = "sleep 600 & echo $!; yes | head -c 300000"
    done = run(["sh", "-c", script], timeout=60, traced=True, lingers=False)
    pid, _, rest = done.stdout.partition(b"\n")
    assert rest == b"y\n" * 150_000
    assert not is_alive(int(pid))


def test_diagnostics_beyond_their_bound_are_only_discarded() -> None:
    done = run(["sh", "-c", "yes | head -c 300000 >&2; echo done"], timeout=60, stderr_limit=10)
    assert done.stdout == b"done\n"
    assert done.stderr_truncated
    assert len(done.stderr) == 10


def test_exactly_the_bound_is_not_truncated() -> None:
    done = run(["printf", "12345"], timeout=30, stdout_limit=5)
    assert (done.stdout, done.stdout_truncated) == (b"12345", False)


@pytest.mark.parametrize(
    "script",
    [
        pytest.param("sleep 300 & echo $!; wait", id="waits"),
        pytest.param("trap '' TERM; sleep 300 & echo $!; wait; sleep 300", id="ignores-TERM"),
    ],
)
def test_a_timeout_ends_the_whole_group(script: str) -> None:
    done = run(["sh", "-c", script], timeout=0.4, grace=0.3)
    assert done.timed_out
    assert done.returncode < 0
    assert wait_until_gone(int(done.stdout))


def test_a_grandchild_that_holds_the_pipe_does_not_hang_the_call() -> None:
    done = run(["sh", "-c", "sleep 300 & echo $!; exit 0"], timeout=60)
    assert done.returncode == 0
    assert not done.timed_out
    assert wait_until_gone(int(done.stdout))


def test_a_grandchild_in_a_session_of_its_own_does_not_hang_the_call() -> None:
    code = "import os,time\nif os.fork()==0:\n os.setsid(); time.sleep(5)\nelse: print('parent')"
    done = run([sys.executable, "-c", code], timeout=60)
    assert done.stdout == b"parent\n"


def test_a_program_that_cannot_be_started_is_one_line() -> None:
    for argv in (["no-such-program-here"], ["printf", "a\0b"], [os.devnull]):
        with pytest.raises(ProgramError, match=r"^cannot start '[^\n]*$"):
            run(argv, timeout=30)


def test_the_environment_is_an_allow_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "x")
    monkeypatch.setenv("WANTED", "y")
    assert b"SECRET_TOKEN" not in run(["env"], timeout=30).stdout
    passed = allowed_environment(["PATH", "WANTED"], {"EXTRA": "z"})
    lines = run(["env"], timeout=30, environment=passed).stdout.splitlines()
    assert {b"WANTED=y", b"EXTRA=z"} <= set(lines)


def test_an_interrupt_ends_the_group(tmp_path: Path) -> None:
    script = f"""
import pathlib, signal
from pytest_retrieval.programs.process import run
try:
    run(["sh", "-c", "sleep 300 & echo $! > {tmp_path}/pid; wait"], timeout=300)
except KeyboardInterrupt:
    raise SystemExit(42)
"""
    root = Path(__file__).parents[2]
    caller = subprocess.Popen([sys.executable, "-c", script], cwd=root, env={**os.environ, "PYTHONPATH": "."})
    pid_file = tmp_path / "pid"
    for _ in range(500):
        if pid_file.is_file() and pid_file.read_text().endswith("\n"):
            break
        time.sleep(0.02)
    caller.send_signal(signal.SIGINT)
    assert caller.wait(timeout=60) == 42
    assert wait_until_gone(int(pid_file.read_text()))


def test_a_stream_is_read_to_its_end_and_checked() -> None:
    with stream(["sh", "-c", "echo a; echo b"], timeout=30) as reader:
        assert reader.readline() == b"a\n"
        assert reader.read() == b"b\n"
    with (
        pytest.raises(ProgramError, match="'sh' ended with 4: why"),
        stream(["sh", "-c", "echo a; echo why >&2; exit 4"], timeout=30) as reader,
    ):
        reader.read()


def test_a_stream_that_is_left_early_ends_its_program() -> None:
    with stream(["sh", "-c", "echo $$; exec yes"], timeout=60) as reader:
        pid = int(reader.readline())
    assert wait_until_gone(pid)


def test_a_stream_has_a_time_bound() -> None:
    with (
        pytest.raises(ProgramError, match="ran out of time"),
        stream(["sleep", "300"], timeout=0.2) as reader,
    ):
        reader.read()


def test_a_stream_survives_diagnostics_that_fill_a_pipe() -> None:
    with stream(["sh", "-c", "yes | head -c 300000 >&2; echo done"], timeout=60) as reader:
        assert reader.read() == b"done\n"
