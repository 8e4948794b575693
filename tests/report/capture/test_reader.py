"""A capture read back (case 66), and ``pytest-retrieval capture verify``."""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_retrieval import cli
from pytest_retrieval.arms.observed import Call
from pytest_retrieval.errors import UsageError
from pytest_retrieval.programs.process import Completed
from pytest_retrieval.report.capture import lines as capture_lines
from pytest_retrieval.report.capture.lines import footer_line
from pytest_retrieval.report.capture.reader import examine, verify
from tests.report.capture.captures import GOLDEN, TASK, called, completed, opened, planned

Line = dict[str, Any]


def capture_of(*calls: Call | None, snapshot_latency: bool = False) -> bytes:
    """The bytes of a finished capture of ``calls``, each of the task TASK."""
    with tempfile.TemporaryDirectory(dir=os.path.realpath(tempfile.gettempdir())) as folder:
        path = Path(folder) / "c.jsonl"
        texts = [TASK] * (len(calls) // 2 if snapshot_latency else len(calls))
        capture = opened(path, planned(*texts, snapshot_latency=snapshot_latency))
        for descriptor, call in zip(capture.invocations, calls, strict=True):
            capture.record(descriptor, call, None if call and call.parsed else "why")
        capture.finish()
        return path.read_bytes()


PAIRS = capture_of(called(), called(completed(b"", b"said")), called(), called(), snapshot_latency=True)


def resealed(data: bytes, change: Callable[[list[Line]], object], status: str | None = None) -> bytes:
    """``data`` with its lines changed, and a footer that fits them: only what they say can be at fault."""
    lines = [json.loads(line) for line in data.splitlines()]
    change(lines)
    body = b"".join(json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in lines[:-1])
    status = status or lines[-1]["status"]
    return body + footer_line(status, len(lines) - 2, len(body), hashlib.sha256(body).hexdigest())


def faults(data: bytes) -> list[str]:
    found = examine(data)
    assert all(fault and "\n" not in fault for fault in found.faults)
    assert found.is_complete == (not found.faults and found.status == "COMPLETE")
    return found.faults


# --- what is sound


def test_the_golden_vector_is_sound(tmp_path: Path) -> None:
    (tmp_path / "c.jsonl").write_bytes(GOLDEN)
    found = verify(tmp_path / "c.jsonl")
    assert found.is_complete
    assert found.summary() == [
        "capture: COMPLETE",
        "calls: 1 of 1 planned (1 ordinary)",
        "stdout: 1 COMPLETE, 0 NOT_PRODUCED",
        "stderr: 1 COMPLETE, 0 TRUNCATED, 0 NOT_PRODUCED",
        "packets: 1 PARSED, 0 MALFORMED, 0 NOT_RUN",
        "errors: 0",
    ]


def test_a_partial_capture_is_sound_and_not_complete() -> None:
    """12.21: diagnostics that were cut are counted, whatever the status."""
    cut = Completed(0, b"{}", b"x" * 65_536, False, True, False, 0.1)
    found = examine(
        capture_of(called(cut), called(completed(b"?"), parsed=False), called(completed(code=1)), None)
    )
    assert (found.faults, found.status, found.is_complete) == ([], "PARTIAL", False)
    assert found.summary() == [
        "capture: PARTIAL",
        "calls: 4 of 4 planned (4 ordinary)",
        "stdout: 2 COMPLETE, 2 NOT_PRODUCED",
        "stderr: 2 COMPLETE, 1 TRUNCATED, 1 NOT_PRODUCED",
        "packets: 1 PARSED, 1 MALFORMED, 2 NOT_RUN",
        "errors: 2",
    ]


def test_pairs_are_counted_by_phase() -> None:
    assert examine(PAIRS).summary()[:2] == ["capture: COMPLETE", "calls: 4 of 4 planned (2 cold, 2 hit)"]


@given(
    st.lists(
        st.none()
        | st.builds(
            lambda out, err, code, parsed: called(completed(out, err, code), parsed=parsed),
            st.binary(max_size=50),
            st.binary(max_size=50),
            st.sampled_from([0, 0, 1, -9]),
            st.booleans(),
        ),
        max_size=6,
    )
)
@settings(max_examples=50)
def test_whatever_was_captured_is_sound(calls: list[Call | None]) -> None:
    found = examine(capture_of(*calls))
    produced = [call for call in calls if call and call.completed and call.completed.returncode == 0]
    assert found.faults == []
    assert found.status == ("COMPLETE" if len(produced) == len(calls) else "PARTIAL")
    assert (found.records, found.stdout["COMPLETE"]) == (len(calls), len(produced))


# --- what is not: case 66


@given(st.integers(1, 255))
@settings(max_examples=12)
def test_any_byte_changed_is_found(change: int) -> None:
    """At every place of the golden vector."""
    for place in range(len(GOLDEN)):
        data = bytearray(GOLDEN)
        data[place] ^= change
        assert faults(bytes(data)), place


def test_any_byte_removed_or_doubled_is_found() -> None:
    for place in range(len(GOLDEN)):
        assert faults(GOLDEN[:place] + GOLDEN[place + 1 :]), place
        assert faults(GOLDEN[: place + 1] + GOLDEN[place:]), place


def test_any_shorter_file_is_found() -> None:
    for end in range(len(GOLDEN)):
        assert faults(GOLDEN[:end]), end


@given(st.integers(0, len(PAIRS) - 1), st.integers(0, len(PAIRS) - 1), st.binary(max_size=8))
@settings(max_examples=300)
def test_any_stretch_replaced_is_found(one: int, other: int, instead: bytes) -> None:
    start, end = sorted((one, other))
    data = PAIRS[:start] + instead + PAIRS[end:]
    assert bool(faults(data)) == (data != PAIRS)


@pytest.mark.parametrize(
    "order", [[0, 2, 1, 3, 4, 5], [0, 1, 2, 3, 5], [0, 1, 1, 2, 3, 4, 5], [1, 2, 3, 4, 5], [5, 0]]
)
def test_lines_in_another_order_are_found(order: list[int]) -> None:
    lines = PAIRS.splitlines(keepends=True)
    assert faults(b"".join(lines[place] for place in order))


@pytest.mark.parametrize("tail", [b"\n", b"x", b" ", b"{}\n", GOLDEN, GOLDEN.splitlines(keepends=True)[2]])
def test_nothing_may_follow_the_footer(tail: bytes) -> None:
    found = faults(GOLDEN + tail)
    assert any("follow the footer" in fault or "cut off" in fault for fault in found)


def test_a_file_without_its_last_byte_says_both() -> None:
    assert faults(GOLDEN[:-1]) == [
        "the last line is cut off: the file does not end with a line feed",
        "there is no footer: the capture is incomplete",
    ]


def test_a_capture_that_was_not_finished(tmp_path: Path) -> None:
    capture = opened(tmp_path / "c.jsonl", planned(TASK, TASK))
    capture.record(capture.invocations[0], called())
    capture.close()
    found = verify(tmp_path / "c.jsonl")
    assert found.faults == ["there is no footer: the capture is incomplete"]
    assert found.summary()[:2] == ["capture: NOT VALID", "calls: 1 of 2 planned (1 ordinary)"]


@pytest.mark.parametrize(
    "data", [b"", b"\n", b"\n" * 5_000, b"\xff\n", b"[" * 100_000 + b"\n", b"7\n", b"NaN\n"]
)
def test_what_is_no_capture_has_one_or_two_faults(data: bytes) -> None:
    assert 1 <= len(faults(data)) <= 2


def test_many_lines_beyond_the_plan_are_one_fault() -> None:
    lines = GOLDEN.splitlines(keepends=True)
    assert faults(lines[0] + lines[1] * 500) == ["line 3: all 1 planned invocations are before it"]


# --- what a footer that fits cannot cover up


def at(place: int, *keys: str | int, value: Any) -> Callable[[list[Line]], None]:
    """Sets one field of a line, or removes it where the value is ``...``."""

    def change(lines: list[Line]) -> None:
        found: Any = lines[place]
        for key in keys[:-1]:
            found = found[key]
        if value is ...:
            del found[keys[-1]]
        else:
            found[keys[-1]] = value

    return change


CHANGES: dict[str, tuple[Callable[[list[Line]], object], str]] = {
    "payload": (at(1, "stdout", "base64", value="AAAA"), r"line 2: stdout\.bytes: must be 3 \(the length"),
    "digest": (at(1, "stderr", "sha256", value="0" * 64), r"line 2: stderr\.sha256: must be "),
    "length": (at(2, "stderr", "bytes", value=5), r"line 3: stderr\.bytes: must be 4 "),
    "no base64": (at(1, "stdout", "base64", value="!!!!"), r"line 2: stdout\.base64: must be padded base64"),
    "unpadded": (at(2, "stderr", "base64", value="c2FpZA"), r"line 3: stderr\.base64: must be padded"),
    "loose bits": (at(2, "stderr", "base64", value="c2FpZB=="), r"line 3: stderr\.base64: must be padded"),
    "payload of nothing": (
        at(1, "stdout", "status", value="NOT_PRODUCED"),
        r"line 2: stdout: must be an object w",
    ),
    "no stdout": (at(1, "stdout", value={"status": "NOT_PRODUCED"}), "line 2: parse_status: must be NOT_RUN"),
    "no stderr": (at(1, "stderr", value={"status": "NOT_PRODUCED"}), "line 2: stderr: must be produced"),
    "cut stdout": (
        at(1, "stdout", "status", value="TRUNCATED"),
        r"line 2: stdout\.status: must be one of COMPLETE",
    ),
    "cut short": (at(1, "stderr", "status", value="TRUNCATED"), r"line 2: stderr\.bytes: must be 65,536"),
    "not run": (at(1, "parse_status", value="NOT_RUN"), "line 2: parse_status: must be PARSED or MALFORMED"),
    "another phase": (
        at(1, "invocation", "phase", value="hit"),
        r"line 2: invocation\.phase: must be 'cold'",
    ),
    "another task": (
        at(1, "invocation", "task_bytes", value=1),
        r"line 2: invocation\.task_bytes: must be 23",
    ),
    "true is no 1": (at(2, "invocation", "invocation_ordinal", value=True), "must be a whole number"),
    "further field": (at(1, "more", value=1), "line 2: .*must be an object without 'more'"),
    "missing field": (at(1, "parse_status", value=...), "line 2: .*must be an object with 'parse_status'"),
    "empty error": (at(1, "error", value=""), "line 2: error: must be 1 to 4,096 bytes"),
    "long error": (at(1, "error", value="\u00e9" * 2_049), "line 2: error: must be 1 to 4,096 bytes"),
    "another type": (at(1, "type", value="footer"), "line 2: "),
    "a record less": (lambda lines: lines.pop(4), r"footer: status: must be 'PARTIAL'"),
    "a record too many": (lambda lines: lines.insert(4, lines[4]), "line 6: all 4 planned"),
    "numbers of the plan": (
        at(0, "invocations", 1, "invocation_ordinal", value=2),
        r"invocations\[1\]\.invocation_ordinal",
    ),
    "phases of the plan": (
        at(0, "invocations", 1, "phase", value="cold"),
        r"invocations\[1\]\.phase: must be 'hit'",
    ),
    "unequal pair": (
        at(0, "invocations", 1, "sample_id", value="x"),
        r"invocations\[1\]\.sample_id: must be 'ring-1'",
    ),
    "samples of the plan": (
        at(0, "invocations", 2, "sample_ordinal", value=3),
        r"invocations\[2\]\.sample_ordinal: must be 1",
    ),
    "half a pair": (lambda lines: lines[0]["invocations"].pop(), "must be pairs"),
    "a long plan": (
        lambda lines: lines[0].update(invocations=lines[0]["invocations"] * 300),
        "must be at most 1,024 invocations",
    ),
    "another profile": (
        at(0, "profile", value="v1"),
        "line 1: not the header of a capture: profile: must be",
    ),
    "no plan": (at(0, "invocations", value=...), "line 1: not the header of a capture: "),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_field_that_contradicts_another(name: str) -> None:
    change, message = CHANGES[name]
    assert any(re.search(message, fault) for fault in faults(resealed(PAIRS, change)))


def test_resealing_alone_is_no_fault() -> None:
    assert faults(resealed(PAIRS, lambda lines: None)) == []


def test_a_status_that_claims_too_much_or_too_little() -> None:
    assert faults(resealed(PAIRS, lambda lines: None, "PARTIAL")) == [
        "footer: status: must be 'COMPLETE', by the invocations before it, not 'PARTIAL'"
    ]
    part = capture_of(called(), called(completed(code=1)))
    assert len(faults(resealed(part, lambda lines: None, "COMPLETE"))) == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"invocations":1,', b'"invocations":2,'),
        (b'"total_bytes":1240', b'"total_bytes":1241'),
        (b'"total_bytes":1240', b'"total_bytes": 1240'),
        (b'"prior_sha256":"6', b'"prior_sha256":"7'),
    ],
)
def test_a_footer_that_does_not_fit(old: bytes, new: bytes) -> None:
    start = GOLDEN.rindex(b'{"type":"footer"')
    assert faults(GOLDEN[:start] + GOLDEN[start:].replace(old, new))


def test_keys_that_come_twice() -> None:
    body = GOLDEN[: GOLDEN.rindex(b'{"type":"footer"')]
    body = body.replace(b'"parse_status":"PARSED"', b'"parse_status":"PARSED","parse_status":"PARSED"')
    data = body + footer_line("COMPLETE", 1, len(body), hashlib.sha256(body).hexdigest())
    assert "line 2: not JSON: a key comes twice" in faults(data)


def test_lines_beyond_their_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(capture_lines, "HEADER_LIMIT", 469)
        assert faults(GOLDEN) == ["line 1: a header has at most 469 bytes, not 470"]
    bare = 615 - len("eyJzdGF0ZSI6IlJFQURZIiwicmVzdWx0cyI6W119") - 2 * len('"base64":"",')
    monkeypatch.setattr(capture_lines, "RECORD_LIMIT", bare)
    assert faults(GOLDEN) == []
    monkeypatch.setattr(capture_lines, "RECORD_LIMIT", bare - 1)
    assert faults(GOLDEN) == [f"line 2: {bare} bytes beside the payloads, more than {bare - 1}"]


def test_a_file_beyond_its_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capture_lines, "FILE_LIMIT", 1_239)
    assert faults(GOLDEN) == ["the file is larger than 1,239 bytes"]


# --- the command


def test_the_command_on_a_complete_capture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "c.jsonl"
    path.write_bytes(GOLDEN)
    assert cli.main(["capture", "verify", str(path)]) == 0
    out, err = capsys.readouterr()
    assert (out.splitlines()[0], err) == ("capture: COMPLETE", "")


def test_the_command_on_a_partial_capture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "c.jsonl"
    path.write_bytes(capture_of(None))
    assert cli.main(["capture", "verify", str(path)]) == 1
    out, err = capsys.readouterr()
    assert (out.splitlines()[0], err) == ("capture: PARTIAL", "")


def test_the_command_on_a_damaged_capture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "c.jsonl"
    path.write_bytes(GOLDEN[:-1])
    assert cli.main(["capture", "verify", str(path)]) == 1
    out, err = capsys.readouterr()
    assert out.splitlines()[0] == "capture: NOT VALID"
    assert err.splitlines() == [f"{path}: {fault}" for fault in faults(GOLDEN[:-1])]


def test_the_command_without_a_capture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["capture", "verify", str(tmp_path / "absent")]) == 2
    assert cli.main(["capture", "verify", str(tmp_path)]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        f"pytest-retrieval: cannot read the capture {tmp_path / 'absent'}: No such file or directory",
        f"pytest-retrieval: {tmp_path}: not a regular file",
    ]
    for words in (["capture"], ["capture", "verify"], ["capture", "look", "x"]):
        with pytest.raises(SystemExit) as ended:
            cli.main(words)
        assert ended.value.code == 2


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError, match="not a regular file"):
        verify(tmp_path / "pipe")
