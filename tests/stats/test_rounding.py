import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_retrieval.stats.rounding import half_away


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        (0.0000005, 0.000001),
        (-0.0000005, -0.000001),
        (0.0000025, 0.000003),  # half to even would give 0.000002
        (1.0000005, 1.000001),  # the double is 1.00000049999999991773…, its product is 1000000.5
        (4.999999999999999e-07, 0.0),
        (1 / 3, 0.333333),
        (2 / 3, 0.666667),
        (-2 / 3, -0.666667),
        (158.2, 158.2),
        (0.0, 0.0),
        (12345678901234.5, 12345678901234.5),
    ],
)
def test_literals(x: float, expected: float) -> None:
    assert half_away(x) == expected


def test_nothing_rounds_to_negative_zero() -> None:
    assert math.copysign(1, half_away(-1e-9)) == 1
    assert math.copysign(1, half_away(-0.0)) == 1


def test_other_places() -> None:
    assert half_away(2.5, 0) == 3
    assert half_away(-2.5, 0) == -3
    assert half_away(0.49999999999999994, 0) == 0  # floor(x + 0.5) would give 1
    assert half_away(1.25, 1) == 1.3


@pytest.mark.parametrize("x", [math.inf, -math.inf, 1e305])
def test_a_value_without_a_product_is_unchanged(x: float) -> None:
    assert half_away(x) == x


def test_nan_stays_nan() -> None:
    assert math.isnan(half_away(math.nan))


@given(st.floats(min_value=-1e9, max_value=1e9))
def test_it_is_the_nearest_millionth_of_the_product(x: float) -> None:
    product = Fraction(x * 1e6)
    below = product.numerator // product.denominator
    half = Fraction(1, 2)
    up = product - below > half or (product - below == half and x > 0)
    assert half_away(x) == (below + up) / 1e6


@given(st.floats(min_value=-1e6, max_value=1e6))
def test_it_is_odd_and_idempotent(x: float) -> None:
    assert half_away(-x) == -half_away(x)
    assert half_away(half_away(x)) == half_away(x)
