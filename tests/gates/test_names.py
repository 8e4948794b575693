"""What gates may name: arms, groups and measures that a run or a report has."""

from __future__ import annotations

import pytest

from pytest_retrieval.errors import GateError
from pytest_retrieval.gates.grammar import parse
from pytest_retrieval.gates.names import check

ARMS = ("grep", "bm25:all")
KNOWN_GROUPS = ("all", "task:code2test", "fold:A")


@pytest.mark.parametrize(
    ("text", "resolved"),
    [
        ("grep: R@10 >= 0.4", "grep: recall@10 >= 0.4"),
        ("grep: MRR >= 0.4", "grep: mrr@k >= 0.4"),
        ("grep: Success@20.low >= 0.4", "grep: hit@k.low >= 0.4"),
        ("bm25:all @ fold:A: errors == 0", "bm25:all @ fold:A: errors == 0"),
        ("grep: selective_success.high < 1", "grep: selective_success.high < 1"),
        ("grep: recall@10.low >= 0.4", "grep: recall@10.low >= 0.4"),
        ("grep: file R@10 >= 0.4", "grep: recall@10 >= 0.4"),
        ("grep: chunk R@10 >= 0.4", "grep: chunk_recall@10 >= 0.4"),
        ("grep: chunk RR@20 >= 0.4", "grep: chunk_mrr@20 >= 0.4"),
        ("grep: chunk nDCG@10 >= 0.4", "grep: ndcg@10 >= 0.4"),
        ("grep: chunk zero_miss <= 0.4", "grep: chunk_zero_miss <= 0.4"),
        ("grep: wide2 recall@10 >= 0.4", "grep: wide2_recall@10 >= 0.4"),
        ("grep: tokens@10 <= 2000", "grep: tokens@10 <= 2000"),
        ("grep: chunk tokens@10.p95 <= 4000", "grep: tokens@10.p95 <= 4000"),
        ("grep: wide3 tokens@10 <= 2000", "grep: wide3_tokens@10 <= 2000"),
        ("no_regression(grep, tokens@10, 100)", "no_regression(grep, tokens@10, 100)"),
        ("grep @ fold:A: wall_ms.p95 <= 400", "grep @ fold:A: wall_ms.p95 <= 400"),
        ("grep: nDCG@10 >= 0.4", "grep: ndcg@10 >= 0.4"),
        ("grep: wall_ms.p95 <= 400", "grep: wall_ms.p95 <= 400"),
        ("grep @ task:code2test/fold:A: RR > 0", "grep @ task:code2test/fold:A: mrr@k > 0"),
        ("grep @ repo:whatever: RR > 0", "grep @ repo:whatever: mrr@k > 0"),
        ("grep - bm25:all: P@5.p50 > 0", "grep - bm25:all: p@5.p50 > 0"),
        ("no_regression(grep, R@10, 0)", "no_regression(grep, recall@10, 0)"),
        ("lost(grep, Success@5) <= 0", "lost(grep, hit@5) <= 0"),
    ],
)
def test_measures_get_the_name_of_the_report(text: str, resolved: str) -> None:
    assert str(check(parse(text), arms=ARMS, groups=KNOWN_GROUPS, limit=20)) == resolved


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("grpe: mrr@k >= 0.4", "no arm 'grpe' here; did you mean 'grep'?; known are grep, bm25:all"),
        ("bm25: all >= 0.4", "no arm 'bm25' here"),
        (
            "grep @ task:code2tset: mrr@k >= 0.4",
            "no group 'task:code2tset' here; did you mean 'task:code2test'?",
        ),
        ("grep: recal@10 >= 0.4", "did you mean 'recall@10'?"),
        ("grep: error == 0", "did you mean 'errors'?"),
        ("grep: errors.low >= 0.4", "errors is one number and has no interval"),
        ("grep: errors.p50 >= 0.4", "errors is one number and has no quantiles"),
        (
            "grep: hit@k.median >= 0.4",
            "hit@k has no 'median'; did you mean 'mean'?; known are mean, low, high",
        ),
        ("grep: chunk mrr@10 >= 0.4", "no measure 'chunk mrr@10'; did you mean 'chunk mrr@20'?"),
        ("grep @ task:code2test/fold:C: RR > 0", "no group 'task:code2test/fold:C' here"),
        ("grep: wall_ms <= 400", "of times only wall_ms.p50 and .p95 say something"),
        ("grep: wall_ms.p95 <= baseline * 1.1", "times of two runs tell of two machines"),
        ("no_regression(grep, errors, 0)", "no sample by itself has errors"),
        ("no_regression(grep, abstained, 0)", "more abstained is neither better nor worse"),
        ("no_regression(rg, hit@k, 0)", "no arm 'rg' here"),
        ("lost(grep, recall@10) <= 0", "lost() counts queries; it takes hit@5"),
        ("no_regression(grep, R@10, 2)", "nobody can lose 1 or more of recall@10; write 0.02 for 2 %"),
        ("grep: p95 <= 400", "unknown measure 'p95'"),
        (
            "grep: latency_p50 <= 200",
            "'latency_p50'; times are wall_ms.p50, wall_ms.p95, build_ms.p50, build_ms.p95",
        ),
        ("grep: p95_ms <= 200", "times are wall_ms.p50"),
        ("grep-bm25:all: RR > 0", "no arm 'grep-bm25:all' here; for the difference write 'grep - bm25:all'"),
    ],
)
def test_names_that_the_run_does_not_have(text: str, why: str) -> None:
    with pytest.raises(GateError) as caught:
        check(parse(text), arms=ARMS, groups=KNOWN_GROUPS, limit=20)
    assert why in str(caught.value)
    assert "\n" not in str(caught.value)


def test_of_what_is_counted_more_than_one_can_be_lost() -> None:
    gate = parse("no_regression(grep, hard_negative_hits@k, 1.5)")
    assert check(gate, arms=ARMS, groups=None, limit=20) == gate


def test_a_recall_beyond_the_limit_is_refused() -> None:
    with pytest.raises(GateError, match="recall@20"):
        check(parse("grep: recall@20 >= 0.4"), arms=ARMS, groups=None, limit=10)


def test_kinds_of_groups_are_checked_before_the_groups_are_known() -> None:
    gate = parse("grep @ tsak:code2test: mrr@k >= 0.4")
    with pytest.raises(GateError, match=r"no kind of group 'tsak' here; did you mean 'task'\?"):
        check(gate, arms=ARMS, groups=None, limit=20)
    check(parse("grep @ task:anything: mrr@k >= 0.4"), arms=ARMS, groups=None, limit=20)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("grep - rg: mrr@k > 0", "no arm 'rg' here"),
        ("grep - bm25:all: wall_ms.p50 > 0", "no paired measure 'wall_ms'"),
        ("grep - bm25:all: errors == 0", "no paired measure 'errors'"),
        ("grep - bm25:all @ stratum:natural_no_gold: hit@k > 0", "known are selective_success"),
    ],
)
def test_what_no_pair_can_be_held_to(text: str, why: str) -> None:
    with pytest.raises(GateError) as caught:
        check(parse(text), arms=["grep", "bm25:all"], groups=None, limit=20)
    assert why in str(caught.value)


def test_a_users_own_measure_is_known_where_it_is_offered() -> None:
    gate = parse("grep: novelty >= 0.4")
    assert str(check(gate, arms=ARMS, groups=None, limit=20, own=("novelty@k",))) == "grep: novelty@k >= 0.4"
    with pytest.raises(GateError, match="unknown measure 'novelty'"):
        check(gate, arms=ARMS, groups=None, limit=20)


def test_of_a_users_own_measure_it_must_be_told_which_way_is_better() -> None:
    own = ("wasted@k", "ndcg@10")

    def named(measure: str) -> str:
        gate = parse(f"no_regression(grep, {measure}, 0.1)")
        return str(check(gate, arms=ARMS, groups=None, limit=20, own=own))

    assert named("-wasted") == "no_regression(grep, -wasted@k, 0.1)"
    assert named("+wasted@k") == "no_regression(grep, +wasted@k, 0.1)"
    assert named("nDCG@10") == "no_regression(grep, ndcg@10, 0.1)"
    with pytest.raises(GateError, match=r"more or less wasted@k is better is not known: write \+wasted@k or"):
        named("wasted")
    with pytest.raises(GateError, match="which way ndcg@10 is better; leave out '-'"):
        named("-nDCG@10")


@pytest.mark.parametrize(
    "text",
    [
        "grep: success.low >= 0.4",
        "grep @ kind:change: mean_f1 > 0",
        "grep: wall_ms <= 1000",
        "no_regression(grep, success, 0.1)",
        "lost(grep, success) <= 0",
    ],
)
def test_figures_of_a_trial(text: str) -> None:
    assert str(check(parse(text), arms=ARMS, groups=None, limit=20, trial=True)) == text


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("grep: recall@5 > 0", "no figure of a trial 'recall@5' here"),
        ("grep: sucess > 0", "did you mean 'success'?"),
        ("grep: chunk success > 0", "a trial has no chunk"),
        ("grep: tool_calls.low > 0", "tool_calls is one number and has no interval"),
        ("no_regression(grep, tool_calls, 1)", "no sample by itself has tool_calls"),
        ("lost(grep, mean_f1) <= 0", "lost() counts queries"),
    ],
)
def test_what_a_trial_does_not_have(text: str, why: str) -> None:
    with pytest.raises(GateError) as caught:
        check(parse(text), arms=ARMS, groups=None, limit=20, trial=True)
    assert why in str(caught.value)
