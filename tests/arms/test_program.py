from __future__ import annotations

import hashlib
import os
import signal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_retrieval.arms.program import (
    SHOWN,
    Program,
    RefusalError,
    inherited_environment,
    one_line,
    output_of,
)
from pytest_retrieval.errors import ArmError, UsageError
from pytest_retrieval.programs.process import Completed


def ended(code: int, out: bytes = b"", err: bytes = b"", **flags: bool) -> Completed:
    known = {"stdout_truncated": False, "stderr_truncated": False, "timed_out": False, **flags}
    cut, cut_err, late = known.values()
    return Completed(code, out, err, cut, cut_err, late, 1.0)


def script(folder: Path, text: str, name: str = "tool") -> Path:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


# --- how a call ended


def test_success_gives_the_output_whatever_was_said_beside_it() -> None:
    assert output_of(ended(0, b"{}", b"warning"), 120, may_refuse=True) == b"{}"


@pytest.mark.parametrize(
    ("err", "reason"),
    [
        (b"no rule for .md\n", "no rule for .md"),
        (
            b'{"code": "unsupported-impact-path-suffix", "error": "no rule", "ok": false, "evidence": []}\n',
            "unsupported-impact-path-suffix: no rule",
        ),
        (b'{"error": "the task is too long", "ok": false}', "the task is too long"),
        (b'{"error": "x", "ok": true}', '{"error": "x", "ok": true}'),
        ("café ✓\n".encode(), "café ✓"),
    ],
    ids=str,
)
def test_status_2_one_line_and_no_output_is_a_refusal(err: bytes, reason: str) -> None:
    with pytest.raises(RefusalError) as caught:
        output_of(ended(2, b"", err), 120, may_refuse=True)
    assert str(caught.value) == reason


@pytest.mark.parametrize(
    ("done", "message"),
    [
        (ended(2, b"", b"no rule"), "ended with exit status 2: no rule"),  # of a verb that never refuses
    ],
)
def test_a_verb_without_refusals_has_only_faults(done: Completed, message: str) -> None:
    with pytest.raises(ArmError) as caught:
        output_of(done, 120, may_refuse=False)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("done", "message"),
    [
        pytest.param(ended(1, b"", b"disk full"), "ended with exit status 1: disk full", id="another-status"),
        pytest.param(ended(4, b"part", b"why"), "ended with exit status 4: why", id="half-an-answer"),
        pytest.param(ended(2, b"part", b"why"), "ended with exit status 2: why", id="half-and-refusal"),
        pytest.param(ended(2), "ended with exit status 2 and said nothing", id="silence"),
        pytest.param(
            ended(2, b"", b"panic: nil map\n\ngoroutine 1 [running]:\nmain.main()\n\texit status 2"),
            "ended with exit status 2: panic: nil map goroutine 1 [running]: main.main() exit status 2",
            id="go-panic",
        ),
        pytest.param(
            ended(2, b"", b"usage: x\nx: error: no such option"),
            "ended with exit status 2: usage: x x: error: no such option",
            id="usage",
        ),
        pytest.param(ended(2, b"", b"\xff\xfe"), "ended with exit status 2: \ufffd\ufffd", id="no-utf8"),
        pytest.param(ended(-signal.SIGSEGV, b"", b"core"), "was ended by SIGSEGV: core", id="signal"),
        pytest.param(ended(-63), "was ended by signal 63 and said nothing", id="nameless-signal"),
        pytest.param(ended(137, b"", b"Killed"), "ended with exit status 137: Killed", id="shell-signal"),
        pytest.param(
            ended(-15, b"{", b"slow", timed_out=True), "did not end within 120 s: slow", id="timeout"
        ),
        pytest.param(
            ended(-15, b"x", stdout_truncated=True), "standard output exceeds 8,388,608 bytes", id="flood"
        ),
        pytest.param(
            ended(0, b"x", stdout_truncated=True), "standard output exceeds 8,388,608 bytes", id="flood-0"
        ),
        pytest.param(
            ended(2, b"", b"x" * 5, stderr_truncated=True), "ended with exit status 2: xxxxx", id="long-line"
        ),
    ],
)
def test_every_other_end_is_a_fault_with_the_diagnostics(done: Completed, message: str) -> None:
    with pytest.raises(ArmError) as caught:
        output_of(done, 120, may_refuse=True)
    assert str(caught.value) == message


# --- diagnostics


def test_white_space_and_control_characters_become_harmless() -> None:
    assert one_line(b" a\n\tb\r\n\x1b[31mred\x07 ") == "a b \ufffd[31mred\ufffd"


def test_long_diagnostics_keep_both_ends() -> None:
    text = "é" * 1_000 + "end"
    assert one_line(text.encode()) == "é" * 198 + " … " + "é" * 195 + "end"


def test_a_character_that_the_bound_cut_in_two_is_left_out() -> None:
    whole = "éé".encode()
    assert one_line(whole[:3], truncated=True) == "é"
    assert one_line(whole[:3]) == "é\ufffd"


@given(st.binary(max_size=3_000), st.booleans())
def test_any_diagnostics_are_one_bounded_printable_line(data: bytes, truncated: bool) -> None:
    line = one_line(data, truncated=truncated)
    assert len(line) <= SHOWN
    assert line == "" or line.isprintable()


@given(
    st.builds(
        ended,
        st.integers(-64, 255),
        st.binary(max_size=20),
        st.binary(max_size=200),
        timed_out=st.booleans(),
        stdout_truncated=st.booleans(),
        stderr_truncated=st.booleans(),
    )
)
def test_any_end_is_output_a_refusal_or_a_fault_of_one_line(done: Completed) -> None:
    try:
        assert output_of(done, 120, may_refuse=True) == done.stdout
    except (ArmError, RefusalError) as error:
        assert str(error).isprintable() and str(error)
    else:
        assert done.returncode == 0


# --- finding a program and telling which it is


def test_a_program_is_found_by_path_or_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = script(tmp_path, "echo 1")
    assert Program.find(str(tool)).path == tool
    monkeypatch.chdir(tmp_path)
    assert Program.find("./tool").path == tool
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert Program.find("tool").path == tool
    monkeypatch.setenv("HOME", str(tmp_path))
    assert Program.find("~/tool").path == tool


def test_what_is_no_program_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("text")
    for text in (str(tmp_path / "absent"), str(tmp_path / "plain"), str(tmp_path), "no-such-program-here"):
        with pytest.raises(UsageError, match="is no program; give the path of an executable file") as caught:
            Program.find(text)
        assert text in str(caught.value)


def test_identity_is_the_resolved_file_and_its_version(tmp_path: Path) -> None:
    tool = script(tmp_path, 'echo "corvint  0.8.1"; echo noise >&2')
    (tmp_path / "link").symlink_to(tool)
    program = Program.find(str(tmp_path / "link"))
    digest = hashlib.sha256(tool.read_bytes()).hexdigest()
    assert (program.identity.version, program.identity.sha256) == ("corvint 0.8.1", digest)
    assert str(program.identity) == f"corvint 0.8.1 sha256:{digest[:12]}"


def test_the_identity_is_read_once_and_can_be_read_again(tmp_path: Path) -> None:
    tool = script(tmp_path, "echo one")
    program = Program.find(str(tool))
    before = program.identity
    assert program.read_identity() == before
    script(tmp_path, "echo two")
    assert program.identity is before
    assert program.read_identity().version == "two"
    assert program.read_identity().sha256 != before.sha256


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("echo why >&2; exit 3", "ended with exit status 3: why"),
        ("echo why >&2; exit 2", "ended with exit status 2: why"),
        ("exit 0", "it said nothing; is this the right program?"),
        ("kill -9 $$", "was ended by SIGKILL and said nothing"),
    ],
)
def test_a_program_without_a_version_is_a_usage_error(tmp_path: Path, text: str, message: str) -> None:
    tool = script(tmp_path, text)
    with pytest.raises(UsageError) as caught:
        Program.find(str(tool)).read_identity()
    assert str(caught.value) == f"{tool} --version: {message}"


def test_a_program_that_went_away_is_one_line(tmp_path: Path) -> None:
    tool = script(tmp_path, "echo 1")
    program = Program.find(str(tool))
    tool.unlink()
    with pytest.raises(UsageError, match=r"--version: .*No such file or directory"):
        program.read_identity()
    with pytest.raises(ArmError, match=r"cannot start .*No such file or directory"):
        program.call([])


def test_an_argument_that_the_system_cannot_pass_is_a_refusal(tmp_path: Path) -> None:
    program = Program.find(str(script(tmp_path, "exit 0")))
    with pytest.raises(RefusalError, match="an argument of 8,000,000 characters is too long"):
        program.call(["-x", "a" * 8_000_000])


def test_a_null_character_cannot_be_an_argument(tmp_path: Path) -> None:
    with pytest.raises(ArmError, match="embedded null byte"):
        Program.find(str(script(tmp_path, "exit 0"))).call([b"a\0b"])


def test_the_environment_is_inherited_but_for_gits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_DIR", "/elsewhere/.git")
    monkeypatch.setenv("CORVINT_CONTEXT_ANCHORS", "on")
    monkeypatch.setenv("UNWANTED", "1")
    variables = inherited_environment(without=("UNWANTED",), MORE="x")
    assert variables["CORVINT_CONTEXT_ANCHORS"] == "on"
    assert variables["MORE"] == "x"
    assert variables["GIT_CONFIG_GLOBAL"] == os.devnull
    assert {"GIT_DIR", "UNWANTED"}.isdisjoint(variables)
