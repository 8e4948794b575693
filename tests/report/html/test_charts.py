"""What the charts draw, against values worked out by hand."""

from __future__ import annotations

import pytest

from pytest_retrieval.report.html.forest import ends, forest, is_clear
from pytest_retrieval.report.html.gathering import Gathered
from pytest_retrieval.report.html.heatmap import SHOWN, heat_map
from pytest_retrieval.report.html.latency import latency_chart
from pytest_retrieval.report.html.plot import Arms, log_ticks, nice_top, spread, thinned
from pytest_retrieval.report.html.tradeoff import Point, dominators, placed
from tests.report.html.pages import Page, small


@pytest.fixture
def gathered() -> Gathered:
    return Gathered.of(small().details(), ["a", "b"], 4, "recall@10")


def test_recall_is_known_at_every_k(gathered: Gathered) -> None:
    # a finds half of s0 at rank 2 and nothing else; b all of s0 by rank 2, and s1 at rank 2.
    assert gathered.curve("a") == pytest.approx([0, 0.5 / 3, 0.5 / 3, 0.5 / 3])
    assert gathered.curve("b") == pytest.approx([0.5 / 3, 2 / 3, 2 / 3, 2 / 3])


def test_the_ceiling_ranks_what_can_be_had_first(gathered: Gathered) -> None:
    # Of s0 one of two files at k = 1, both at 2; s1 at once; the file of s2 is absent.
    assert gathered.ceiling() == pytest.approx([0.5, 2 / 3, 2 / 3, 2 / 3])


def test_times_and_repositories_are_gathered(gathered: Gathered) -> None:
    assert {label: list(times) for label, times in gathered.times.items()} == {
        "a": [1.0] * 3,
        "b": [10.0] * 3,
    }
    assert gathered.repositories == {"acme/ring": {"a": (0.5, 3), "b": (2.0, 3)}}


def test_an_arm_is_dominated_by_one_that_is_no_worse_in_both_and_better_in_one() -> None:
    points = {
        "cheap": Point(1, 0.3),
        "good": Point(10, 0.6),
        "slow": Point(20, 0.6),
        "poor": Point(30, 0.2),
        "twin": Point(10, 0.6),
    }
    assert dominators(points) == {"slow": "good", "poor": "good"}
    assert dominators({"one": Point(1, 0.0)}) == {}


def test_names_of_points_get_out_of_each_others_way() -> None:
    sides = placed({"a": (0.5, 100.0), "b": (0.51, 101.0), "c": (0.99, 50.0)}, {"a": "a", "b": "b", "c": "c"})
    assert sides["a"][0] < 0 or sides["b"][0] < 0 or sides["a"][1] != sides["b"][1]
    assert sides["c"][0] < 0  # there is no room right of it
    # 22 letters of 7 pixels fit right of 300 of 470, and not right of 205 of a phone's 320.
    assert placed({"d": (0.64, 100.0)}, {"d": "d" * 22})["d"][0] < 0
    assert placed({"d": (0.4, 100.0)}, {"d": "d" * 22})["d"][0] > 0


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [(1, 10, [1, 2, 5, 10]), (0.3, 4, [0.2, 0.5, 1, 2, 5]), (7, 7, [5, 10]), (10, 10, [10, 20])],
)
def test_ticks_of_logarithms_are_round_and_enclose_the_values(
    low: float, high: float, ticks: list[float]
) -> None:
    assert log_ticks(low, high) == pytest.approx(ticks)


def test_ticks_are_thinned_to_powers_of_ten() -> None:
    assert thinned([0.1, 0.2, 0.5, 1, 2, 5, 10]) == [0.1, 1, 10]
    assert thinned([1, 2, 5, 10, 20, 50], 5) == [1, 5, 20]


def test_scales_end_above_the_values() -> None:
    assert [nice_top(value) for value in (0, 0.09, 0.39, 0.77, 0.99, 1.0)] == [0.1, 0.1, 0.6, 1.0, 1.0, 1.0]


def test_names_are_moved_apart() -> None:
    assert spread([10, 12, 40], 15) == [10, 25, 40]
    assert spread([12, 10], 15) == [25, 10]


COMPARISON = {
    "n": 40,
    "mean": 0.1,
    "low": 0.02,
    "high": 0.2,
    "cluster": {"unit": "repository", "count": 6, "low": -0.05, "high": 0.25},
    "p": 0.01,
    "p_holm": 0.02,
    "wins": 9,
    "losses": 4,
    "ties": 27,
}


def test_a_difference_is_clear_where_the_interval_over_clusters_leaves_out_zero() -> None:
    assert ends(COMPARISON) == (-0.05, 0.25)
    assert not is_clear(COMPARISON)
    assert is_clear({**COMPARISON, "cluster": {"unit": "repository", "count": 6, "low": 0.01, "high": 0.25}})
    alone = {**COMPARISON, "cluster": {"unit": "sample", "count": 1, "state": "NOT_RUN"}}
    assert ends(alone) == (0.02, 0.2)
    assert not is_clear(alone)


def test_the_forest_says_its_numbers_and_its_unit() -> None:
    drawn = forest({"all": {"a - b": {"recall@10": COMPARISON}}}, {"recall@10": "R"}, ("recall@10",))
    assert drawn is not None
    page = Page(drawn)
    assert not page.faults
    assert "+0.100 [−0.050, +0.250]" in page.text  # noqa: RUF001
    assert "9 / 4 / 27" in page.text
    assert "Unit: repository (6 repositories). Fewer than ten" in page.text
    assert forest({}, {}, ("recall@10",)) is None


def test_an_interval_without_width_is_none() -> None:
    same = {"unit": "sample", "count": 9, "low": 0.0, "high": 0.0}
    row = {**COMPARISON, "mean": 0.0, "low": 0.0, "high": 0.0, "cluster": same}
    drawn = forest({"all": {"a - b": {"recall@10": row}}}, {"recall@10": "R"}, ("recall@10",))
    assert drawn is not None
    assert "\n0.000 all equal\n" in Page(drawn).text


def test_the_map_sums_up_repositories_beyond_the_first() -> None:
    arms = Arms(["a"])
    sums = {f"r{place:02}": {"a": (1.0, 2)} for place in range(SHOWN)}
    few = {"x": {"a": (0.0, 1)}, "y": {"a": (1.0, 1)}}
    drawn = heat_map({**sums, **few}, "recall@10", arms, ["a"])
    assert drawn is not None
    page = Page(drawn)
    assert "2 others" in page.text
    assert page.text.count("0.50") == SHOWN + 1
    assert heat_map({"x": {"a": (0.0, 1)}}, "recall@10", arms, ["a"]) is None


def test_quantiles_of_few_times_are_not_told() -> None:
    arms = Arms(["a", "b"])
    drawn = latency_chart({"a": [5.0] * 29, "b": [float(ms) for ms in range(1, 101)]}, arms, ["a", "b"], "")
    assert drawn is not None
    page = Page(drawn)
    assert not page.faults
    assert "50.0 ms" in page.text  # the median of 1 to 100 by nearest rank
    assert "95.0 ms" in page.text
    assert "Under 30 times no quantile" in page.text
    assert latency_chart({"a": []}, arms, ["a"], "") is None
