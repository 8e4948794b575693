import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_retrieval.stats.holm import holm


def test_the_published_example() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_small_families() -> None:
    assert holm([]) == []
    assert holm([0.2]) == [0.2]
    assert holm([0.9, 0.6]) == [1, 1]
    assert holm([0.02, 0.02]) == [0.04, 0.04]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.floats(0.001, 0.999))
def test_rejections_are_those_of_the_step_down_procedure(p_values: list[float], alpha: float) -> None:
    rejected = set()
    for rank, place in enumerate(sorted(range(len(p_values)), key=lambda place: p_values[place])):
        if (len(p_values) - rank) * p_values[place] > alpha:
            break
        rejected.add(place)
    adjusted = holm(p_values)
    assert {place for place, p in enumerate(adjusted) if p <= alpha} == rejected
    assert all(p <= q <= 1 for p, q in zip(p_values, adjusted, strict=True))
