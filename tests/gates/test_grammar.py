"""Gates as text."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_retrieval.errors import GateError
from pytest_retrieval.gates.grammar import OPERATORS, Gate, check, parse
from pytest_retrieval.gates.sets import expand

LABELS = st.from_regex(r"[A-Za-z0-9_.+:-]+", fullmatch=True)
GROUPS = st.just("all") | st.builds(
    "{}:{}".format,
    st.sampled_from(["task", "stratum", "fold"]),
    st.text(st.characters(categories=["L", "N", "P", "S"], exclude_characters="<>=!"), min_size=1),
)
GATES = st.builds(
    Gate,
    arm=LABELS,
    measure=st.sampled_from(["recall@10", "mrr@k", "hit@k", "abstained", "errors", "R@5"]),
    comparison=st.sampled_from(sorted(OPERATORS)),
    number=st.floats(allow_nan=False, allow_infinity=False).map(lambda number: number + 0.0),
    group=GROUPS,
    end=st.sampled_from(["", "low", "high"]),
    against=st.just(""),
)
PAIRS = st.tuples(GATES, LABELS).filter(lambda both: both[0].arm != both[1])


@given(GATES)
def test_the_text_of_a_gate_parses_back_to_it(gate: Gate) -> None:
    assert parse(str(gate)) == gate


@given(PAIRS)
def test_the_text_of_a_gate_on_two_arms_parses_back_to_it(both: tuple[Gate, str]) -> None:
    gate = replace(both[0], against=both[1])
    assert parse(str(gate)) == gate


@given(GATES, st.sampled_from(["", " ", "\t "]))
def test_blanks_are_free(gate: Gate, blank: str) -> None:
    group = f"{blank}@{blank}{gate.group}"
    end = f".{gate.end}" if gate.end else ""
    number = gate.expected.removeprefix(gate.comparison).strip()
    text = (
        f"{blank}{gate.arm}{group}{blank}:{blank}{gate.measure}{end}{blank}{gate.comparison}{blank}{number}"
    )
    assert parse(text) == gate


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
    ],
)
def test_what_users_write(text: str, gate: Gate) -> None:
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
        ("grep @: mrr@k >= 0.4", "a group must follow the @"),
        ("grep: >= 0.4", "'' is no measure"),
        ("grep: mrr@k >= 0.1 >= 0.4", "is no measure"),
        ("grep: hit@k.median >= 0.4", "'hit@k.median' is no measure"),
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
    assert "ARM [- ARM] [@ GROUP]: MEASURE[.low|.high] OP NUMBER" in str(caught.value)
    assert "\n" not in str(caught.value)


@given(st.text())
def test_any_text_parses_or_is_refused_in_one_line(text: str) -> None:
    try:
        assert parse(str(parse(text))) == parse(text)
    except GateError as error:
        assert len(str(error).splitlines()) == 1


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
        ("grep: recall@10.low >= 0.4", "recall@10 has no interval; hit@k and selective_success have"),
        ("grep: errors.low >= 0.4", "errors has no interval"),
    ],
)
def test_names_that_the_run_does_not_have(text: str, why: str) -> None:
    with pytest.raises(GateError) as caught:
        check(parse(text), arms=ARMS, groups=KNOWN_GROUPS, limit=20)
    assert why in str(caught.value)
    assert "\n" not in str(caught.value)


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
        ("grep - bm25:all: precision@k > 0", "no paired measure 'precision@k' here; known are recall@5"),
        ("grep - bm25:all: errors == 0", "no paired measure 'errors'"),
        ("grep - bm25:all @ stratum:natural_no_gold: hit@k > 0", "known are selective_success"),
    ],
)
def test_what_no_pair_can_be_held_to(text: str, why: str) -> None:
    with pytest.raises(GateError) as caught:
        check(parse(text), arms=["grep", "bm25:all"], groups=None, limit=20)
    assert why in str(caught.value)


def test_the_kill_criterion_is_less_confident_error_at_success_that_is_not_inferior() -> None:
    assert [str(gate) for gate in expand(" kill-criterion( context , bm25:all )")] == [
        "context - bm25:all @ stratum:natural_no_gold: selective_success.low > 0",
        "context - bm25:all: hit@k.low >= -0.05",
    ]
    assert expand("grep: errors == 0") == (parse("grep: errors == 0"),)
    with pytest.raises(GateError, match="no set of gates 'kill-criterium'; did you mean 'kill-criterion'"):
        expand("kill-criterium(a, b)")
