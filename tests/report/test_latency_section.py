"""The section ``latency``: which times go under which label."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_retrieval.report.table import render
from tests.report.samples import answer, detail, header
from tests.report.test_build import ZEROS, whole


def latency_of(answers: list[dict[str, Any]]) -> dict[str, Any]:
    rows = [detail(number, {"a": (given, ZEROS)}) for number, given in enumerate(answers)]
    section: dict[str, Any] = whole(header("a"), rows)["latency"]["a"]
    return section


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        (range(1, 41), {"n": 40, "min_ms": 1, "p50_ms": 20, "p95_ms": 38, "max_ms": 40, "mad_ms": 10}),
        (
            range(10, 301, 10),
            {"n": 30, "min_ms": 10, "p50_ms": 150, "p95_ms": 290, "max_ms": 300, "mad_ms": 70},
        ),
        (range(1, 30), {"n": 29, "state": "NOT_RUN"}),
        ([5] * 29 + [905], {"n": 30, "min_ms": 5, "p50_ms": 5, "p95_ms": 5, "max_ms": 905, "mad_ms": 0}),
    ],
)
def test_cases_92_to_95(times: list[int], expected: dict[str, Any]) -> None:
    answers = [answer(wall_ms=float(time), cache_state="PRIMED_SHARED") for time in times]
    assert latency_of(answers) == {"PRIMED_SHARED": expected}


def test_matched_calls_are_two_distributions() -> None:
    answers = [
        answer(wall_ms=float(time), cold_wall_ms=10.0 * time, cache_state="OBSERVED_HIT")
        for time in range(1, 41)
    ]
    hit = {"n": 40, "min_ms": 1, "p50_ms": 20, "p95_ms": 38, "max_ms": 40, "mad_ms": 10}
    miss = {"n": 40, "min_ms": 10, "p50_ms": 200, "p95_ms": 380, "max_ms": 400, "mad_ms": 100}
    assert latency_of(answers) == {"OBSERVED_HIT": hit, "OBSERVED_MISS": miss}


def test_weakness_6_where_the_order_alternates_times_are_told_by_their_place_too() -> None:
    answers = [
        answer(wall_ms=1.0 * time, cold_wall_ms=10.0 * time, cache_state="OBSERVED_HIT", matched_order=order)
        for time in range(1, 31)
        for order in ("cold-first", "hit-first")
    ]
    section = latency_of(answers)
    assert set(section) == {
        "OBSERVED_HIT", "OBSERVED_HIT:first", "OBSERVED_HIT:second",
        "OBSERVED_MISS", "OBSERVED_MISS:first", "OBSERVED_MISS:second",
    }  # fmt: skip
    assert section["OBSERVED_HIT"]["n"] == section["OBSERVED_MISS"]["n"] == 60
    half = {"n": 30, "min_ms": 1, "p50_ms": 15, "p95_ms": 29, "max_ms": 30, "mad_ms": 7}
    assert section["OBSERVED_HIT:first"] == section["OBSERVED_HIT:second"] == half
    slow = {name: figure if name == "n" else 10 * figure for name, figure in half.items()}
    assert section["OBSERVED_MISS:first"] == section["OBSERVED_MISS:second"] == slow


def test_weakness_12_failed_and_refused_calls_are_in_no_distribution() -> None:
    """The original counts the times of failed calls."""
    answers = [
        answer(wall_ms=1.0, cache_state="COLD_UNIQUE"),
        answer(wall_ms=9.0, cache_state="COLD_UNIQUE", error="did not end within 120 s"),
        answer(wall_ms=9.0, cache_state="UNRECORDED", error="no changed_file in query", refused=True),
    ]
    assert latency_of(answers) == {"COLD_UNIQUE": {"n": 1, "state": "NOT_RUN"}}


def test_weakness_13_preparing_is_timed_apart_and_is_no_time_of_a_query() -> None:
    answers = [answer(wall_ms=2.0, build_ms=float(time)) for time in range(1, 41)]
    section = latency_of(answers)
    assert section["BUILD"]["p50_ms"] == 20
    assert section["NOT_APPLICABLE"]["p50_ms"] == 2
    rows = [detail(number, {"a": (given, ZEROS)}) for number, given in enumerate(answers)]
    text = "\n".join("".join(piece.text for piece in line) for line in render(whole(header("a"), rows), 120))
    assert "2.0ms" in text
    assert "20.0ms" not in text
