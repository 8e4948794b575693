import ir_measures
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_retrieval.errors import UsageError
from pytest_retrieval.measures.names import CUT, canonical, known_measures


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("recall@10", "recall@10"),
        ("R@10", "recall@10"),
        ("Recall@5", "recall@5"),
        ("R@k", "recall@20"),
        ("RR", "mrr@k"),
        ("MRR", "mrr@k"),
        ("RR@20", "mrr@k"),
        ("P@20", "p@20"),
        ("SetP", "precision@k"),
        ("hit", "hit@k"),
        ("MRR@10", "mrr@10"),
        ("nDCG@7", "ndcg@7"),
        ("R@7", "recall@7"),
        ("Success@20", "hit@k"),
        ("hit@20", "hit@k"),
        (" f1@k ", "f1@k"),
        ("abstained", "abstained"),
        ("selective_success", "selective_success"),
    ],
)
def test_what_users_type(typed: str, name: str) -> None:
    assert canonical(typed, 20) == name


@pytest.mark.parametrize("measure", [ir_measures.R @ 5, ir_measures.RR, ir_measures.Success @ 20])
def test_ir_measures_prints_names_that_are_taken(measure: object) -> None:
    assert canonical(str(measure), 20) in known_measures(20)


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("recal@10", "did you mean 'recall@10'?"),
        ("selective_sucess", "did you mean 'selective_success'?"),
        ("recall", "recall is measured at 5, 10, 20, up to k = 20"),
        ("MRR@21", "mrr goes up to k = 20"),
        ("", "unknown measure ''"),
        ("abstained@k", "did you mean 'abstained'?"),
    ],
)
def test_unknown_names_get_the_closest(typed: str, says: str) -> None:
    with pytest.raises(UsageError) as refused:
        canonical(typed, 20)
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


def test_recall_beyond_the_limit_is_refused() -> None:
    assert [name for name in known_measures(10) if name.startswith("recall")] == ["recall@5", "recall@10"]
    with pytest.raises(UsageError, match="up to k = 10"):
        canonical("recall@20", 10)


@given(st.integers(1, 50))
def test_known_names_are_their_own(limit: int) -> None:
    for name in known_measures(limit):
        assert canonical(name, limit) == name


@given(st.text())
@example("P")
def test_any_text_gives_a_known_name_or_one_line(text: str) -> None:
    try:
        found = canonical(text, 20)
        assert found in known_measures(20) or found.partition("@")[0] in CUT
    except UsageError as refused:
        assert "\n" not in str(refused)
