import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from pytest_retrieval.stats.bootstrap import (
    ends,
    expanded_cut,
    resampled_cluster_means,
    resampled_means,
)
from pytest_retrieval.stats.streams import Stream

RECALLS = st.sampled_from([0.0, 0.5, 1.0, 1 / 3, -0.5, -1.0, -1 / 3, 0.1, -2 / 7])


def test_hundred_means_lie_beyond_each_end() -> None:
    assert ends(np.arange(4000.0)) == (100, 3899)
    assert ends(np.arange(4000.0), 0) == (0, 3999)


def test_a_cut_for_few_clusters_leaves_the_tail_of_student() -> None:
    clusters = np.arange(2, 3000)
    width = np.sqrt(clusters / (clusters - 1)) * stats.t.ppf(0.975, clusters - 1)
    assert [expanded_cut(int(count)) for count in clusters] == [
        round(4000 * tail) for tail in stats.norm.cdf(-width)
    ]
    assert (expanded_cut(5), expanded_cut(25), expanded_cut(10**6)) == (4, 70, 100)


@pytest.mark.parametrize("n", [20, 106, 345])
def test_samples_against_scipy(n: int) -> None:
    random = np.random.RandomState(n)
    differences = random.choice([0, 0, 0.5, -0.5, 1, 1 / 3], n)
    low, high = ends(resampled_means(differences, Stream("scipy", str(n))))
    reference = stats.bootstrap(
        (differences,), np.mean, n_resamples=20_000, method="percentile", random_state=random
    )
    # An end's Monte Carlo error at 4,000 resamples is 0.042 standard errors.
    assert low == pytest.approx(reference.confidence_interval.low, abs=0.2 * reference.standard_error)
    assert high == pytest.approx(reference.confidence_interval.high, abs=0.2 * reference.standard_error)


@pytest.mark.parametrize("clusters", [5, 25])
def test_clusters_against_scipy(clusters: int) -> None:
    random = np.random.RandomState(clusters)
    sizes = random.randint(1, 30, clusters).astype(float)
    sums = np.round(sizes * random.normal(0.1, 0.3, clusters), 1)
    low, high = ends(resampled_cluster_means(sums, sizes, Stream("scipy", str(clusters))))
    reference = stats.bootstrap(
        (sums, sizes),
        lambda total, count, axis: total.sum(axis=axis) / count.sum(axis=axis),
        paired=True,
        n_resamples=20_000,
        method="percentile",
        random_state=random,
    )
    assert low == pytest.approx(reference.confidence_interval.low, abs=0.2 * reference.standard_error)
    assert high == pytest.approx(reference.confidence_interval.high, abs=0.2 * reference.standard_error)


@pytest.mark.parametrize("n", [2, 7, 8, 9, 41])
def test_every_bit_is_that_of_adding_one_draw_after_the_other(n: int) -> None:
    """Plain floats, added as the definition says; sums of these differ in their last bits with the order."""
    ascending = sorted((number * 37 % 101 - 50) / 7 for number in range(n))
    stream = Stream("bits", str(n))
    totals = [0.0] * 4000
    for _ in range(n):
        for resample, drawn in enumerate(stream.indices(2000, n).tolist()):
            totals[resample] += ascending[drawn]
            totals[2000 + resample] += ascending[n - 1 - drawn]
    shuffled = np.random.default_rng(n).permutation(ascending)
    found = resampled_means(shuffled, Stream("bits", str(n)))
    assert found.tolist() == [total / n for total in sorted(totals)]


def test_every_resample_of_five_is_as_likely_as_it_should_be() -> None:
    differences = np.array([0.0, 0.1, 0.3, -0.5, 1.0])
    exact = np.sort([np.mean(drawn) for drawn in itertools.product(differences, repeat=5)])
    drawn = resampled_means(differences, Stream("five"))
    for share in (0.01, 0.025, 0.25, 0.5, 0.75, 0.975, 0.99):
        bound = np.quantile(exact, share) + 1e-9
        assert np.mean(drawn <= bound) == pytest.approx(np.mean(exact <= bound), abs=0.03)


@settings(max_examples=30)
@given(st.lists(RECALLS, min_size=1, max_size=40), st.integers(0, 1000))
def test_order_does_not_matter_and_negation_mirrors(values: list[float], seed: int) -> None:
    differences = np.array(values)
    shuffled = np.random.RandomState(seed).permutation(differences)
    means = resampled_means(differences, Stream("order"))
    assert np.array_equal(means, resampled_means(shuffled, Stream("order")))
    assert np.array_equal(means, -resampled_means(-shuffled, Stream("order"))[::-1])
    assert differences.min() - 1e-12 <= means[0] <= means[-1] <= differences.max() + 1e-12


@settings(max_examples=30)
@given(st.lists(st.tuples(RECALLS, st.integers(1, 9)), min_size=1, max_size=20))
def test_negated_clusters_mirror(clusters: list[tuple[float, int]]) -> None:
    sizes = np.array([float(size) for _, size in clusters])
    sums = np.array([value for value, _ in clusters]) * sizes
    means = resampled_cluster_means(sums, sizes, Stream("mirror"))
    assert np.array_equal(means, -resampled_cluster_means(-sums, sizes, Stream("mirror"))[::-1])


def test_equal_differences_have_one_mean() -> None:
    assert set(resampled_means(np.full(10, 0.1), Stream("equal"))) == {0.1}


def test_nothing_to_resample() -> None:
    with pytest.raises(ValueError, match="nothing to resample"):
        resampled_means(np.array([]), Stream("none"))
    with pytest.raises(ValueError, match="nothing to resample"):
        resampled_cluster_means(np.array([]), np.array([]), Stream("none"))
