import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from pytest_retrieval.stats.permutation import sign_flip
from pytest_retrieval.stats.streams import Stream

FRACTIONS = st.sampled_from([Fraction(n, d) for n, d in ((0, 1), (1, 3), (-2, 3), (1, 1), (-1, 7), (3, 5))])


def p_value(values: NDArray[np.float64], name: str = "p") -> float:
    return sign_flip(values, float(np.abs(values).sum()), Stream(name))


def test_one_sample_a_cluster_and_ones_is_mcnemar() -> None:
    assert p_value(np.array([1, 1, 1, 1, 1, -1, 0, 0.0])) == 0.21875  # b = 5, c = 1


def test_no_difference_and_one_cluster_say_nothing() -> None:
    assert p_value(np.zeros(40)) == 1
    assert p_value(np.array([0.7])) == 1


def test_the_smallest_p_of_an_enumeration() -> None:
    assert p_value(np.arange(1.0, 17)) == 2 / 2**16


def test_the_smallest_p_of_random_flips() -> None:
    assert p_value(np.full(40, 0.5)) == 1 / 10_000


@given(st.lists(FRACTIONS, min_size=1, max_size=8))
def test_against_enumeration_in_exact_arithmetic(values: list[Fraction]) -> None:
    observed = abs(sum(values, Fraction()))
    flipped = [
        abs(sum((sign * value for sign, value in zip(signs, values, strict=True)), Fraction()))
        for signs in itertools.product((1, -1), repeat=len(values))
    ]
    expected = sum(total >= observed for total in flipped) / len(flipped)
    assert p_value(np.array([float(value) for value in values])) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("n", [6, 9, 12])
def test_against_scipy(n: int) -> None:
    random = np.random.RandomState(n)
    a, b = random.normal(0.4, 1, n), random.normal(0, 1, n)
    reference = stats.permutation_test(
        (a, b),
        lambda x, y, axis: (x - y).sum(axis=axis),
        permutation_type="samples",
        n_resamples=10_000,
        vectorized=True,
    )
    assert p_value(a - b) == pytest.approx(reference.pvalue, abs=1e-12)


@pytest.mark.parametrize(("n", "shift"), [(17, 0.2), (17, 0.5), (20, 0.4)])
def test_random_flips_against_enumeration(n: int, shift: float) -> None:
    values = np.round(np.random.RandomState(n).normal(shift, 1, n), 2)
    totals = np.zeros(2**n)
    for place, value in enumerate(values):
        totals += np.where(np.arange(2**n) >> place & 1, value, -value)
    exact = np.mean(np.abs(totals) >= abs(values.sum()) - 1e-9)
    error = np.sqrt(exact * (1 - exact) / 9999)
    assert p_value(values) == pytest.approx(exact, abs=3 * error)
    assert p_value(values) != exact  # or these were not random flips


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=30))
@example([-1.0, -1.0, -1.4927191524915454e-12, -1.4927191524915454e-12])
def test_order_and_common_sign_do_not_matter(values: list[float]) -> None:
    differences = np.array(values)
    found = p_value(differences)
    assert 0 < found <= 1
    assert p_value(differences[::-1]) == p_value(-differences) == found


def test_sums_that_rounding_leaves_are_ties() -> None:
    residue = np.array([1 / 3 + 1 / 3 + 1 / 3 - 1 + 2**-54] * 20)
    assert sign_flip(residue, 40.0, Stream("residue")) == 1


def test_clusters_without_a_difference_change_nothing() -> None:
    values = np.array([0.5, 1, 1 / 3, -0.2])
    assert p_value(np.concatenate((values, np.zeros(100)))) == p_value(values)
