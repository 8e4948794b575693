"""What a row says of costs: builds of one kind, memory that was measured, and tokens that were counted."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_retrieval.report.codesearch.costs import chunks_of, cost_row

MIB = 1 << 20


def answer(**cost: Any) -> dict[str, Any]:
    return {"cache_state": "NOT_APPLICABLE", "cost": cost}


def test_rates_are_per_second_of_the_build() -> None:
    row = cost_row([answer(index_seconds=4.0, index_chunks=1_800)], files=600)
    assert (row["files_per_sec"], row["chunks_per_sec"]) == (150, 450)


def test_what_was_not_measured_is_absent() -> None:
    row = cost_row([answer(index_seconds=1.0)], files=10)
    assert not {"peak_rss_mb", "tree_peak_rss_mb", "query_peak_rss_mb", "index_bytes", "cold"} & row.keys()
    assert "answer_tokens" not in row
    assert chunks_of([answer()]) == 0


def test_memory_is_the_most_that_any_process_needed() -> None:
    told = [
        answer(index_peak_rss=200 * MIB, index_tree_rss=440 * MIB, query_peak_rss=10 * MIB),
        answer(index_peak_rss=200 * MIB, index_tree_rss=440 * MIB, query_peak_rss=12 * MIB),
    ]
    row = cost_row(told, files=1)
    assert (row["peak_rss_mb"], row["tree_peak_rss_mb"], row["query_peak_rss_mb"]) == (200, 440, 12)


@pytest.mark.parametrize(
    ("states", "state", "seconds"),
    [
        (["WARM", "COLD", "INCREMENTAL"], "cold", 22.0),
        (["WARM", "INCREMENTAL"], "incremental", 5.0),
        (["WARM"], "warm", 0.1),
    ],
)
def test_builds_of_different_kinds_are_never_mixed(states: list[str], state: str, seconds: float) -> None:
    took = {"WARM": 0.1, "INCREMENTAL": 5.0, "COLD": 22.0}
    row = cost_row([answer(index_state=one, index_seconds=took[one]) for one in states], files=1)
    assert (row["index_state"], row["index_seconds"], row["cold"]) == (state, seconds, state == "cold")


def test_a_slower_build_of_another_kind_does_not_count() -> None:
    told = [
        answer(index_state="COLD", index_seconds=2.0),
        answer(index_state="INCREMENTAL", index_seconds=9.0),
    ]
    assert cost_row(told, files=6)["files_per_sec"] == 3


def test_the_time_to_prepare_stands_for_an_arm_that_tells_none() -> None:
    row = cost_row([{"cache_state": "NOT_APPLICABLE", "build_ms": 250.0}], files=5)
    assert (row["index_seconds"], row["files_per_sec"]) == (0.25, 20)


def test_tokens_of_an_answer_are_means_over_answers() -> None:
    """Reply 100 and 300; files of 1,000 and 3,000: what is read is 1,100 and 3,300."""
    told = [
        answer(reply_tokens=100, schema_tokens=40, named_tokens=1_000),
        answer(reply_tokens=300, schema_tokens=40, named_tokens=3_000),
        {**answer(reply_tokens=9_999, named_tokens=9_999), "error": "timed out"},
    ]
    assert cost_row(told, files=1)["answer_tokens"] == {
        "reply": 200,
        "schema": 40,
        "reading": 2_200,
        "derived": ["reading"],
        "estimator": "chars/4",
    }


def test_an_arm_without_a_reply_is_priced_by_the_files_it_names() -> None:
    assert cost_row([answer(named_tokens=500)], files=1)["answer_tokens"] == {
        "reading": 500,
        "derived": ["reading"],
        "estimator": "chars/4",
    }
