from collections.abc import Collection, Sequence

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_retrieval.measures import ranking

PATHS = [f"src/file{n}.py" for n in range(8)]
rankings = st.lists(st.sampled_from(PATHS), unique=True)
golds = st.sets(st.sampled_from(PATHS), min_size=1)
cuts = st.integers(1, 10)
ANSWER = ("a", "b", "c", "d")
SHARES = (ranking.recall, ranking.reciprocal_rank, ranking.precision, ranking.f1, ranking.hit)


@pytest.mark.parametrize(
    ("gold", "k", "expected"),
    [
        ({"b"}, 20, (1.0, 0.5, 0.25, 0.4, 1.0)),
        ({"b", "d"}, 2, (0.5, 0.5, 0.5, 0.5, 1.0)),
        ({"d", "x"}, 3, (0.0, 0.0, 0.0, 0.0, 0.0)),
        ({"c", "d", "x"}, 20, (2 / 3, 1 / 3, 0.5, pytest.approx(4 / 7), 1.0)),
    ],
)
def test_by_hand(gold: Collection[str], k: int, expected: tuple[float, ...]) -> None:
    assert tuple(measure(ANSWER, gold, k) for measure in SHARES) == expected


def test_f1_is_not_rounded() -> None:
    answer = [f"p{n}" for n in range(20)]
    assert ranking.f1(answer, {"p7"}, 20) == 0.09523809523809523  # 2 / 21, as a published report prints it


def test_an_empty_answer_scores_zero() -> None:
    for measure in SHARES:
        assert measure((), {"a"}, 20) == 0


def test_recall_without_gold_is_no_number() -> None:
    with pytest.raises(ValueError, match="without gold"):
        ranking.recall(ANSWER, (), 20)


def test_hard_negatives_are_counted_up_to_k() -> None:
    assert ranking.hard_negative_hits(ANSWER, ("d", "b", "x"), 20) == 2.0
    assert ranking.hard_negative_hits(ANSWER, ("d", "b", "x"), 3) == 1.0
    assert ranking.hard_negative_hits(ANSWER, (), 20) == 0.0


def trec_eval(measure: ir_measures.Measure, ranked: Sequence[str], gold: Collection[str]) -> float:
    """The measure by pytrec_eval, fed with falling scores: it would break ties by its own rule."""
    qrels = {"q": dict.fromkeys(gold, 1)}
    run = {"q": {path: float(len(ranked) - place) for place, path in enumerate(ranked)}}
    return float(ir_measures.calc_aggregate([measure], qrels, run)[measure]) if ranked else 0.0


@given(rankings, golds, cuts)
def test_against_ir_measures(ranked: list[str], gold: set[str], k: int) -> None:
    assert ranking.recall(ranked, gold, k) == pytest.approx(trec_eval(ir_measures.R @ k, ranked, gold))
    assert ranking.hit(ranked, gold, k) == trec_eval(ir_measures.Success @ k, ranked, gold)
    in_k = ranked[:k]
    assert ranking.reciprocal_rank(ranked, gold, k) == pytest.approx(trec_eval(ir_measures.RR, in_k, gold))
    answered = min(k, len(ranked))
    over_k = ranking.precision(ranked, gold, k) * answered / k
    assert over_k == pytest.approx(trec_eval(ir_measures.P @ k, ranked, gold))


@given(st.lists(st.sampled_from(PATHS)), golds, cuts)
def test_measures_stay_within_zero_and_one(ranked: list[str], gold: set[str], k: int) -> None:
    for measure in SHARES:
        assert 0 <= measure(ranked, gold, k) <= 1


@given(rankings, golds, cuts)
def test_names_do_not_matter(ranked: list[str], gold: set[str], k: int) -> None:
    renamed = {path: f"{99 - place}/z" for place, path in enumerate(PATHS)}
    for measure in SHARES:
        other = measure([renamed[path] for path in ranked], {renamed[path] for path in gold}, k)
        assert measure(ranked, gold, k) == other


@given(rankings, golds, cuts)
def test_a_longer_look_never_finds_less(ranked: list[str], gold: set[str], k: int) -> None:
    for measure in (ranking.recall, ranking.reciprocal_rank, ranking.hit):
        assert measure(ranked, gold, k) <= measure(ranked, gold, k + 1)
