"""Two engines on one corpus: differences over queries, and rows that must not be held against each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from pytest_retrieval.report.codesearch.board_pairs import not_compared, pair_grid
from pytest_retrieval.report.codesearch.pairs import MRR, RECALL, is_separable, search_pairs


def row(engine: str, ranks: Sequence[Sequence[int]], **more: Any) -> dict[str, Any]:
    queries = [{"query": f"q{n}", "ranks": list(one), "slots": 20} for n, one in enumerate(ranks)]
    ext = {"corpus_sha256": "s", "token_estimator": "chars/4", "per_query": queries, **more.pop("ext", {})}
    return {"engine": engine, "corpus": "kv", "indexed_tree": ".", "ext": ext, **more}


def test_wins_losses_and_the_mean_difference() -> None:
    """R@10 of a: 1, 0, 1, 0.5; of b: 0, 0, 1, 1. MRR of a: 1, 1/11, 1/2, 1; of b: 0, 0, 1/2, 1."""
    one = row("a", [[1], [11], [2], [1, 0]])
    other = row("b", [[0], [0], [2], [1, 3]])
    found = search_pairs([other, one])["kv"]["a - b"]
    share = found[RECALL]
    assert (share["n"], share["mean"], share["wins"], share["losses"], share["ties"]) == (4, 0.125, 1, 1, 2)
    assert found[MRR]["mean"] == pytest.approx((1 + 1 / 11) / 4, abs=1e-6)
    assert not is_separable(share)
    (cells,) = pair_grid({"a - b": found})
    assert (cells[0], cells[1], cells[3], cells[-1]) == ("a - b", "+12.5", "1/1/2", "not separable")


def test_a_difference_on_nearly_every_query_is_separable() -> None:
    one = row("a", [[1]] * 18 + [[0], [0]])
    other = row("b", [[0]] * 20)
    found = search_pairs([other, one])["kv"]["a - b"]
    assert is_separable(found[RECALL])
    assert pair_grid({"a - b": found})[0][-1] == "R@10, MRR"


def test_a_difference_on_every_query_is_separable_from_six_on() -> None:
    # All signs equal has p = 2 / 2**n: 0.0625 of five queries, 0.03125 of six.
    for queries, told in ((5, False), (6, True)):
        found = search_pairs([row("b", [[0]] * queries), row("a", [[1]] * queries)])["kv"]["a - b"]
        assert is_separable(found[RECALL]) is told


def test_answers_that_are_alike_are_not_separable() -> None:
    found = search_pairs([row("b", [[1], [2]]), row("a", [[1], [2]])])["kv"]["a - b"]
    assert not is_separable(found[RECALL])


def test_swapping_two_engines_mirrors_the_figures() -> None:
    one, other = row("a", [[1], [11], [2], [1, 0]]), row("b", [[0], [0], [2], [1, 3]])
    there, back = search_pairs([other, one])["kv"]["a - b"], search_pairs([one, other])["kv"]["b - a"]
    for measure in (RECALL, MRR):
        assert there[measure]["mean"] == -back[measure]["mean"]
        assert there[measure]["cluster"]["low"] == -back[measure]["cluster"]["high"]


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"indexed_tree": "src"}, "they searched different trees"),
        ({"unequal_trees": True}, "they searched different trees"),
        ({"file_granularity_only": True}, "one of them is graded by files alone"),
        ({"ext": {"corpus_sha256": "t"}}, "their query sets differ"),
        (
            {"wide_tokens": {"1": 2.0}, "ext": {"token_estimator": "cl100k"}},
            "their tokens are estimated in different ways",
        ),
    ],
)
def test_65_rows_that_differ_in_what_was_asked_have_no_difference(more: dict[str, Any], why: str) -> None:
    found = search_pairs([row("b", [[2]], **more), row("a", [[1]], wide_tokens={"1": 1.0})])["kv"]
    assert found == {"a - b": {"why": why}}
    assert pair_grid(found) == []
    assert not_compared(found) == [f"a - b: not compared, {why}"]


def test_rows_without_their_queries_are_in_no_pair() -> None:
    known = row("a", [[1]])
    foreign = {"engine": "b", "corpus": "kv", "indexed_tree": "."}
    failed = row("c", [[0]], ext={"status": "failed"})
    assert search_pairs([known, foreign, failed]) == {}


def test_only_the_pairs_that_are_asked_for() -> None:
    rows = [row(name, [[1], [2]]) for name in "abc"]
    assert list(search_pairs(rows)["kv"]) == ["b - a", "c - a", "c - b"]
    assert list(search_pairs(rows, [("c", "a"), ("c", "x")])["kv"]) == ["c - a"]
