"""The lines of a capture: what is kept of a call, and the bounds (cases 44 to 50, 54 to 56)."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_retrieval.arms.observed import Call
from pytest_retrieval.errors import ReportError, UsageError
from pytest_retrieval.programs.process import Completed
from pytest_retrieval.report.capture.lines import (
    Descriptor,
    Observation,
    Stream,
    footer_line,
    header_line,
    observe,
    plan,
    record_line,
    shortened,
)
from tests.report.capture.captures import PACKET, TASK, called, completed, planned, sample

EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def recorded(call: Call | None, error: str | None = None) -> dict[str, Any]:
    line = record_line(planned(TASK)[0], observe(call), error)
    assert line.count(b"\n") == 1
    found: dict[str, Any] = json.loads(line)
    return found


# --- the plan


def test_one_ordinary_invocation_for_each_sample() -> None:
    first, second = planned(TASK, "\u00e9")
    assert first == Descriptor(
        sample_ordinal=0,
        sample_id="ring-1",
        repo="acme/ring",
        base_commit="1" * 40,
        invocation_ordinal=0,
        phase="ordinary",
        task_bytes=23,
        task_sha256="47b2e407e92860becf4829e6f69835c1fed4e1e36899f61b57d208f15541fe83",
    )
    assert (second.sample_ordinal, second.invocation_ordinal, second.task_bytes) == (1, 1, 2)


def test_equal_ids_stay_apart_and_cold_comes_before_hit() -> None:
    """Case 50."""
    found = plan([sample("twin"), sample("twin")], snapshot_latency=True)
    assert [each.sample_id for each in found] == ["twin"] * 4
    assert [each.invocation_ordinal for each in found] == [0, 1, 2, 3]
    assert [each.sample_ordinal for each in found] == [0, 0, 1, 1]
    assert [each.phase for each in found] == ["cold", "hit", "cold", "hit"]


def test_the_task_is_the_text_that_is_sent() -> None:
    assert planned("half \ud800")[0].task_sha256 == hashlib.sha256("half \ufffd".encode()).hexdigest()


@pytest.mark.parametrize(("count", "snapshot_latency"), [(1_024, False), (512, True)])
def test_the_largest_plan_and_one_more(count: int, snapshot_latency: bool) -> None:
    """Case 54."""
    assert len(plan([sample()] * count, snapshot_latency=snapshot_latency)) == 1_024
    with pytest.raises(UsageError, match="1,024"):
        plan([sample()] * (count + 1), snapshot_latency=snapshot_latency)


# --- the truth table


def test_the_bytes_of_a_packet_are_kept() -> None:
    """Case 44: with the blanks around it."""
    packet = b' {"state":"READY","results":[]}\n'
    found = recorded(called(completed(packet)))
    assert base64.b64decode(found["stdout"]["base64"]) == packet
    assert found["stdout"]["status"] == "COMPLETE"
    assert found["stdout"]["bytes"] == 32
    assert found["stdout"]["sha256"] == hashlib.sha256(packet).hexdigest()
    assert found["parse_status"] == "PARSED"
    assert "error" not in found


def test_nothing_is_an_output_too() -> None:
    """Case 45."""
    found = recorded(called(completed(b""), parsed=False))
    assert found["stdout"] == {"status": "COMPLETE", "base64": "", "bytes": 0, "sha256": EMPTY}
    assert found["parse_status"] == "MALFORMED"


def test_what_is_no_packet() -> None:
    """Case 46."""
    found = recorded(called(completed(b"oops\n"), parsed=False), "no packet")
    assert base64.b64decode(found["stdout"]["base64"]) == b"oops\n"
    assert (found["stdout"]["status"], found["parse_status"]) == ("COMPLETE", "MALFORMED")
    assert found["error"] == "no packet"


@pytest.mark.parametrize("failure", [{"code": 4}, {"code": -15, "late": True}, {"code": 2}])
def test_the_beginning_of_a_failure_is_not_kept(failure: dict[str, Any]) -> None:
    """Case 47."""
    found = recorded(called(completed(b"part", b"why", **failure), parsed=None))
    assert found["stdout"] == {"status": "NOT_PRODUCED"}
    assert base64.b64decode(found["stderr"]["base64"]) == b"why"
    assert (found["stderr"]["status"], found["parse_status"]) == ("COMPLETE", "NOT_RUN")


def test_diagnostics_are_cut_at_64_kib() -> None:
    """Case 48; the program's runner cuts them, and so does the record."""
    exact = recorded(called(completed(stderr=b"x" * 65_536)))
    assert (exact["stderr"]["status"], exact["stderr"]["bytes"]) == ("COMPLETE", 65_536)
    over = recorded(called(completed(stderr=b"x" * 65_537)))
    cut = recorded(called(Completed(0, PACKET, b"x" * 65_536, False, True, False, 0.1)))
    assert over == cut
    assert (over["stderr"]["status"], over["stderr"]["bytes"]) == ("TRUNCATED", 65_536)
    assert (over["stdout"]["status"], over["parse_status"]) == ("COMPLETE", "PARSED")


def test_output_over_8_mib_is_none() -> None:
    """Case 49."""
    whole, over = b"x" * 8_388_608, b"x" * 8_388_609
    assert observe(called(completed(whole))).stdout == Stream("COMPLETE", whole)
    not_kept = Observation(Stream("NOT_PRODUCED"), Stream("COMPLETE"), "NOT_RUN")
    assert observe(called(completed(over))) == not_kept
    assert observe(called(completed(whole, cut=True, code=-15))) == not_kept


@pytest.mark.parametrize("call", [None, Call(("context", "--task", TASK))])
def test_a_call_that_never_ran(call: Call | None) -> None:
    found = recorded(call, "no such program")
    assert found["stdout"] == found["stderr"] == {"status": "NOT_PRODUCED"}
    assert found["parse_status"] == "NOT_RUN"


# --- bounds


def header_of(size: int) -> bytes:
    """A header line of ``size`` bytes, if that is allowed."""
    empty = len(header_line({"x": ""}, ()))
    return header_line({"x": "x" * (size - empty)}, ())


def test_a_header_of_1_mib_and_of_one_more_byte() -> None:
    """Case 55."""
    assert len(header_of(1_048_576)) == 1_048_576
    with pytest.raises(ReportError, match="1,048,577 bytes"):
        header_of(1_048_577)


def record_of(size: int) -> bytes:
    """A record line of ``size`` bytes without its payloads, if that is allowed."""
    observation = observe(called(completed(b"p" * 70_000)))
    payload = len('"base64":"",') * 2 + len(base64.b64encode(b"p" * 70_000))
    empty = len(record_line(Descriptor(0, "", "", "", 0, "ordinary", 0, ""), observation)) - payload
    return record_line(Descriptor(0, "s" * (size - empty), "", "", 0, "ordinary", 0, ""), observation)


def test_a_record_of_64_kib_beside_its_payloads_and_of_one_more_byte() -> None:
    """Case 56."""
    assert len(record_of(65_536)) > 65_536 + 70_000
    with pytest.raises(ReportError, match="65,537 bytes"):
        record_of(65_537)


def test_the_header_sorts_what_is_inside_the_registration_alone() -> None:
    line = header_line({"b": {"d": 1, "c": "<&>"}, "a": 2}, planned(TASK))
    start = b'{"type":"header","profile":"corvint-retrieval-context-capture-v0","registration":'
    assert line.startswith(
        start + rb'{"a":2,"b":{"c":"\u003c\u0026\u003e","d":1}},"invocations":[{"sample_ordinal":0,'
    )


@pytest.mark.parametrize(("prior", "total"), [(0, 154), (845, 999), (846, 1_001), (67_107_840, 67_107_999)])
def test_a_footer_counts_itself_and_the_digits_of_its_count(prior: int, total: int) -> None:
    """A footer has 151 bytes beside the digits of its count."""
    line = footer_line("COMPLETE", 1, prior, "0" * 64)
    assert json.loads(line)["total_bytes"] == prior + len(line) == total


@pytest.mark.parametrize(
    ("error", "kept"),
    [
        ("why", "why"),
        ("x" * 4_097, "x" * 4_096),
        ("x" * 4_095 + "\u00e9", "x" * 4_095),
        ("x" * 4_094 + "\u00e9y", "x" * 4_094 + "\u00e9"),
        ("\U0001f600" * 1_025, "\U0001f600" * 1_024),
        ("x" * 4_093 + "\U0001f600", "x" * 4_093),
        ("half \ud800", "half \ufffd"),
    ],
)
def test_an_error_is_cut_between_characters(error: str, kept: str) -> None:
    """12.22."""
    assert shortened(error) == kept


@given(st.text(max_size=2_000))
def test_an_error_is_a_beginning_within_the_bound(error: str) -> None:
    whole = error * 3
    kept = shortened(whole)
    rest = whole[len(kept) :]
    assert whole.startswith(kept)
    assert len(kept.encode()) <= 4_096
    assert not rest or len((kept + rest[0]).encode()) > 4_096


def test_an_empty_error_is_omitted() -> None:
    assert "error" not in recorded(called(), "")
