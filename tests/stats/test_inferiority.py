"""What a no-regression gate is decided on: hand-made differences, and the promises of simulated pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from pytest_retrieval.stats.inferiority import decide, difference, unseen_share
from pytest_retrieval.stats.paired import compare

Floats = NDArray[np.float64]

NAME = ("all", "bm25:all", "baseline", "hit@k")
PAIRS = 1000
# 345 samples of 25 repositories, a quarter of them in one, as in the benchmark's positive releases
SIZES = [86, *[24] * 4, *[12] * 8, *[6] * 8, *[5] * 3, 4]
REPOSITORIES = [f"r{number:02}" for number, size in enumerate(SIZES) for _ in range(size)]


def of(differences: list[float], repositories: list[str] | None = None) -> dict[str, Any]:
    zeros = [0.0] * len(differences)
    return difference(differences, zeros, [None] * len(zeros), repositories or ["r"] * len(zeros), NAME)


def verdict(differences: list[float], margin: float, repositories: list[str] | None = None) -> str:
    return decide(of(differences, repositories), margin)[0]


@pytest.mark.parametrize("n", [1, 20, 345, 10_000])
def test_what_samples_without_a_loss_may_hide_is_clopper_and_pearsons_bound(n: int) -> None:
    expected = stats.binomtest(0, n).proportion_ci(method="exact").high
    assert unseen_share(n) == pytest.approx(expected, rel=1e-9)


def test_nothing_is_known_of_no_sample() -> None:
    assert unseen_share(0) == 1


@pytest.mark.parametrize(
    ("differences", "margin", "status"),
    [
        # 345 that do not differ may hide 1.06 %.
        ([0.0] * 345, 0.02, "passed"),
        ([0.0] * 345, 0.0106, "undecided"),
        ([0.0] * 345, 0.0, "undecided"),
        # 20 may hide 16.8 %: equal differences and a lone win prove nothing.
        ([0.0] * 20, 0.02, "undecided"),
        ([0.0] * 20, 0.17, "passed"),
        ([1.0] + [0.0] * 19, 0.02, "undecided"),
        ([0.1] * 20, 0.02, "undecided"),
        ([1.0] * 20, 0.0, "passed"),
        # Four losses of twenty and no win: the test's p is 1/8. Six: 1/32.
        ([-1.0] * 4 + [0.0] * 16, 0.0, "undecided"),
        ([-1.0] * 6 + [0.0] * 14, 0.0, "failed"),
        ([-0.5] * 20, 0.4, "failed"),
        ([-0.5] * 20, 0.5, "undecided"),
        # Under five samples there is no verdict.
        ([-1.0] * 4, 0.0, "undecided"),
        ([-1.0], 0.0, "undecided"),
    ],
)
def test_decisions(differences: list[float], margin: float, status: str) -> None:
    assert verdict(differences, margin) == status


def test_a_sample_of_a_count_can_lose_as_many_as_either_run_has() -> None:
    # 345 samples without a change may hide 1.06 % that lose all of their four: 0.0425 in the mean.
    rest = ([None] * 345, ["r"] * 345, NAME)
    counts = [4.0] + [0.0] * 344
    for new, old in ((counts, counts), ([0.0] * 345, counts), (counts, [0.0] * 345)):
        assert difference(new, old, *rest)["unseen"] == pytest.approx(4 * (1 - 0.025 ** (1 / 345)), abs=1e-6)
    assert difference([0.5] * 345, [0.25] * 345, *rest)["unseen"] == pytest.approx(0.010636, abs=1e-6)
    assert decide(difference(counts, counts, *rest), 0.0425)[0] == "undecided"
    assert decide(difference(counts, counts, *rest), 0.0426)[0] == "passed"


def test_a_loss_of_one_repository_is_no_loss_of_all() -> None:
    repositories = [f"r{place // 20}" for place in range(200)]
    assert verdict([-1.0] * 20 + [0.0] * 180, 0.0) == "failed"  # as if samples were independent
    assert verdict([-1.0] * 20 + [0.0] * 180, 0.0, repositories) == "undecided"


@pytest.mark.parametrize(
    ("differences", "margin", "why"),
    [
        (
            [0.0] * 20,
            0.0,
            "no sample differs, yet 20 may hide a loss of 0.168; more samples or a larger margin would tell",
        ),
        (
            [1.0] + [0.0] * 19,
            0.02,
            "the interval is above minus the margin, yet 20 may hide a loss of 0.168;"
            " more samples or a larger margin would tell",
        ),
        ([-1.0] * 4 + [0.0] * 16, 0.0, "the randomisation test allows chance"),
        ([-1.0, 1.0] * 10, 0.0, "minus the margin is inside the interval; more samples would tell"),
        ([-1.0] * 4, 0.0, "4 samples are too few for a verdict, which takes 5"),
    ],
)
def test_why_it_is_undecided(differences: list[float], margin: float, why: str) -> None:
    assert why in decide(of(differences), margin)[1]


@given(
    st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.0, 0.5, 1.0]), min_size=1, max_size=30),
    st.integers(1, 8),
    st.sampled_from([None, "c"]),
)
def test_the_figures_are_those_of_the_report(values: list[float], kinds: int, cluster: str | None) -> None:
    repositories = [f"r{place % kinds}" for place in range(len(values))]
    rest = ([0.0] * len(values), [cluster] * len(values), repositories, NAME)
    found, whole = difference(values, *rest), compare(values, *rest)
    assert [found[name] for name in ("n", "mean", "p", "wins", "losses", "ties")] == [
        whole[name] for name in ("n", "mean", "p", "wins", "losses", "ties")
    ]
    cluster_part = whole["cluster"]
    assert (found["unit"], found["units"]) == (cluster_part["unit"], cluster_part["count"])
    assert (found.get("low"), found.get("high")) == (cluster_part.get("low"), cluster_part.get("high"))


def same(random: np.random.RandomState, old: Floats) -> Floats:
    return old


def noise(random: np.random.RandomState, old: Floats) -> Floats:
    """5 % of the samples flip, whichever way."""
    flipped: Floats = np.where(random.uniform(size=len(old)) < 0.05, 1 - old, old)
    return flipped


def loss(random: np.random.RandomState, old: Floats) -> Floats:
    """10 % of the hits are lost."""
    kept: Floats = old * (random.uniform(size=len(old)) >= 0.1)
    return kept


def simulated(change: Callable[..., Floats], n: int, repositories: list[str]) -> Iterator[dict[str, Any]]:
    """The comparison of each of 1,000 pairs of runs; half of the samples of the first are hit."""
    random = np.random.RandomState(n)
    alone = len(set(repositories)) == 1
    for _ in range(PAIRS):
        old = np.zeros(n)
        old[random.permutation(n)[: n // 2]] = 1
        new = change(random, old)
        if alone:  # without clusters the order of samples does not matter
            yield counted(n, int(np.sum(new > old)), int(np.sum(new < old)))
        else:
            yield difference(new, old, [None] * n, repositories, NAME)


@cache
def counted(n: int, wins: int, losses: int) -> dict[str, Any]:
    differences = np.zeros(n)
    differences[:wins], differences[wins : wins + losses] = 1, -1
    return difference(differences, np.zeros(n), [None] * n, ["r"] * n, NAME)


SETS = {
    "25 repositories": (345, REPOSITORIES),
    "one repository": (345, ["r"] * 345),
    "20 of 7 repositories": (20, [f"r{place % 7}" for place in range(20)]),
    "20 of one repository": (20, ["r"] * 20),
}
LARGE = ("25 repositories", "one repository")
SMALL = ("20 of 7 repositories", "20 of one repository")


def statuses(change: Callable[..., Floats], where: str, *margins: float) -> list[dict[str, int]]:
    """How often each verdict came, per margin."""
    found = list(simulated(change, *SETS[where]))
    verdicts = [[decide(one, margin)[0] for one in found] for margin in margins]
    return [{status: said.count(status) for status in ("passed", "failed", "undecided")} for said in verdicts]


@pytest.mark.parametrize("where", SETS)
def test_runs_that_are_identical_never_fail(where: str) -> None:
    for counts in statuses(same, where, 0.0, 0.02):
        assert counts["failed"] == 0


@pytest.mark.parametrize("where", SETS)
def test_symmetric_noise_seldom_fails(where: str) -> None:
    (counts,) = statuses(noise, where, 0.0)
    assert counts["failed"] <= 0.03 * PAIRS


@pytest.mark.parametrize("where", LARGE)
def test_a_tenth_of_the_hits_lost_is_seen_and_never_passes(where: str) -> None:
    strict, loose = statuses(loss, where, 0.0, 0.02)
    assert strict["failed"] >= 0.99 * PAIRS
    assert loose["failed"] >= 0.65 * PAIRS
    assert strict["passed"] == loose["passed"] == 0


@pytest.mark.parametrize("margin", [0.02, 0.03, 0.05, 0.1])
def test_a_loss_of_just_the_margin_seldom_passes_within_one_repository(margin: float) -> None:
    passing = [
        losses
        for losses in range(round(345 * margin) + 1)
        if decide(counted(345, 0, losses), margin)[0] == "passed"
    ]
    assert stats.binom.pmf(passing, 345, margin).sum() < 0.06


@pytest.mark.parametrize("where", SMALL)
def test_twenty_samples_decide_little(where: str) -> None:
    for counts in statuses(loss, where, 0.0, 0.02):
        assert counts["undecided"] > 0.5 * PAIRS
        assert counts["passed"] == 0
