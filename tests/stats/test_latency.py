import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_retrieval.stats.latency import distribution, nearest_rank


def test_one_to_forty() -> None:
    assert distribution(range(1, 41)) == {
        "n": 40,
        "min_ms": 1,
        "p50_ms": 20,
        "p95_ms": 38,
        "max_ms": 40,
        "mad_ms": 10,
    }


def test_thirty_tens() -> None:
    found = distribution(range(300, 0, -10))
    assert (found["n"], found["p50_ms"], found["p95_ms"], found["mad_ms"]) == (30, 150, 290, 70)


def test_one_outlier_moves_only_the_maximum() -> None:
    found = distribution([5.0] * 29 + [905.0])
    assert (found["p95_ms"], found["max_ms"], found["mad_ms"]) == (5, 905, 0)


def test_under_thirty_values_is_not_run() -> None:
    assert distribution([1.0] * 29) == {"n": 29, "state": "NOT_RUN"}
    assert distribution([]) == {"n": 0, "state": "NOT_RUN"}


def test_missing_and_zero_times_do_not_count() -> None:
    assert distribution([1.0] * 29 + [None, 0.0]) == {"n": 29, "state": "NOT_RUN"}
    assert distribution([1.0] * 30 + [None, 0.0])["n"] == 30


def test_figures_are_rounded() -> None:
    assert distribution([0.12345678] * 30)["p50_ms"] == 0.123457


@pytest.mark.parametrize(("n", "rank"), [(1, 1), (20, 19), (21, 20), (100, 95), (180, 171)])
def test_the_rank_of_p95(n: int, rank: int) -> None:
    assert nearest_rank(range(1, n + 1), 95) == rank


@given(st.lists(st.floats(0.001, 1e5), min_size=30, max_size=80))
def test_quantiles_against_numpy(times: list[float]) -> None:
    found = distribution(times)
    for key, percent in (("p50_ms", 50), ("p95_ms", 95)):
        assert found[key] == pytest.approx(np.percentile(times, percent, method="inverted_cdf"), abs=1e-6)
