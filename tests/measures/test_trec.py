from collections.abc import Callable, Collection, Sequence
from math import log2

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import AP, SetF, nDCG

from pytest_retrieval.measures import ranking, trec
from tests.measures.test_ranking import PATHS, cuts, golds, rankings, trec_eval

ANSWER = ("a", "b", "c", "d")
MEASURES: tuple[Callable[[Sequence[str], Collection[str], int], float], ...] = (
    trec.precision,
    trec.r_precision,
    trec.average_precision,
    trec.ndcg,
)


def test_precision_by_hand() -> None:
    assert trec.precision(ANSWER, {"b", "x"}, 5) == 1 / 5  # four were answered, five divide
    assert trec.precision(ANSWER, {"b", "c"}, 2) == 1 / 2


def test_r_precision_by_hand() -> None:
    assert trec.r_precision(ANSWER, {"b", "d"}, 20) == 1 / 2
    assert (
        trec.r_precision(ANSWER, {"a", "b", "x"}, 2) == 2 / 3
    )  # gold beyond the cut stays in the denominator


def test_average_precision_by_hand() -> None:
    assert trec.average_precision(ANSWER, {"b", "d", "x"}, 20) == pytest.approx((1 / 2 + 2 / 4) / 3)
    assert trec.average_precision(ANSWER, {"b", "d", "x"}, 3) == pytest.approx(1 / 2 / 3)


def test_ndcg_by_hand() -> None:
    ideal = 1 + 1 / log2(3)
    assert trec.ndcg(ANSWER, {"b", "d"}, 20) == pytest.approx((1 / log2(3) + 1 / log2(5)) / ideal)
    assert trec.ndcg(ANSWER, {"a", "b"}, 1) == 1.0


def test_a_path_that_is_ranked_twice_counts_once() -> None:
    for measure in MEASURES:
        assert measure(("a", "a"), {"a", "b"}, 2) == pytest.approx(measure(("a", "x"), {"a", "b"}, 2))


@pytest.mark.parametrize("measure", MEASURES)
def test_without_gold_there_is_no_number(measure: Callable[..., float]) -> None:
    with pytest.raises(ValueError, match="without gold"):
        measure(ANSWER, (), 5)


@given(rankings, golds, cuts)
def test_against_ir_measures(ranked: list[str], gold: set[str], k: int) -> None:
    in_k = ranked[:k]  # trec_eval's F takes the square of beta
    for ours, theirs in (
        (trec.precision(ranked, gold, k), trec_eval(ir_measures.P @ k, ranked, gold)),
        (trec.r_precision(ranked, gold, k), trec_eval(ir_measures.Rprec, in_k, gold)),
        (trec.average_precision(ranked, gold, k), trec_eval(AP @ k, ranked, gold)),
        (trec.average_precision(ranked, gold, k), trec_eval(AP, in_k, gold)),
        (trec.ndcg(ranked, gold, k), trec_eval(nDCG @ k, ranked, gold)),
        (ranking.f_half(ranked, gold, k), trec_eval(SetF(beta=0.25), in_k, gold)),
    ):
        assert ours == pytest.approx(theirs)


@given(st.lists(st.sampled_from(PATHS)), golds, cuts)
def test_measures_stay_within_zero_and_one(ranked: list[str], gold: set[str], k: int) -> None:
    for measure in (*MEASURES, ranking.f_half):
        assert 0 <= measure(ranked, gold, k) <= 1 + 1e-12
