import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from pytest_retrieval.stats.rounding import half_away
from pytest_retrieval.stats.wilson import wilson

NUMBERS = Path(__file__).parents[2].parent / "shared" / "oracle" / "numbers.json"


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [
        (30, 40, 0.598060, 0.858129),
        (1, 3, 0.061492, 0.792340),
        (0, 106, 0.0, 0.034973),
        (27, 106, 0.181364, 0.345226),
        (91, 101, 0.827268, 0.945327),
    ],
)
def test_published_intervals(successes: int, n: int, low: float, high: float) -> None:
    assert tuple(map(half_away, wilson(successes, n))) == (low, high)


def test_every_published_interval_of_the_oracle() -> None:
    if not NUMBERS.exists():
        pytest.skip("shared/oracle/numbers.json is not beside the checkout")
    for row in json.loads(NUMBERS.read_text(encoding="utf-8")):
        assert tuple(map(half_away, wilson(row["hits"], row["n"]))) == (row["low"], row["high"]), row


def test_a_low_of_zero_is_not_negative_zero() -> None:
    low, _ = wilson(0, 58)
    assert math.copysign(1, low) == 1
    assert low == 0


@given(st.integers(1, 3000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_against_scipy(rate: tuple[int, int]) -> None:
    successes, n = rate
    reference = binomtest(successes, n).proportion_ci(confidence_level=0.95, method="wilson")
    low, high = wilson(successes, n)
    assert low == pytest.approx(reference.low, abs=1e-7)  # scipy's z is 1.95996398…
    assert high == pytest.approx(reference.high, abs=1e-7)
    assert 0 <= low <= successes / n <= high <= 1


@pytest.mark.parametrize(("successes", "n"), [(0, 0), (2, 1), (-1, 4), (1, -1)])
def test_no_rate_no_interval(successes: int, n: int) -> None:
    with pytest.raises(ValueError, match="no rate"):
        wilson(successes, n)
