"""One order of arms out of several."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from pytest_retrieval.report.arm_order import BUILT_IN, guessed, united

LABELS = ("grep", "bm25:all", "bm25:ident", "mine", "other")
ORDERS = st.lists(st.lists(st.sampled_from(LABELS), unique=True), max_size=4)


def test_what_nobody_says_goes_by_the_built_in_order_and_then_by_the_label() -> None:
    orders = [["other"], ["bm25:ident"], ["mine"], ["grep"], ["context"]]
    assert united(orders) == ["context", "grep", "bm25:ident", "mine", "other"]


def test_what_one_order_says_stands() -> None:
    assert united([["mine", "grep"], ["bm25:all"]]) == ["bm25:all", "mine", "grep"]
    assert united([["mine", "grep"], ["grep", "bm25:all"]]) == ["mine", "grep", "bm25:all"]


def test_contradictions_go_by_the_built_in_order() -> None:
    assert united([["bm25:all", "grep"], ["grep", "bm25:all"]]) == ["grep", "bm25:all"]
    assert united([]) == []


@given(ORDERS)
def test_the_order_of_the_orders_does_not_matter(orders: list[list[str]]) -> None:
    found = united(orders)
    assert sorted(found) == sorted(set(itertools.chain(*orders)))
    assert all(united(turned) == found for turned in itertools.permutations(orders))


@given(st.permutations(LABELS), st.data())
def test_parts_of_one_order_never_contradict_it(order: list[str], data: st.DataObject) -> None:
    parts = [data.draw(st.sets(st.sampled_from(LABELS))) for _ in range(3)]
    orders = [[label for label in order if label in part] for part in parts]
    found = united([*orders, order])
    assert found == order


def test_an_order_that_was_not_recorded_shows_in_the_pairs() -> None:
    assert guessed(["bm25:all", "grep", "z", "a"], [("a", "bm25:all")]) == ["bm25:all", "grep", "a", "z"]
    assert guessed(reversed(BUILT_IN), []) == list(BUILT_IN)
