"""Differences of arms as a terminal shows them."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pytest_retrieval.report.paired_table import paired_lines
from pytest_retrieval.report.pieces import Line, plain


def figures(
    mean: float, low: float | None, high: float | None, n: int = 40, **cluster: Any
) -> dict[str, Any]:
    ends = {} if low is None else {"low": low, "high": high}
    p = cluster.pop("p", 0.2)
    return {"n": n, "mean": mean, "p": p, "cluster": {"unit": "repository", "count": 8, **ends, **cluster}}


PAIRS = {
    "bm25:all - grep": {
        "recall@5": figures(0.125, 0.0625, 0.25),
        "recall@10": figures(-0.125, -0.25, -0.0625),
        "recall@20": figures(0.0, -0.1, 0.1),
        "mrr@k": figures(0.5, 0.5, 0.5, degenerate=True),
        "hit@k": figures(1.0, None, None, state="NOT_RUN"),
    },
}


def head(pairs: dict[str, Any], group: str = "all") -> dict[str, Any]:
    return {"limit": 20, "paired": {group: pairs}}


def texts(lines: list[Line]) -> list[str]:
    return [plain(line) for line in lines]


def test_in_full() -> None:
    assert texts(list(paired_lines(head(PAIRS), 140))) == [
        "differences, 95% intervals over 8 repositories; * zero is outside",
        "pair              n  R@5                       R@10                      R@20                     "
        "MRR               hit@20",
        "bm25:all - grep  40  +0.125 [+0.062, +0.250]*  -0.125 [-0.250, -0.062]*   0.000 [-0.100, +0.100]  "
        "+0.500 all equal  +1.000 -",
    ]


def test_the_more_telling_measures_stay_where_there_is_little_room() -> None:
    assert texts(list(paired_lines(head(PAIRS), 45))) == [
        "differences; * zero is outside",
        "pair              n  MRR              hit@20",
        "bm25:all - grep  40  +.500 all equal  +1.00 -",
    ]


def test_an_improvement_is_good_and_a_loss_is_bad_and_chance_is_neither() -> None:
    (_, _, line) = paired_lines(head(PAIRS), 140)
    roles = {piece.text[:6]: piece.role for piece in line}
    assert (roles["+0.125"], roles["-0.125"], roles[" 0.000"], roles["+0.500"]) == ("good", "bad", "", "")


def test_samples_without_gold_have_a_table_of_their_own() -> None:
    pairs = {"a - b": {"selective_success": figures(0.5, 0.1, 0.9, unit="sample", count=9)}}
    assert texts(list(paired_lines(head(pairs, "stratum:natural_no_gold"), 100)))[:2] == [
        "differences (natural_no_gold), 95% intervals over 9 samples; * zero is outside",
        "pair    n  selective",
    ]


def test_equal_differences_are_told_from_chance_by_the_randomisation_test() -> None:
    pairs = {
        f"{label} - b": {"mrr@k": figures(mean, mean, mean, degenerate=True, p=p)}
        for label, mean, p in (("a", -1.0, 0.05), ("c", -1.0, 0.0625), ("d", 0.0, 1.0), ("e", 0.25, 0.01))
    }
    lines = list(paired_lines(head(pairs), 100))[2:]
    assert [plain(line).split("40  ")[1] for line in lines] == [
        "-1.000 all equal*",
        "-1.000 all equal",
        " 0.000 all equal",
        "+0.250 all equal*",
    ]
    assert [line[2].role for line in lines] == ["bad", "", "", "good"]


def test_the_line_above_tells_every_unit_and_none_where_there_is_no_interval() -> None:
    few = figures(0.0, -0.1, 0.1, unit="sample", count=2)
    pairs = {"a - b": {"mrr@k": figures(0.0, -0.1, 0.1)}, "c - b": {"mrr@k": few}}
    assert texts(list(paired_lines(head(pairs), 100)))[0] == (
        "differences, 95% intervals over 2 samples or 8 repositories; * zero is outside"
    )
    alone = {
        "a - b": {"selective_success": figures(1.0, None, None, unit="sample", count=1, state="NOT_RUN")}
    }
    assert texts(list(paired_lines(head(alone, "stratum:natural_no_gold"), 100)))[0] == (
        "differences (natural_no_gold); * zero is outside"
    )


def test_many_pairs_are_in_the_report() -> None:
    pairs = {f"a{number} - b": PAIRS["bm25:all - grep"] for number in range(20)}
    lines = texts(list(paired_lines(head(pairs), 80)))
    assert len(lines) == 15
    assert lines[-1] == "8 more pairs in the report"


def test_nothing_was_compared() -> None:
    assert list(paired_lines({"limit": 20, "paired": {}}, 80)) == []


@given(
    st.integers(50, 200),
    st.lists(st.text("abc", min_size=1, max_size=60), min_size=1, max_size=4, unique=True),
)
def test_no_line_is_wider_than_the_terminal(width: int, labels: list[str]) -> None:
    pairs = {f"{label} - grep": PAIRS["bm25:all - grep"] for label in labels}
    assert max(map(len, texts(list(paired_lines(head(pairs), width))))) <= width
