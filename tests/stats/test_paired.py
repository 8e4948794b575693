import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_retrieval.stats.paired import compare, leaves_out_zero

NAME = ("all", "bm25:ident - grep", "recall@10")
DIFFERENCES = [0.5, 0, 0, 1, -0.5, 0.5]
VALUES = st.sampled_from([0.0, 1 / 3, 0.5, 2 / 3, 1.0])
SAMPLES = st.lists(
    st.tuples(VALUES, VALUES, st.sampled_from([None, "x", "y"]), st.sampled_from("abcdefg")),
    min_size=1,
    max_size=40,
)


def of_differences(differences: list[float], repositories: list[str] | None = None) -> dict[str, Any]:
    zeros = [0.0] * len(differences)
    return compare(differences, zeros, [None] * len(zeros), repositories or ["acme/ring"] * len(zeros), NAME)


def mirrored(found: dict[str, Any]) -> dict[str, Any]:
    cluster = found["cluster"]
    result = {
        **found,
        "mean": -found["mean"],
        "low": -found["high"],
        "high": -found["low"],
        "wins": found["losses"],
        "losses": found["wins"],
    }
    if "low" in cluster:
        result["cluster"] = {**cluster, "low": -cluster["high"], "high": -cluster["low"]}
    if "repos" in found:
        result["repos"] = {name: {**row, "mean": -row["mean"]} for name, row in found["repos"].items()}
    return result


@pytest.mark.parametrize(("units", "told"), [(2, False), (4, False), (5, True), (20, True)])
def test_an_interval_over_few_units_is_not_told_from_chance(units: int, told: bool) -> None:
    found = compare(
        [0.5 + place / 100 for place in range(units)], [0.0] * units, [None] * units, ["r"] * units, ("a",)
    )
    cluster = found["cluster"]
    assert 0 < cluster["low"] < cluster["high"]
    assert leaves_out_zero(cluster, cluster["count"], found["p"]) is told


def test_six_differences() -> None:
    found = of_differences(DIFFERENCES)
    assert {key: found[key] for key in ("n", "mean", "wins", "losses", "ties")} == {
        "n": 6,
        "mean": 0.25,
        "wins": 3,
        "losses": 1,
        "ties": 2,
    }
    assert found["low"] < 0.25 < found["high"]
    assert found["cluster"]["unit"] == "sample"
    assert found["p"] == 0.5  # of 16 sign patterns of .5 1 -.5 .5 eight have a total of at least 1.5 in size
    assert of_differences([-difference for difference in DIFFERENCES]) == mirrored(found)


def test_repositories_are_shown_from_five_samples_on() -> None:
    assert of_differences(DIFFERENCES[:5])["repos"] == {"acme/ring": {"n": 5, "mean": 0.2}}
    assert "repos" not in of_differences(DIFFERENCES[:4])
    found = of_differences([*DIFFERENCES, 1.0], ["a/a"] * 5 + ["b/b"] * 2)
    assert found["repos"] == {"a/a": {"n": 5, "mean": 0.2}}


def test_the_detectable_difference_of_six() -> None:
    spread = math.sqrt(sum((d - 0.25) ** 2 for d in DIFFERENCES) / 5 / 6)
    assert of_differences(DIFFERENCES)["mde"] == pytest.approx((1.959964 + 0.841621) * spread, abs=1e-6)


def test_no_samples() -> None:
    assert compare([], [], [], [], NAME) == {"n": 0, "state": "NOT_RUN"}


@pytest.mark.parametrize("constant", [0.0, 0.1, -1.0])
def test_equal_differences_are_degenerate(constant: float) -> None:
    found = of_differences([constant] * 7)
    assert (found["mean"], found["low"], found["high"]) == (constant, constant, constant)
    assert found["degenerate"] is True
    assert found["cluster"] == {
        "unit": "sample", "count": 7, "low": constant, "high": constant, "degenerate": True
    }  # fmt: skip
    assert found["p"] == (1 if constant == 0 else 2 / 2**7)
    assert "mde" not in found


def test_differences_that_differ_are_not_degenerate() -> None:
    found = of_differences(DIFFERENCES)
    assert "degenerate" not in found
    assert "degenerate" not in found["cluster"]


def test_one_sample_has_no_cluster_interval() -> None:
    found = of_differences([0.5])
    assert (found["low"], found["high"], found["degenerate"]) == (0.5, 0.5, True)
    assert found["cluster"] == {"unit": "sample", "count": 1, "state": "NOT_RUN"}
    assert found["p"] == 1
    assert "mde" not in found


def test_samples_of_one_commit_are_one_cluster() -> None:
    found = compare([1, 0, 1], [0, 0, 0], ["c0ffee"] * 3, ["acme/ring"] * 3, NAME)
    assert found["cluster"] == {"unit": "cluster", "count": 1, "state": "NOT_RUN"}
    assert found["low"] < found["high"]


def test_five_repositories_are_the_unit() -> None:
    repositories = [f"acme/{letter}" for letter in "abcde"] * 4
    a = np.array([1.0, 0, 0, 0, 0] * 4)
    found = compare(a, np.zeros(20), [None] * 20, repositories, NAME)
    assert (found["cluster"]["unit"], found["cluster"]["count"]) == ("repository", 5)
    assert found["p"] == 1  # one repository alone differs
    assert found["cluster"]["high"] - found["cluster"]["low"] > found["high"] - found["low"]


def test_groups_of_one_name_share_no_random_bits_with_others() -> None:
    values = np.random.RandomState(3).uniform(0, 1, 30)
    first, second = (
        compare(values, np.full(30, 0.5), [None] * 30, ["a/a"] * 30, (group, *NAME[1:])) for group in "xy"
    )
    assert first["mean"] == second["mean"]
    assert (first["low"], first["high"]) != (second["low"], second["high"])


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_values_must_be_finite(bad: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        compare([bad], [0.0], [None], ["a/a"], NAME)


def test_lengths_must_agree() -> None:
    with pytest.raises(ValueError, match="2 paired values are needed"):
        compare([0.0, 1.0], [0.0], [None] * 2, ["a/a"] * 2, NAME)
    with pytest.raises(ValueError, match="1 clusters for 2 samples"):
        compare([0.0, 1.0], [0.0, 1.0], [None], ["a/a"] * 2, NAME)


@settings(max_examples=60)
@given(SAMPLES, st.randoms(use_true_random=False))
def test_order_does_not_matter_swapping_mirrors_and_nothing_is_nan(
    samples: list[tuple[float, float, str | None, str]], random: Any
) -> None:
    found = compare(*columns(samples), NAME)
    shuffled = random.sample(samples, len(samples))
    assert compare(*columns(shuffled), NAME) == found
    a, b, clusters, repositories = columns(shuffled)
    assert compare(b, a, clusters, repositories, NAME) == mirrored(found)
    assert found["wins"] + found["losses"] + found["ties"] == found["n"] == len(samples)
    assert 0 < found["p"] <= 1
    assert -1 <= found["low"] <= found["high"] <= 1
    json.dumps(found, allow_nan=False)


def columns(
    samples: list[tuple[float, float, str | None, str]],
) -> tuple[list[float], list[float], list[str | None], list[str]]:
    a, b, clusters, repositories = zip(*samples, strict=True)
    return list(a), list(b), list(clusters), list(repositories)
