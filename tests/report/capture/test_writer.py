"""A capture while it is written (cases 44 to 50 with a program, 57 to 60, 62, 65)."""

from __future__ import annotations

import base64
import hashlib
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_retrieval.arms.corvint_verb import CorvintVerb
from pytest_retrieval.arms.program import Identity, Program
from pytest_retrieval.errors import ArmError, ReportError
from pytest_retrieval.model import Capabilities
from pytest_retrieval.report.capture import lines as capture_lines
from pytest_retrieval.report.capture.lines import PARTIAL, Descriptor
from pytest_retrieval.report.capture.writer import Capture
from pytest_retrieval.snapshots.base import Snapshot
from tests.arms.corvint_support import RING, query, ready, verb
from tests.arms.support import snapshot_of
from tests.report.capture.captures import (
    GOLDEN,
    GOLDEN_SHA256,
    PACKET,
    TASK,
    called,
    captured,
    completed,
    lines_of,
    opened,
    planned,
)


@pytest.fixture(scope="module")
def snapshot() -> Iterator[Snapshot]:
    snapshot = snapshot_of(RING)
    yield snapshot
    snapshot.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "capture.jsonl"


def has_footer(path: Path) -> bool:
    return bool(lines_of(path)[-1]["type"] == "footer")


def test_the_golden_vector(path: Path) -> None:
    """Case 65."""
    assert hashlib.sha256(GOLDEN).hexdigest() == GOLDEN_SHA256
    assert [len(line) + 1 for line in GOLDEN.splitlines()] == [470, 615, 155]
    captured(path, called(completed(PACKET)))
    assert path.read_bytes() == GOLDEN


def test_only_its_owner_reads_it(path: Path) -> None:
    """Case 50, the mode, whatever the umask."""
    before = os.umask(0)
    try:
        opened(path).close()
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


# --- COMPLETE and PARTIAL


def test_what_kinds_of_call_make_which_footer(path: Path) -> None:
    """3.6: COMPLETE says that every output was kept, not that it was a packet."""
    whole = [called(), called(completed(b""), parsed=False), called(completed(stderr=b"x" * 70_000))]
    for number, call in enumerate(whole):
        assert captured(path.with_name(f"{number}"), call)[-1]["status"] == "COMPLETE"
    for number, part in enumerate([called(completed(code=1)), called(completed(cut=True, code=-15)), None]):
        assert captured(path.with_name(f"part{number}"), part)[-1]["status"] == "PARTIAL"


def test_calls_that_were_never_made_leave_a_partial_capture(path: Path) -> None:
    capture = opened(path, planned(TASK, TASK))
    capture.record(capture.invocations[0], called())
    assert capture.finish() == PARTIAL
    assert (lines_of(path)[-1]["status"], lines_of(path)[-1]["invocations"]) == ("PARTIAL", 1)


def test_no_call_at_all(path: Path) -> None:
    assert opened(path, ()).finish() == "COMPLETE"
    assert [line["type"] for line in lines_of(path)] == ["header", "footer"]


def test_pairs_are_written_in_their_order(path: Path) -> None:
    """Case 50."""
    capture = opened(path, planned(TASK, "other", snapshot_latency=True))
    for descriptor in capture.invocations:
        capture.record(descriptor, called(text=TASK if descriptor.sample_ordinal == 0 else "other"))
    assert capture.finish() == "COMPLETE"
    found = [line["invocation"] for line in lines_of(path)[1:-1]]
    assert [each["phase"] for each in found] == ["cold", "hit", "cold", "hit"]
    assert found == lines_of(path)[0]["invocations"]


# --- a real program


@pytest.mark.parametrize(
    ("switches", "outcome"),
    [
        ("", ("COMPLETE", "COMPLETE", "PARSED", "COMPLETE")),
        ("empty", ("COMPLETE", "COMPLETE", "MALFORMED", "COMPLETE")),
        ("garbage", ("COMPLETE", "COMPLETE", "MALFORMED", "COMPLETE")),
        ("flood-stderr", ("COMPLETE", "TRUNCATED", "PARSED", "COMPLETE")),
        ("exit=4,partial,said=why", ("NOT_PRODUCED", "COMPLETE", "NOT_RUN", "PARTIAL")),
        ("refuse", ("NOT_PRODUCED", "COMPLETE", "NOT_RUN", "PARTIAL")),
        ("flood-stdout", ("NOT_PRODUCED", "COMPLETE", "NOT_RUN", "PARTIAL")),
    ],
)
def test_the_truth_table_with_the_reference_program(
    switches: str,
    outcome: tuple[str, str, str, str],
    path: Path,
    snapshot: Snapshot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Cases 44 to 49: what the arm of the product keeps of its call is what is captured."""
    monkeypatch.setenv("FAKE_CORVINT", switches)
    arm = ready("context", snapshot)
    error = asked(arm)
    record, footer = captured(path, arm.last, error)[1:]
    streams = (record["stdout"]["status"], record["stderr"]["status"])
    assert (*streams, record["parse_status"], footer["status"]) == outcome
    assert record.get("error") == error
    assert arm.last is not None
    assert arm.last.completed is not None
    if outcome[0] == "COMPLETE":
        assert base64.b64decode(record["stdout"]["base64"]) == arm.last.completed.stdout
    if switches == "exit=4,partial,said=why":
        assert base64.b64decode(record["stderr"]["base64"]) == b"why\n"
    if switches == "flood-stdout":
        assert "exceeds" in record["error"]
    if switches == "flood-stderr":
        assert record["stderr"]["bytes"] == 65_536


EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
NOTHING = {"status": "NOT_PRODUCED"}
READY = """printf ' {"state":"READY","results":[]}\\n'"""
SCRIPTS: dict[int, tuple[str, str, str, str | None]] = {
    44: (READY, "PARSED", "COMPLETE", None),
    45: ("exit 0", "MALFORMED", "COMPLETE", "standard output is empty"),
    46: ("printf oops", "MALFORMED", "COMPLETE", "unreadable packet"),
    47: ("printf part; printf why >&2; exit 4", "NOT_RUN", "PARTIAL", "ended with exit status 4: why"),
    48: (f"head -c 65537 /dev/zero >&2; {READY}", "PARSED", "COMPLETE", None),
    49: ("head -c 8388609 /dev/zero", "NOT_RUN", "PARTIAL", "exceeds"),
}


@pytest.fixture
def records(tmp_path: Path, snapshot: Snapshot) -> Callable[[int], dict[str, Any]]:
    """The record of the only call of a script, after a look at everything but its streams."""

    def record_of(case: int) -> dict[str, Any]:
        script, parse_status, status, error = SCRIPTS[case]
        path = tmp_path / "corvint"
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        program = Program(path)
        program.identity = Identity("corvint 0", "0" * 64)
        arm = verb("context", program)
        arm.capabilities = Capabilities(worktree=True, timeout=60.0)
        arm.prepare(snapshot)
        said = asked(arm)
        lines = captured(tmp_path / "script.jsonl", arm.last, said)
        assert [line["type"] for line in lines] == ["header", "invocation", "footer"]
        assert (lines[1]["parse_status"], lines[2]["status"]) == (parse_status, status)
        assert lines[1].get("error") == said
        assert (said is None) if error is None else (said is not None and error in said)
        return lines[1]

    return record_of


def test_case_44_the_bytes_of_a_packet(records: Callable[[int], dict[str, Any]]) -> None:
    stdout = records(44)["stdout"]
    assert base64.b64decode(stdout["base64"]) == b' {"state":"READY","results":[]}\n'
    assert stdout["status"] == "COMPLETE"


def test_case_45_no_output(records: Callable[[int], dict[str, Any]]) -> None:
    assert records(45)["stdout"] == {"status": "COMPLETE", "base64": "", "bytes": 0, "sha256": EMPTY}


def test_case_46_output_that_is_no_packet(records: Callable[[int], dict[str, Any]]) -> None:
    assert base64.b64decode(records(46)["stdout"]["base64"]) == b"oops"


def test_case_47_a_failure(records: Callable[[int], dict[str, Any]]) -> None:
    record = records(47)
    assert record["stdout"] == NOTHING
    assert base64.b64decode(record["stderr"]["base64"]) == b"why"


def test_case_48_long_diagnostics(records: Callable[[int], dict[str, Any]]) -> None:
    stderr = records(48)["stderr"]
    assert (stderr["status"], stderr["bytes"]) == ("TRUNCATED", 65_536)
    assert base64.b64decode(stderr["base64"]) == bytes(65_536)


def test_case_49_a_long_output(records: Callable[[int], dict[str, Any]]) -> None:
    assert records(49)["stdout"] == NOTHING


def test_a_call_that_ran_out_of_time(path: Path, snapshot: Snapshot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_CORVINT", "hang")
    arm = ready("context", snapshot, timeout=0.3)
    record, footer = captured(path, arm.last, asked(arm))[1:]
    assert record["stdout"] == {"status": "NOT_PRODUCED"}
    assert footer["status"] == "PARTIAL"


def asked(arm: CorvintVerb) -> str | None:
    """The error of the answer to TASK."""
    try:
        return arm.rank(query(TASK)).refusal
    except ArmError as error:
        return str(error)


def test_nothing_is_written_while_a_call_lasts(path: Path, snapshot: Snapshot) -> None:
    """Case 60: the arm knows nothing of the capture; what it keeps is written afterwards."""
    capture = opened(path)
    before = path.read_bytes()
    arm = ready("context", snapshot)
    arm.rank(query(TASK))
    assert path.read_bytes() == before
    capture.record(capture.invocations[0], arm.last)
    assert path.read_bytes().startswith(before)
    assert len(lines_of(path)) == 2
    assert capture.finish() == "COMPLETE"


# --- what poisons


def another_phase(capture: Capture) -> None:
    planned_one = capture.invocations[0]
    fields = {name: getattr(planned_one, name) for name in Descriptor.__slots__}
    capture.record(Descriptor(**{**fields, "phase": "hit"}), called())


def another_task(capture: Capture) -> None:
    capture.record(capture.invocations[0], called(text="another"))


def a_call_without_a_task(capture: Capture) -> None:
    capture.record(capture.invocations[0], called(text=TASK).__class__(("index",)))


def the_same_again(capture: Capture) -> None:
    capture.record(capture.invocations[0], called())
    capture.record(capture.invocations[0], called())


def more_than_planned(capture: Capture) -> None:
    for _ in range(2):
        for descriptor in capture.invocations:
            capture.record(descriptor, called())


@pytest.mark.parametrize(
    "spoil", [another_phase, another_task, a_call_without_a_task, the_same_again, more_than_planned]
)
def test_a_capture_that_is_not_as_planned_takes_nothing_more(
    spoil: Callable[[Capture], None], path: Path
) -> None:
    """Case 58: and says the same at every later attempt; the file stays, with whole lines."""
    capture = opened(path, planned(TASK, TASK))
    with pytest.raises(ReportError, match="planned") as first:
        spoil(capture)
    kept = path.read_bytes()
    for attempt in (lambda: capture.record(capture.invocations[-1], called()), capture.finish):
        with pytest.raises(ReportError) as later:
            attempt()
        assert str(later.value) == str(first.value)
    capture.close()
    assert path.read_bytes() == kept
    assert kept.endswith(b"\n")
    assert not has_footer(path)


def test_a_budget_of_one_byte_less_than_a_record_needs(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Case 57: 470 bytes of header and 615 of a record, beside the room for a footer."""
    monkeypatch.setattr(capture_lines, "FILE_LIMIT", 1_024 + 470 + 615)
    assert captured(path, called())[-1]["type"] == "footer"
    for room in (614, 1):
        monkeypatch.setattr(capture_lines, "FILE_LIMIT", 1_024 + 470 + room)
        capture = opened(path.with_name(f"{room}.jsonl"))
        with pytest.raises(ReportError, match=f"615 more do not fit into the {room} "):
            capture.record(capture.invocations[0], called())
        capture.close()
        assert capture.path.stat().st_size == 470
        assert not has_footer(capture.path)


def test_the_bound_of_a_file_fits_five_of_the_largest_outputs(path: Path) -> None:
    """Section 3.7: one takes 11,184,812 characters of base64."""
    capture = opened(path, planned(*[TASK] * 6))
    largest = called(completed(b"x" * (8 << 20)))
    for descriptor in capture.invocations[:5]:
        capture.record(descriptor, largest)
    size = path.stat().st_size
    with pytest.raises(ReportError, match="would exceed 67,108,864 bytes"):
        capture.record(capture.invocations[5], largest)
    capture.close()
    assert path.stat().st_size == size
    path.unlink()


def test_a_long_name_is_refused_with_one_whole_line_in_the_file(path: Path) -> None:
    """Case 56, the file."""
    capture = opened(path, [Descriptor(0, "s" * 70_000, "", "", 0, "ordinary", *task_of(TASK))])
    with pytest.raises(ReportError, match="65,536 are allowed"):
        capture.record(capture.invocations[0], called())
    capture.close()
    assert [line["type"] for line in lines_of(path)] == ["header"]


def task_of(text: str) -> tuple[int, str]:
    return len(text.encode()), hashlib.sha256(text.encode()).hexdigest()


def test_a_header_that_is_too_long_makes_no_file(path: Path) -> None:
    """Case 55, the file."""
    with pytest.raises(ReportError, match="1,048,576 are allowed"):
        opened(path, [Descriptor(0, "s" * (1 << 20), "", "", 0, "ordinary", 0, "")])
    assert not path.exists()


def test_a_closed_capture_takes_nothing(path: Path) -> None:
    """Case 59: a run that ends otherwise closes it, and there is no footer."""
    capture = opened(path)
    capture.close()
    for attempt in (lambda: capture.record(capture.invocations[0], called()), capture.finish):
        with pytest.raises(ReportError, match="is closed"):
            attempt()
    capture.close()
    assert not has_footer(path)


def test_a_finished_capture_takes_nothing(path: Path) -> None:
    capture = opened(path)
    capture.finish()
    whole = path.read_bytes()
    with pytest.raises(ReportError, match="is closed"):
        capture.finish()
    assert path.read_bytes() == whole


@pytest.mark.parametrize("room", [0, 100])
def test_a_full_disk_leaves_whole_lines(room: int, path: Path) -> None:
    resource = pytest.importorskip("resource")
    signal = pytest.importorskip("signal")
    capture = opened(path)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (470 + room, hard))
    try:
        with pytest.raises(ReportError, match="cannot write the capture"):
            capture.record(capture.invocations[0], called())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, handler)
    with pytest.raises(ReportError, match="cannot write the capture"):
        capture.finish()
    capture.close()
    assert path.stat().st_size == 470


def test_a_footer_that_cannot_be_synced_does_not_stay(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    capture = opened(path)
    capture.record(capture.invocations[0], called())

    def fails(descriptor: int) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fsync", fails)
    with pytest.raises(ReportError, match="Input/output error"):
        capture.finish()
    capture.close()
    assert not has_footer(path)


def test_an_interrupt_while_a_record_is_written(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    capture = opened(path)

    def interrupted(*arguments: object) -> bytes:
        raise KeyboardInterrupt

    monkeypatch.setattr(capture_lines, "record_line", interrupted)
    with pytest.raises(KeyboardInterrupt):
        capture.record(capture.invocations[0], called())
    with pytest.raises(ReportError, match="interrupted"):
        capture.finish()
    capture.close()
    assert not has_footer(path)


# --- the report beside it


def test_a_report_that_became_the_capture_is_refused(path: Path, tmp_path: Path) -> None:
    """Case 62: linked to it meanwhile."""
    capture, report = opened(path), tmp_path / "r.json"
    capture.check_report(report)
    report.write_bytes(b"old")
    capture.check_report(report)
    report.unlink()
    report.hardlink_to(path)
    (tmp_path / "link.json").symlink_to(path)
    capture.record(capture.invocations[0], called())
    capture.finish()
    for alias in (report, tmp_path / "link.json", path):
        with pytest.raises(ReportError, match="cannot write the report"):
            capture.check_report(alias)
    assert path.read_bytes() == GOLDEN
