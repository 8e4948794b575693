"""Pairs of arms: how they are written, and which are compared unless something else is asked for."""

from __future__ import annotations

import pytest

from pytest_retrieval.arms.pairs import default_pairs, pair_name, parse_pair
from pytest_retrieval.errors import UsageError

LABELS = ["grep", "bm25:all", "my-arm", "a-b"]


@pytest.mark.parametrize(
    ("text", "pair"),
    [
        ("my-arm - grep", ("my-arm", "grep")),
        (" bm25:all  -  a-b ", ("bm25:all", "a-b")),
        ("a-b - my-arm", ("a-b", "my-arm")),
    ],
)
def test_a_pair_is_two_labels_around_a_minus_with_blanks(text: str, pair: tuple[str, str]) -> None:
    assert parse_pair(text, LABELS) == pair
    assert parse_pair(pair_name(pair), LABELS) == pair


@pytest.mark.parametrize(
    "text", ["", "grep", "grep-my-arm", "grep - rg", "rg - grep", "grep - grep", "grep - "]
)
def test_anything_else_is_refused_with_the_labels(text: str) -> None:
    with pytest.raises(UsageError, match="A and B of: grep, bm25:all, my-arm, a-b") as refused:
        parse_pair(text, LABELS)
    assert "\n" not in str(refused.value)


def test_other_arms_are_compared_with_every_baseline() -> None:
    arms = {"grep": {"baseline": True}, "x": {}, "bm25:all": {"baseline": True}, "y": {}}
    assert default_pairs(arms) == [("x", "grep"), ("x", "bm25:all"), ("y", "grep"), ("y", "bm25:all")]


@pytest.mark.parametrize("facts", [{"baseline": True}, {}])
def test_arms_of_one_kind_are_compared_with_the_first(facts: dict[str, bool]) -> None:
    assert default_pairs(dict.fromkeys("abc", facts)) == [("b", "a"), ("c", "a")]


@pytest.mark.parametrize("labels", ["", "a"])
def test_one_arm_alone_is_compared_with_nothing(labels: str) -> None:
    assert default_pairs({label: {"baseline": True} for label in labels}) == []
