import numpy as np
import pytest

from pytest_retrieval.stats.clusters import Clusters, choose_clusters

FIVE = ["b/b", "a/a", "c/c", "e/e", "d/d"]


def places(clusters: Clusters) -> list[list[int]]:
    return [rows.tolist() for rows in clusters.members]


def test_five_repositories_are_the_unit_whatever_the_cluster_field() -> None:
    found = choose_clusters(["x"] * 6, [*FIVE, "a/a"])
    assert (found.unit, found.count) == ("repository", 5)
    assert places(found) == [[1, 5], [0], [2], [4], [3]]


def test_below_five_the_cluster_field_is() -> None:
    found = choose_clusters(["y", "x", "y", "x"], ["a/a", "a/a", "a/a", "b/b"])
    assert (found.unit, found.count) == ("cluster", 3)  # x of a/a is not x of b/b
    assert places(found) == [[1], [0, 2], [3]]


def test_samples_without_a_cluster_are_one_per_repository() -> None:
    found = choose_clusters([None, "x", None, None], ["a/a", "a/a", "a/a", "b/b"])
    assert (found.unit, places(found)) == ("cluster", [[0, 2], [1], [3]])


def test_without_a_cluster_field_the_sample_is() -> None:
    found = choose_clusters([None] * 3, FIVE[:3])
    assert (found.unit, places(found)) == ("sample", [[0], [1], [2]])


@pytest.mark.parametrize("count", [4, 5])
def test_the_floor_is_on_distinct_repositories(count: int) -> None:
    found = choose_clusters([None] * 10, FIVE[:count] * 2 + FIVE[: 10 - 2 * count])
    assert found.unit == ("repository" if count == 5 else "sample")


def test_sums_and_sizes() -> None:
    found = choose_clusters([None] * 6, [*FIVE, "a/a"])
    assert found.sums(np.array([1.0, 1e16, 3.0, 4.0, 5.0, 1.0])).tolist() == [1e16, 1, 3, 5, 4]
    assert found.sizes().tolist() == [2, 1, 1, 1, 1]


def test_no_samples() -> None:
    assert choose_clusters([], []).count == 0
