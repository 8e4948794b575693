"""A few of the simulated pairs of ``tests/stats/test_inferiority.py``, through written reports."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pytest_retrieval.report.build import Report
from tests.gates.reports import made, sample, verdict
from tests.stats.test_inferiority import REPOSITORIES, loss, noise, same


def report(hits: list[float], repositories: list[str]) -> Report:
    rows = zip(hits, repositories, strict=True)
    return made([sample(row, int(hit), repo=repo) for row, (hit, repo) in enumerate(rows)])


@pytest.mark.parametrize("repositories", [REPOSITORIES, ["acme/ring"] * 345], ids=["25", "one"])
@pytest.mark.parametrize(
    ("change", "margin", "statuses"),
    [
        (same, "0", {"undecided"}),
        (same, "0.02", {"passed"}),
        (noise, "0", {"undecided", "passed"}),
        (loss, "0", {"failed"}),
    ],
)
def test_pairs_of_runs(
    tmp_path: Path, change: object, margin: str, statuses: set[str], repositories: list[str]
) -> None:
    assert callable(change)
    random = np.random.RandomState(0)
    old = np.zeros(345)
    old[random.permutation(345)[:172]] = 1
    before, after = (report(list(hits), repositories) for hits in (old, change(random, old)))
    found = verdict(tmp_path, f"no_regression(grep, hit@k, {margin})", after, before)
    assert found.status in statuses
    assert found.record()["unit"] == ("repository" if len(set(repositories)) > 1 else "sample")
