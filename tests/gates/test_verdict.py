"""Verdicts over small reports, each figure worked out by hand."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any

import jsonschema
import pytest

from pytest_retrieval.errors import GateError
from pytest_retrieval.gates.grammar import parse
from pytest_retrieval.gates.lines import further_lines
from pytest_retrieval.gates.loading import Comparing, Undecided
from pytest_retrieval.gates.rules import GateException, Rule
from pytest_retrieval.gates.verdict import Verdict, judge
from pytest_retrieval.report import schema
from pytest_retrieval.report.build import build
from tests.report.samples import SOURCE, answer, detail, header, no_gold, positive

# Three positives (hits 1, 1, 0; recall@5 1, 0.5, 0) and an answered sample without gold; "bad" always errs.
ERROR = answer(error="boom")
REFUSAL = answer(error="no changed_file", refused=True)
DETAILS = [
    detail(0, {"grep": (answer(), positive(1.0, 1.0)), "bad": (ERROR, positive(0.0, 0.0))}),
    detail(1, {"grep": (answer(), positive(0.5, 1.0)), "bad": (ERROR, positive(0.0, 0.0))}, partition="A"),
    detail(2, {"grep": (ERROR, positive(0.0, 0.0)), "bad": (ERROR, positive(0.0, 0.0))}),
    detail(
        3,
        {"grep": (answer(), no_gold(0.0)), "bad": (ERROR, no_gold(0.0))},
        stratum="natural_no_gold",
        task_type="abstention",
    ),
]


def head(details: list[dict[str, Any]] = DETAILS, **selection: Any) -> dict[str, Any]:
    """What a stored report says, without its details."""
    chosen = {"of": 9, "chosen": len(details), "lost": [], **selection}
    report = build(header("grep", "bad", selection=chosen), details)
    stored = json.loads(b"".join(report.chunks()))
    del stored["details"]
    return dict(stored)


def one(text: str, report: Mapping[str, Any]) -> Verdict:
    (verdict,) = judge(report, [parse(text)])
    return verdict


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("grep: recall@5 >= 0.5", "PASSED grep: recall@5 >= 0.5: got 0.5"),
        ("grep: R@5 > 0.9", "FAILED grep: recall@5 > 0.9: got 0.5"),
        # Wilson's intervals of 2 in 3 (0.20766-0.938508) and of 3 in 3 (0.438503-1), by scipy
        ("grep: hit@k.low >= 0.2", "PASSED grep: hit@k.low >= 0.2: got 0.20766"),
        ("grep: hit@k.high < 0.9", "FAILED grep: hit@k.high < 0.9: got 0.938508"),
        ("grep @ fold:A: hit@k != 0", "PASSED grep @ fold:A: hit@k != 0: got 1"),
        ("grep: errors == 0", "FAILED grep: errors == 0: got 1"),
        ("bad: errors <= 4", "PASSED bad: errors <= 4: got 4"),
        ("grep: hit@k.n == 3", "PASSED grep: hit@k.n == 3: got 3"),
        ("grep: selective_success.n == 4", "PASSED grep: selective_success.n == 4: got 4"),
        # What the sample with an error would do: recall 0.5 to 0.833333, hits 2 to 3.
        ("grep: R@5 > 0.5", "UNDECIDED grep: recall@5 > 0.5: got 0.5: 1 sample with an error decides"),
        ("grep: R@5 >= 0.84", "FAILED grep: recall@5 >= 0.84: got 0.5"),
        ("grep: R@5 <= 0.83", "UNDECIDED grep: recall@5 <= 0.83: got 0.5: 1 sample with an error decides"),
        ("grep: hit@k.low >= 0.4", "UNDECIDED grep: hit@k.low >= 0.4: got 0.20766: 1 sample with an error"),
        ("grep: hit@k.low >= 0.45", "FAILED grep: hit@k.low >= 0.45: got 0.20766"),
        ("grep: selective_success == 0.5", "UNDECIDED grep: selective_success == 0.5: got 0.5: 1 sample"),
        ("bad: recall@5 <= 1", "UNDECIDABLE bad: recall@5 <= 1: all 4 samples are errors"),
        ("grep @ fold:B: hit@k >= 0", "UNDECIDABLE grep @ fold:B: hit@k >= 0: no sample is in fold:B"),
        (
            "grep @ task:abstention: hit@k >= 0",
            "UNDECIDABLE grep @ task:abstention: hit@k >= 0: no sample has this figure",
        ),
        (
            "grep @ task:abstention: hit@k.low >= 0",
            "UNDECIDABLE grep @ task:abstention: hit@k.low >= 0: no sample has this figure",
        ),
        ("grep: mrr@k >= 0", "UNDECIDABLE grep: mrr@k >= 0: the report has no mrr@k here"),
    ],
)
def test_verdicts_in_one_line(text: str, line: str) -> None:
    verdict = one(text, head())
    assert str(verdict).startswith(line)
    assert "unit sample, on 4 of 9)" in str(verdict)
    assert verdict.holds == line.startswith(("PASSED", "UNDECIDED "))


def test_a_refusal_is_an_answer_and_no_fault() -> None:
    details = [*DETAILS[:2], detail(2, {"grep": (REFUSAL, positive(0.0, 0.0))})]
    assert one("grep: R@5 > 0.5", head(details)).status == "failed"


@pytest.mark.parametrize(("undecided", "fails"), [("warn", False), ("fail", True)])
def test_what_an_undecided_gate_does_is_a_policy(undecided: Undecided, fails: bool) -> None:
    (verdict,) = judge(head(), [parse("grep: R@5 > 0.5")], comparing=Comparing(undecided=undecided))
    assert (verdict.status, verdict.fails) == ("undecided", fails)


DAY = date(2027, 1, 31)


@pytest.mark.parametrize(
    ("text", "until", "status", "fails", "below"),
    [
        ("grep: errors == 0", None, "failed", False, ["excepted, the run may pass: known"]),
        ("grep: errors == 0", DAY, "failed", False, ["excepted, the run may pass: known (until 2027-01-31)"]),
        (
            "grep: errors == 0",
            date(2027, 1, 30),
            "failed",
            True,
            ["the exception has run out: known (until 2027-01-30)"],
        ),
        ("grep: errors == 1", None, "passed", False, []),
        ("bad: hit@k >= 0", None, "undecidable", True, []),
    ],
)
def test_an_excepted_gate_is_shown_and_does_not_fail(
    text: str, until: date | None, status: str, fails: bool, below: list[str]
) -> None:
    rule = Rule(parse(text), "a label", GateException("known", until))
    (verdict,) = judge(head(), [rule], day=DAY)
    assert (verdict.status, verdict.fails) == (status, fails)
    assert str(verdict).startswith(f"{status.upper()} a label: {text}: ")
    assert list(further_lines(verdict.record())) == below


LOST = {"source": SOURCE, "id": "s8", "ordinal": 0, "why": "interrupted"}


@pytest.mark.parametrize(
    "selection",
    [{"chosen": 5, "lost": [LOST]}, {"chosen": 5, "lost": []}],
    ids=["named", "not named"],
)
def test_a_lost_sample_makes_every_gate_undecidable(selection: dict[str, Any]) -> None:
    for text in ("grep: recall@5 >= 0", "grep: errors <= 100"):
        verdict = one(text, head(**selection))
        assert verdict.status == "undecidable"
        assert verdict.reason == "1 of 5 chosen samples were lost; run those again"
        assert not verdict.holds


def test_a_crashed_sample_is_lost() -> None:
    crashed = detail(4, {"grep": (ERROR, positive(0.0, 0.0))}, status="crashed")
    verdict = one("grep: recall@5 >= 0", head([*DETAILS, crashed]))
    assert verdict.reason == "1 of 5 chosen samples were lost; run those again"


def test_nothing_at_all_is_undecidable() -> None:
    assert one("grep: errors == 0", head([])).reason == "no sample has this figure"


@pytest.mark.parametrize("text", ["grpe: errors == 0", "grep: recal@5 >= 0", "grep @ fild:A: hit@k >= 0"])
def test_a_stored_report_is_judged_with_the_same_checks(text: str) -> None:
    with pytest.raises(GateError, match="did you mean"):
        one(text, head())


def test_records_fit_the_schema_and_the_report() -> None:
    texts = ["grep: recall@5 >= 0.5", "grep: errors == 0", "bad: recall@5 <= 1"]
    report = build(header("grep", "bad", selection={"of": 9, "chosen": 4, "lost": []}), DETAILS)
    verdicts = judge(report.head, [parse(text) for text in texts])
    stored = json.loads(b"".join(report.with_gates([v.record() for v in verdicts]).chunks()))
    jsonschema.Draft202012Validator(schema()).validate(stored)
    assert stored["gates"][0] == {
        "gate": "grep: recall@5 >= 0.5", "status": "passed", "fails": False, "expected": ">= 0.5",
        "got": 0.5, "n": 3, "unit": "sample", "repositories": 1, "chosen": 4, "of": 9,
    }  # fmt: skip
    assert "got" in stored["gates"][2]
    assert stored["gates"][2]["reason"] == "all 4 samples are errors"


# Of "bad" against "grep", without errors: hits -1, -1, 0; where nothing is to be found both answered, so 0.
CLEAN = [
    detail(0, {"grep": (answer(), positive(1.0, 1.0)), "bad": (answer(), positive(0.0, 0.0))}),
    detail(1, {"grep": (answer(), positive(0.5, 1.0)), "bad": (answer(), positive(0.0, 0.0))}, partition="A"),
    detail(2, {"grep": (answer(), positive(0.0, 0.0)), "bad": (answer(), positive(0.0, 0.0))}),
    detail(
        3,
        {"grep": (answer(), no_gold(0.0)), "bad": (answer(), no_gold(0.0))},
        stratum="natural_no_gold",
        task_type="abstention",
    ),
]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("bad - grep: hit@k >= -0.7", "PASSED bad - grep: hit@k >= -0.7: got -0.666667 (n 3, "),
        ("bad - grep: R@5 == -0.5", "PASSED bad - grep: recall@5 == -0.5: got -0.5 (n 3, "),
        (
            "bad - grep @ stratum:natural_no_gold: selective_success > 0",
            "FAILED bad - grep @ stratum:natural_no_gold: selective_success > 0: got 0 (n 1, ",
        ),
        (
            "bad - grep @ fold:A: hit@k.low >= 0",
            "UNDECIDABLE bad - grep @ fold:A: hit@k.low >= 0: one sample alone has no interval (n 1, ",
        ),
        (
            "bad - grep @ fold:B: hit@k >= 0",
            "UNDECIDABLE bad - grep @ fold:B: hit@k >= 0: no sample of fold:B was compared (n 0, ",
        ),
        (
            "grep - bad: hit@k >= 0",
            "UNDECIDABLE grep - bad: hit@k >= 0: no sample of all was compared (n 0, ",
        ),
    ],
)
def test_verdicts_on_two_arms(text: str, line: str) -> None:
    assert str(one(text, head(CLEAN))).startswith(line)


def test_the_unit_of_a_difference_is_named_and_what_it_speaks_of() -> None:
    assert str(one("bad - grep: hit@k < 0", head(CLEAN))).endswith(
        "(n 3, unit sample, speaks of this repository alone, on 4 of 9)"
    )
    apart = [
        detail(
            place,
            {"a": (answer(), positive(1.0, 1.0)), "b": (answer(), positive(0.0, 0.0))},
            repo=f"r/{place}",
        )
        for place in range(5)
    ]
    report = build(header("b", "a", of=5, chosen=5, pairs=[("a", "b")]), apart).head
    (verdict,) = judge(report, [parse("a - b: hit@k.low > 0.4")])
    assert str(verdict) == (
        "PASSED a - b: hit@k.low > 0.4: got 1 (n 5, unit repository, 5 repositories, on 5 of 5)"
    )


def test_equal_differences_of_a_few_are_not_believed() -> None:
    arms = {"a": (answer(), positive(1.0, 1.0)), "b": (answer(), positive(0.0, 0.0))}

    def found(count: int, text: str) -> Verdict:
        details = [detail(place, arms) for place in range(count)]
        return one(text, build(header("b", "a", of=count, chosen=count, pairs=[("a", "b")]), details).head)

    # Five samples that say the same leave room for 52.2 % that do not, 345 for 1.06 %.
    assert found(5, "a - b: hit@k.low > 0.47").status == "passed"
    assert found(5, "a - b: hit@k.low > 0.48").status == "undecided"
    assert "all 5 samples say the same, and may hide others that differ (0.522 of all)" in str(
        found(5, "a - b: hit@k.low > 0.48")
    )
    assert found(345, "a - b: hit@k.low > 0.98").status == "passed"
    assert found(345, "b - a: hit@k.low > -0.98").status == "undecidable"  # no such pair

    # One win of seven leaves room for 41 % of losses, one of 345 for 1.06 %: no resample of wins shows that.
    def lone(count: int, text: str) -> Verdict:
        equal = {"a": arms["a"], "b": arms["a"]}
        details = [detail(place, equal if place else arms) for place in range(count)]
        return one(text, build(header("b", "a", of=count, chosen=count, pairs=[("a", "b")]), details).head)

    assert lone(7, "a - b: hit@k.low >= -0.26").status == "undecided"
    assert "7 samples may hide others that differ (0.41 of all)" in str(lone(7, "a - b: hit@k.low >= -0.26"))
    assert lone(7, "a - b: hit@k.low >= -0.27").status == "passed"
    assert lone(345, "a - b: hit@k.low >= -0.05").status == "passed"
    few = found(4, "a - b: hit@k.low > 0")
    assert (few.status, few.reason) == ("undecided", "4 samples are too few for a verdict, which takes 5")


def test_faults_of_either_arm_may_decide_a_difference() -> None:
    # shaky errs on two of three, grep on one: the difference of hits is between -0.333333 and 0.666667.
    shaky = [
        {"shaky": (answer(ranked=["a.c"]) if row == 1 else ERROR, positive(row == 1, row == 1))}
        for row in range(3)
    ]
    details = [
        detail(row, {"grep": (ERROR if row == 1 else answer(), positive(row == 0, row == 0)), **arms})
        for row, arms in enumerate(shaky)
    ]
    report = build(header("grep", "shaky", of=3, chosen=3, pairs=[("shaky", "grep")]), details).head
    assert one("shaky - grep: hit@k >= -0.34", report).status == "passed"
    undecided = one("shaky - grep: hit@k < 0", report)
    assert (undecided.status, undecided.reason) == ("undecided", "3 samples with an error decide")


def test_a_difference_with_an_arm_that_only_errs_is_undecidable() -> None:
    # From the summaries, and of a figure that these do not have, from the samples.
    report = build(header("grep", "bad", of=4, chosen=4, pairs=[("bad", "grep")]), DETAILS)
    for text in ("bad - grep: hit@k >= -1", "bad - grep: hit@k.p50 >= -1"):
        (found,) = judge(report.head, [parse(text)], details=report.details)
        assert (found.status, found.reason) == ("undecidable", "bad: all 4 samples are errors"), text


# Figures that no summary has come from the samples.
FIVE = [
    detail(
        row,
        {"grep": (answer(ranked=["x", "a.c"] if row else ["a.c"]), positive(row / 4, 1.0))},
        repo="acme/ring" if row < 3 else "acme/bell",
        partition="A" if row < 2 else "B",
    )
    for row in range(5)
]


@pytest.mark.parametrize(
    ("text", "got", "n"),
    [
        ("grep @ repo:acme/ring: recall@5 == 0.25", 0.25, 3),  # 0, 1/4, 1/2
        ("grep @ task:code2test/fold:B: recall@5 == 0.75", 0.75, 3),  # 1/2, 3/4, 1
        ("grep: recall@5.p50 == 0.5", 0.5, 5),
        ("grep: recall@5.p95 == 1", 1.0, 5),
        ("grep @ repo:acme/bell: errors == 0", 0.0, 2),
        ("grep @ repo:acme/bell: hit@k.n == 2", 2.0, 2),
        ("grep: hit@1 == 0.2", 0.2, 5),  # the first answer of one in five
        ("grep: mrr@2 == 0.6", 0.6, 5),
        # Wilson's interval of 2 in 2, by scipy: 0.34238-1
        ("grep @ repo:acme/bell: hit@k.low >= 0.34238", 0.34238, 2),
    ],
)
def test_figures_that_no_summary_has(text: str, got: float, n: int) -> None:
    report = build(header("grep", of=5, chosen=5), FIVE)
    (verdict,) = judge(report.head, [parse(text)], details=report.details)
    assert (verdict.status, verdict.record()["got"], verdict.record()["n"]) == ("passed", got, n)


def test_the_interval_of_a_mean_is_over_the_unit() -> None:
    report = build(header("grep", of=5, chosen=5), FIVE)
    low, high = judge(
        report.head,
        [parse("grep: recall@5.low > 0"), parse("grep: recall@5.high < 1")],
        details=report.details,
    )
    assert low.record()["unit"] == "sample"
    assert 0 < low.record()["got"] < 0.5 < high.record()["got"] < 1
    assert "speaks of these 2 repositories alone" in str(low)


def test_summaries_alone_draw_no_sample() -> None:
    report = build(header("grep", of=5, chosen=5), FIVE)

    def drawn() -> Iterator[Mapping[str, Any]]:
        raise AssertionError("a gate on a summary needs no sample")

    for text in ("grep: recall@5 >= 0", "grep @ fold:none: recall@5 >= 0", "grep: errors == 0"):
        judge(report.head, [parse(text)], details=drawn)


def test_what_no_pair_of_the_report_says_comes_from_the_samples() -> None:
    arms = [
        {
            "git": (answer(), {**positive(1.0, 1.0), "chunk_recall@10": float(row % 2)}),
            "rg": (answer(), {**positive(1.0, 1.0), "chunk_recall@10": 0.0}),
        }
        for row in range(10)
    ]
    details = [detail(row, found, repo=f"acme/r{row % 5}") for row, found in enumerate(arms)]
    report = build(header("git", "rg", of=10, chosen=10), details)
    gates = [
        "git - rg: chunk recall@10 == 0.5",
        "git - rg: chunk recall@10.low > 0",
        "git - rg: cb_line_coverage > 0",
    ]
    mean, low, none = judge(report.head, [parse(text) for text in gates], details=report.details)
    assert (mean.status, mean.record()["got"], mean.record()["n"]) == ("passed", 0.5, 10)
    assert (low.status, low.record()["unit"], low.record()["units"]) == ("passed", "repository", 5)
    assert (none.status, none.reason) == ("undecidable", "no sample of all was compared")


@pytest.mark.parametrize(("samples", "status"), [(10, "undecided"), (20, "passed")])
def test_equal_differences_of_a_count_may_hide_as_much_as_a_sample_has(samples: int, status: str) -> None:
    # Ten samples may hide 30.8 %, twenty 16.8 %: times five hard negatives, 1.54 and 0.84.
    found = {label: (answer(), positive(1.0, 1.0, **{"hard_negative_hits@k": own})) for label, own in HARD}
    details = [detail(row, found, repo=f"acme/r{row % 5}") for row in range(samples)]
    report = build(header("a", "b", of=samples, chosen=samples), details)
    gate = parse("a - b: hard_negative_hits@k.high < 0")
    (verdict,) = judge(report.head, [gate], details=report.details)
    assert verdict.status == status


@pytest.mark.parametrize("pairs", [[], [("a", "b")]], ids=["from samples", "in the report"])
def test_a_pair_that_the_report_has_is_judged_as_one_that_it_lacks(pairs: list[tuple[str, str]]) -> None:
    # 60 samples may hide 5.96 %: times 2, the largest value, 0.12 above the mean of 2/3; times 50 it were 3.
    def found(row: int) -> dict[str, Any]:
        wasted = (("a", 2.0 if row % 3 else 1.0), ("b", 1.0))
        return {label: (answer(), positive(1.0, 1.0, **{"wasted@k": own})) for label, own in wasted}

    details = [detail(row, found(row), repo=f"acme/r{row % 5}") for row in range(60)]
    report = build(header("a", "b", of=60, chosen=60, measures=["wasted@k"], pairs=pairs), details)
    assert ("a - b" in report.head["paired"]["all"]) is bool(pairs)  # by default it is b - a
    (verdict,) = judge(report.head, [parse("a - b: wasted@k.high <= 1")], details=report.details)
    assert verdict.status == "passed"


HARD = (("a", 4.0), ("b", 5.0))
TIMED = [detail(row, {"grep": (answer(wall_ms=row + 1.0), positive(1.0, 1.0))}) for row in range(40)]


@pytest.mark.parametrize(
    ("text", "environment", "line"),
    [
        ("grep: wall_ms.p50 <= 20", {}, "PASSED grep: wall_ms.p50 <= 20: got 20 (n 40, unit query, "),
        ("grep: wall_ms.p95 < 38", {}, "FAILED grep: wall_ms.p95 < 38: got 38 (n 40, unit query, "),
        (
            "grep: wall_ms.p95 < 99",
            {"contended": True},
            "UNDECIDABLE grep: wall_ms.p95 < 99: times under more than one worker gate nothing",
        ),
        ("grep: build_ms.p50 < 9", {}, "UNDECIDABLE grep: build_ms.p50 < 9: 0 times are too few"),
    ],
)
def test_times(text: str, environment: dict[str, Any], line: str) -> None:
    report = build(header("grep", of=40, chosen=40, environment=environment), TIMED).head
    assert str(judge(report, [parse(text)])[0]).startswith(line)


def test_times_of_a_group_are_those_of_its_samples() -> None:
    folds = [{**one, "partition": "A" if number < 30 else "B"} for number, one in enumerate(TIMED)]
    folds[0] = {**folds[0], "arms": {"grep": answer(error="boom", wall_ms=900.0)}}
    folds.append({**folds[29], "id": "more", "row": 40})  # times of 2 to 30, and 30 again
    report = build(header("grep", of=41, chosen=41), folds)
    gates = [parse(f"grep @ fold:{fold}: wall_ms.p50 <= 16") for fold in "AB"]
    found, few = judge(report.head, gates, details=report.details)
    assert str(found).startswith("PASSED grep @ fold:A: wall_ms.p50 <= 16: got 16 (n 30, unit query, ")
    assert str(few).startswith("UNDECIDABLE grep @ fold:B: wall_ms.p50 <= 16: 10 times are too few")
    assert judge(report.head, gates[:1])[0].status == "undecidable"  # a head has no times of groups
