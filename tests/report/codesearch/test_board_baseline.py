"""A scoreboard and an earlier one."""

from __future__ import annotations

from typing import Any

from pytest_retrieval.report.codesearch.board_baseline import held_against, lost_queries
from tests.report.codesearch.test_scoreboard import row


def held(
    now: list[dict[str, Any]], before: list[dict[str, Any]], drop: float = 0.0
) -> list[tuple[str, bool]]:
    return [(one.line, one.failed) for one in held_against(now, before, drop)]


def queries(*ranks: int) -> dict[str, Any]:
    return {"ext": {"per_query": [{"query": f"q{n}", "ranks": [rank]} for n, rank in enumerate(ranks)]}}


def test_what_stands_fell_and_rose() -> None:
    assert held([row("a")], [row("a")]) == [("a on kv: unchanged", False)]
    ((line, failed),) = held([row("a", recall=0.4)], [row("a", recall=0.5)])
    assert line.startswith("a on kv: REGRESSED, file R@10 0.500 to 0.400 (-0.100), file MRR 0.500 to 0.400")
    assert failed
    ((line, failed),) = held([row("a", recall=0.6)], [row("a", recall=0.5)])
    assert "REGRESSED" not in line
    assert not failed


def test_a_drop_as_large_as_is_allowed_is_none() -> None:
    now, before = [row("a", recall=0.48)], [row("a", recall=0.5)]
    assert [failed for _, failed in held(now, before, 0.02)] == [False]
    assert [failed for _, failed in held(now, before, 0.019)] == [True]


def test_what_came_what_went_and_what_broke() -> None:
    broken = {**row("c"), "ext": {"status": "failed", "errors": ["no x"]}}
    assert held([row("a"), broken], [row("b"), row("c")]) == [
        ("a on kv: new", False),
        ("c on kv: FAILED, it did not in the baseline", True),
        ("b on kv: GONE, the baseline has it", True),
    ]
    assert held([row("c")], [broken]) == [("c on kv: works again", False)]


def test_other_questions_are_not_compared() -> None:
    ((line, failed),) = held([row("a", ext={"corpus_sha256": "t"})], [row("a", ext={"corpus_sha256": "s"})])
    assert line == "a on kv: NOT COMPARABLE with the baseline, their query sets differ"
    assert failed


def test_lost_queries_are_named() -> None:
    now, before = row("a", **queries(1, 0, 11)), row("a", **queries(1, 2, 3))
    assert lost_queries(now, before) == ["q1", "q2"]
    assert held([now], [before]) == [("a on kv: unchanged; 2 lost: 'q1', 'q2'", False)]
