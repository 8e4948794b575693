import numpy as np
import pytest
from scipy import stats

from pytest_retrieval.stats.power import clustered_error, smallest_detectable


def test_clusters_of_one_sample_give_the_usual_error() -> None:
    values = np.random.RandomState(1).normal(0, 1, 40)
    assert clustered_error(values, np.ones(40)) == pytest.approx(stats.sem(values), abs=1e-12)


def test_against_the_double_sum_over_samples() -> None:
    random = np.random.RandomState(2)
    labels, values = random.randint(0, 7, 60), random.normal(0, 1, 60)
    together = labels[:, None] == labels[None, :]
    centred = values - values.mean()
    expected = np.sqrt(7 / 6 * (centred[:, None] * centred[None, :] * together).sum()) / 60
    sums, sizes = (np.bincount(labels, weights).astype(float) for weights in (values, np.ones(60)))
    assert clustered_error(sums, sizes) == pytest.approx(expected, abs=1e-12)


def test_by_hand() -> None:
    # Two clusters of one and three samples, sums 1 and 0: mean 1/4, residuals 3/4 and -3/4.
    expected = np.sqrt(2 * (9 / 16 + 9 / 16)) / 4
    assert clustered_error(np.array([1.0, 0.0]), np.array([1.0, 3.0])) == pytest.approx(expected)


def test_the_difference_is_seen_four_times_in_five() -> None:
    assert smallest_detectable(0.02) == pytest.approx(0.056032, abs=5e-7)
    power = stats.norm.sf(stats.norm.isf(0.025), loc=smallest_detectable(0.02) / 0.02)
    assert power == pytest.approx(0.8)


def test_one_cluster_has_no_error() -> None:
    with pytest.raises(ValueError, match="one cluster"):
        clustered_error(np.array([1.0]), np.array([9.0]))
