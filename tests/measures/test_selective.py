import pytest

from pytest_retrieval.measures.selective import selective_success


@pytest.mark.parametrize(
    ("ranked", "gold", "abstained", "expected"),
    [
        ((), (), True, 1.0),
        (("a",), (), False, 0.0),
        ((), (), False, 0.0),  # an error: silent, but not by decision
        (("a", "b"), ("b",), False, 1.0),
        (("a",), ("b",), False, 0.0),
        ((), ("b",), True, 0.0),
        (("b",), ("b",), True, 0.0),  # it said that it abstains
    ],
)
def test_decision_and_answer(
    ranked: tuple[str, ...], gold: tuple[str, ...], abstained: bool, expected: float
) -> None:
    assert selective_success(ranked, gold, 20, abstained) == expected


def test_gold_beyond_k_is_no_success() -> None:
    assert selective_success(("a", "b"), ("b",), 1, False) == 0.0
