"""Whether the intervals and the test keep what they promise, on data sets whose truth is known.

``RETRIEVAL_SIMULATIONS=4000`` draws so many data sets per case, and adds cases.
"""

import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from pytest_retrieval.stats.paired import compare

FULL = "RETRIEVAL_SIMULATIONS" in os.environ
DATA_SETS = int(os.environ.get("RETRIEVAL_SIMULATIONS", "600"))
STEPS = np.array([0.0, 1 / 3, 0.5, 1.0])
SHARES = {"recall": [0.4, 0.15, 0.15, 0.3], "rate": [0.5, 0, 0, 0.5], "rare": [0.9, 0, 0, 0.1]}


def data_sets(shape: str, clusters: int, size: float, seed: int) -> Iterator[dict[str, Any]]:
    """Comparisons of two arms that are alike, with a taste of either for each cluster (a repository).

    Cluster sizes are random with mean ``size``; 1 gives independent samples of one repository.
    """
    random = np.random.RandomState(seed)
    for number in range(DATA_SETS):
        sizes = random.geometric(1 / size, clusters)
        owner = np.repeat(np.arange(clusters), sizes)
        a, b = (random.choice(STEPS, len(owner), p=SHARES[shape]) for _ in range(2))
        if size > 1:
            a += random.normal(0, 0.15, clusters)[owner]
        repositories = [f"r{cluster:03}" if size > 1 else "r" for cluster in owner]
        yield compare(a, b, [None] * len(a), repositories, (shape, str(clusters), str(number)))


def share(hits: Iterator[bool]) -> float:
    return float(np.mean(list(hits)))


def covers(found: dict[str, Any]) -> bool:
    return bool(found["low"] <= 0 <= found["high"])


@pytest.mark.parametrize("shape", ["recall", "rate", "rare"] if FULL else ["recall"])
@pytest.mark.parametrize("n", [50, 106, 345] if FULL else [106])
def test_independent_samples(shape: str, n: int) -> None:
    found = list(data_sets(shape, n, 1, seed=n))
    assert {row["cluster"]["unit"] for row in found} == {"sample"}
    assert 0.93 <= share(covers(row) for row in found) <= 0.97
    assert 0.93 <= share(covers(row["cluster"]) for row in found) <= 0.97
    assert share(row["p"] <= 0.05 for row in found) <= 0.06


@pytest.mark.parametrize("shape", ["recall", "rate", "rare"] if FULL else ["recall"])
@pytest.mark.parametrize("clusters", [10, 25, 60] if FULL else [10, 25])
def test_samples_of_repositories(shape: str, clusters: int) -> None:
    found = list(data_sets(shape, clusters, 8, seed=clusters))
    assert {row["cluster"]["unit"] for row in found} == {"repository"}
    floor = 0.92 if clusters == 10 else 0.93  # 92.9 % of 3,000: ten clusters of very unequal sizes are few
    assert floor <= share(covers(row["cluster"]) for row in found) <= 0.97
    assert share(covers(row) for row in found) < 0.93  # as if independent: the reason for clusters
    assert share(row["p"] <= 0.05 for row in found) <= 0.06
