"""Gates as text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_retrieval.errors import GateError
from pytest_retrieval.gates.grammar import (
    GRANULARITIES,
    OPERATORS,
    STATISTICS,
    Better,
    Condition,
    Gate,
    Lost,
    NoRegression,
    parse,
)

LABELS = st.from_regex(r"[A-Za-z0-9_.+:-]+", fullmatch=True)
GROUPS = st.just("all") | st.builds(
    "{}:{}".format,
    st.sampled_from(["task", "stratum", "fold"]),
    st.text(st.characters(categories=["L", "N", "P", "S"], exclude_characters="<>=!"), min_size=1),
)
MEASURES = st.sampled_from(
    ["recall@10", "mrr@k", "hit@k", "abstained", "errors", "R@5", "F0.5@5", "SetF(beta=0.5)"]
)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False).map(lambda number: number + 0.0)
TARGETS = (
    st.tuples(st.just(""), NUMBERS)
    | st.tuples(st.just("+"), NUMBERS)
    | st.tuples(st.just("*"), NUMBERS.map(abs))
)
GRANULAR = st.sampled_from(["", *GRANULARITIES])
GATES = st.builds(
    lambda arms, measure, comparison, target, group, end, granularity: Gate(
        arms[0], measure, comparison, target[1], group, end, arms[1], target[0], granularity
    ),
    st.tuples(LABELS, LABELS | st.just("")).filter(lambda arms: arms[0] != arms[1]),
    MEASURES,
    st.sampled_from(sorted(OPERATORS)),
    TARGETS,
    GROUPS,
    st.sampled_from(["", *STATISTICS[1:]]),
    GRANULAR,
)
SIGNS: st.SearchStrategy[Better] = st.sampled_from(["", "+", "-"])
REGRESSIONS = st.builds(NoRegression, LABELS, MEASURES, NUMBERS.map(abs), GROUPS, GRANULAR, better=SIGNS)
LOSSES = st.builds(Lost, LABELS, MEASURES, st.sampled_from(sorted(OPERATORS)), NUMBERS, GROUPS, GRANULAR)


@given(GATES | REGRESSIONS | LOSSES)
def test_the_text_of_a_gate_parses_back_to_it(gate: Condition) -> None:
    assert parse(str(gate)) == gate


@given(GATES, st.sampled_from(["", " ", "\t "]))
def test_blanks_are_free(gate: Gate, blank: str) -> None:
    arms = f"{gate.arm} - {gate.against}" if gate.against else gate.arm
    measure = f"{gate.granularity} {gate.measure}" if gate.granularity else gate.measure
    parts = (
        arms,
        "@",
        gate.group,
        ":",
        measure + (f".{gate.end}" if gate.end else ""),
        *gate.expected.split(),
    )
    relation, number = parts[5], " ".join(parts[6:])
    assert parse(blank.join(("", *parts[:5], relation, number, ""))) == gate


@pytest.mark.parametrize(
    ("text", "gate"),
    [
        ("bm25:all: recall@10 >= 0.4", Gate("bm25:all", "recall@10", ">=", 0.4)),
        ("bm25:all @ fold:A: mrr@k >= 0.2", Gate("bm25:all", "mrr@k", ">=", 0.2, group="fold:A")),
        (
            "grep @ task:code2test: hit@k.low >= .3",
            Gate("grep", "hit@k", ">=", 0.3, group="task:code2test", end="low"),
        ),
        ("grep:errors==0", Gate("grep", "errors", "==", 0)),
        ("grep: errors <= 1e1", Gate("grep", "errors", "<=", 10)),
        ("grep: mrr@k > -0", Gate("grep", "mrr@k", ">", 0)),
        ("grep @ task:a>b: mrr@k != +1.", Gate("grep", "mrr@k", "!=", 1, group="task:a>b")),
        ("grep @ all: hit@k < 1", Gate("grep", "hit@k", "<", 1)),
        ("a-b - c-d: mrr@k.low > 0", Gate("a-b", "mrr@k", ">", 0, end="low", against="c-d")),
        (
            "bm25:all - grep @ task:a/fold:B: hit@k >= -0.05",
            Gate("bm25:all", "hit@k", ">=", -0.05, group="task:a/fold:B", against="grep"),
        ),
        ("grep: chunk recall@10.mean>=.5", Gate("grep", "recall@10", ">=", 0.5, granularity="chunk")),
        ("grep: wide2 R@10.n > 9", Gate("grep", "R@10", ">", 9, end="n", granularity="wide2")),
        ("grep: wall_ms.p95 <= 500", Gate("grep", "wall_ms", "<=", 500, end="p95")),
        ("grep: F0.5.low > .2", Gate("grep", "F0.5", ">", 0.2, end="low")),
        ("grep: mrr@k >= baseline", Gate("grep", "mrr@k", ">=", 0, relative="+")),
        ("grep: mrr@k >= baseline-0.02", Gate("grep", "mrr@k", ">=", -0.02, relative="+")),
        ("grep: mrr@k >= baseline + .02", Gate("grep", "mrr@k", ">=", 0.02, relative="+")),
        ("grep: errors <= baseline * 1.1", Gate("grep", "errors", "<=", 1.1, relative="*")),
        ("no_regression(bm25:all, recall@10, 0.02)", NoRegression("bm25:all", "recall@10", 0.02)),
        (
            " no_regression ( grep @ repo:a/b , chunk R@10 , 0 ) ",
            NoRegression("grep", "R@10", 0, "repo:a/b", "chunk"),
        ),
        ("no_regression(grep, - wasted, 0.1)", NoRegression("grep", "wasted", 0.1, better="-")),
        ("no_regression(grep @ task:a, b, RR, 1)", NoRegression("grep", "RR", 1, "task:a, b")),
        ("lost(bm25:all, hit@5) <= 0", Lost("bm25:all", "hit@5", "<=", 0)),
        ("lost(grep @ fold:A, Success@5)<3", Lost("grep", "Success@5", "<", 3, "fold:A")),
    ],
)
def test_what_users_write(text: str, gate: Condition) -> None:
    assert parse(text) == gate


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "must stand between the measure and the number"),
        ("grep: mrr@k", "must stand between the measure and the number"),
        ("grep: mrr@k = 0.4", "one of >= > <= < == != must stand"),
        ("grep: mrr@k => 0.4", "one of >= > <= < == != must stand"),
        ("mrr@k >= 0.4", "an arm and a colon must come first"),
        ("grep - : mrr@k >= 0.4", "is no label of"),
        ("grep - grep: mrr@k >= 0.4", "'grep' is no label of another arm"),
        (": mrr@k >= 0.4", "an arm and a colon must come first"),
        ("my arm: mrr@k >= 0.4", "'my arm' is no label of an arm"),
        ("grep: hit@k @ fold:A >= 0.4", "a group stands before the colon, as in grep @ GROUP: MEASURE"),
        ("grep @: mrr@k >= 0.4", "a group must follow the @"),
        ("grep: >= 0.4", "'' is no measure"),
        ("grep: mrr@k >= 0.1 >= 0.4", "is no measure"),
        ("grep: chunky recall@10 >= 0.4", "'chunky recall@10' is no measure"),
        ("grep: mrr@k >= base", "'base' is no plain number"),
        ("grep: mrr@k >= baseline 0.02", "'baseline 0.02' is no plain number"),
        ("grep: mrr@k >= baseline - -0.02", "is no plain number"),
        ("grep: mrr@k >= baseline * -2", "is no plain number"),
        ("grep: mrr@k >= 40%", "'40%' is no plain number such as 0.4"),
        ("grep: mrr@k >= nan", "'nan' is no plain number"),
        ("grep: mrr@k >= inf", "'inf' is no plain number"),
        ("grep: mrr@k >= 1_000", "'1_000' is no plain number"),
        ("grep: mrr@k >= \u0663", "is no plain number"),
        ("grep: mrr@k >= 1e999", "'1e999' is too large"),
        ("grep: mrr@k >=", "'' is no plain number"),
    ],
)
def test_what_is_no_gate_is_refused_in_one_line(text: str, why: str) -> None:
    with pytest.raises(GateError) as caught:
        parse(text)
    assert why in str(caught.value)
    assert str(caught.value).startswith(f"gate {text!r}: ")
    assert "ARM [- ARM] [@ GROUP]: [GRANULARITY] MEASURE[.STAT] OP TARGET" in str(caught.value)
    assert "\n" not in str(caught.value)


@given(st.text())
def test_any_text_parses_or_is_refused_in_one_line(text: str) -> None:
    try:
        assert parse(str(parse(text))) == parse(text)
    except GateError as error:
        assert len(str(error).splitlines()) == 1


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("no_regression(grep, hit@k)", "no_regression takes three things"),
        ("no_regression(grep, hit@k, 0.02", "the parenthesis is not closed"),
        ("no_regression(grep, hit@k, -0.02)", "the margin is how much may be lost, from 0 on"),
        ("no_regression(grep, hit@k, 2%)", "'2%' is no plain number"),
        ("no_regression(grep, hit@k, 0.02) >= 0", "'>= 0' follows it; nothing may"),
        ("no_regression(my arm, hit@k, 0.02)", "'my arm' is no label of an arm"),
        ("no_regression(grep, hit k, 0.02)", "'hit k' is no measure"),
        ("lost(grep) <= 0", "lost takes an arm and a measure"),
        ("lost(grep, hit@5)", "one of >= > <= < == != must stand"),
        ("lost(grep, hit@5) of 3 <= 0", "'of 3' stands before the comparison"),
        ("lost(grep, hit@5) <= baseline", "'baseline' is no plain number"),
    ],
)
def test_calls_that_are_no_gates(text: str, why: str) -> None:
    with pytest.raises(GateError) as caught:
        parse(text)
    assert why in str(caught.value)
    assert f"(the form is: {text.partition('(')[0]}(ARM [@ GROUP], MEASURE" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "baseline", "value", "holds"),
    [
        ("g: R@5 >= baseline", 0.5, 0.5, True),
        ("g: R@5 >= baseline - 0.02", 0.5, 0.48, True),
        ("g: R@5 >= baseline - 0.02", 0.5, 0.479999, False),
        # 0.1 + 0.2 is no 0.3 in doubles; to six decimals it is.
        ("g: R@5 <= baseline + 0.2", 0.1, 0.3, True),
        ("g: R@5 >= baseline * 1.1", 0.5, 0.55, True),
        ("g: R@5 > baseline * 1.1", 0.5, 0.55, False),
    ],
)
def test_targets_that_are_relative(text: str, baseline: float, value: float, holds: bool) -> None:
    gate = parse(text)
    assert isinstance(gate, Gate)
    assert gate.holds(value, baseline) is holds
