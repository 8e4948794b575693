from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from pytest_retrieval.stats.mcnemar import mcnemar


@given(st.integers(0, 400), st.integers(0, 400))
def test_it_is_the_exact_binomial_test(wins: int, losses: int) -> None:
    wanted = binomtest(wins, wins + losses, 0.5).pvalue if wins + losses else 1.0
    assert mcnemar(wins, losses) == pytest.approx(wanted, rel=1e-9)
    assert mcnemar(wins, losses) == mcnemar(losses, wins)


def test_by_hand() -> None:
    assert mcnemar(6, 0) == 2 / 64
    assert mcnemar(5, 1) == 2 * 7 / 64
    assert mcnemar(0, 0) == 1


def test_many_tasks() -> None:
    assert mcnemar(10_000, 10_000) == 1
    assert mcnemar(1_000, 0) == 0.5**999


def test_no_count_is_negative() -> None:
    with pytest.raises(ValueError, match="-1"):
        mcnemar(-1, 2)
