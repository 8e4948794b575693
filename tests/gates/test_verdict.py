"""Verdicts over small reports, each figure worked out by hand."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

from pytest_retrieval.errors import GateError
from pytest_retrieval.gates.grammar import parse
from pytest_retrieval.gates.verdict import Verdict, judge
from pytest_retrieval.report import schema
from pytest_retrieval.report.build import build
from tests.report.samples import SOURCE, answer, detail, header, no_gold, positive

# Three positives (hits 1, 1, 0; recall@5 1, 0.5, 0) and an answered sample without gold; "bad" always errs.
ERROR = answer(error="boom")
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


def one(text: str, report: dict[str, Any]) -> Verdict:
    (verdict,) = judge(report, [parse(text)])
    return verdict


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("grep: recall@5 >= 0.5", "PASSED grep: recall@5 >= 0.5: got 0.5 (n 3, on 4 of 9)"),
        ("grep: R@5 > 0.5", "FAILED grep: recall@5 > 0.5: got 0.5 (n 3, on 4 of 9)"),
        ("grep: hit@k >= 0.7", "FAILED grep: hit@k >= 0.7: got 0.666667 (n 3, on 4 of 9)"),
        # Wilson's interval of 2 in 3, by scipy
        ("grep: hit@k.low >= 0.2", "PASSED grep: hit@k.low >= 0.2: got 0.20766 (n 3, on 4 of 9)"),
        ("grep: hit@k.high < 0.9", "FAILED grep: hit@k.high < 0.9: got 0.938508 (n 3, on 4 of 9)"),
        (
            "grep: selective_success == 0.5",
            "PASSED grep: selective_success == 0.5: got 0.5 (n 4, on 4 of 9)",
        ),
        ("grep @ fold:A: hit@k != 0", "PASSED grep @ fold:A: hit@k != 0: got 1 (n 1, on 4 of 9)"),
        ("grep: errors == 0", "FAILED grep: errors == 0: got 1 (n 4, on 4 of 9)"),
        ("bad: errors <= 4", "PASSED bad: errors <= 4: got 4 (n 4, on 4 of 9)"),
        (
            "bad: recall@5 <= 1",
            "UNDECIDABLE bad: recall@5 <= 1: all 4 samples are errors (n 3, on 4 of 9)",
        ),
        (
            "grep @ fold:B: hit@k >= 0",
            "UNDECIDABLE grep @ fold:B: hit@k >= 0: no sample is in fold:B (n 0, on 4 of 9)",
        ),
        (
            "grep @ task:abstention: hit@k >= 0",
            "UNDECIDABLE grep @ task:abstention: hit@k >= 0: no sample has this figure (n 0, on 4 of 9)",
        ),
        (
            "grep @ task:abstention: hit@k.low >= 0",
            "UNDECIDABLE grep @ task:abstention: hit@k.low >= 0: no sample has this figure (n 0, on 4 of 9)",
        ),
        (
            "grep: mrr@k >= 0",
            "UNDECIDABLE grep: mrr@k >= 0: the report has no mrr@k here (n 3, on 4 of 9)",
        ),
    ],
)
def test_verdicts_in_one_line(text: str, line: str) -> None:
    verdict = one(text, head())
    assert str(verdict) == line
    assert verdict.holds == line.startswith("PASSED")


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
        assert verdict.reason == "1 of 5 chosen samples were lost"
        assert not verdict.holds


def test_a_crashed_sample_is_lost() -> None:
    crashed = detail(4, {"grep": (ERROR, positive(0.0, 0.0))}, status="crashed")
    verdict = one("grep: recall@5 >= 0", head([*DETAILS, crashed]))
    assert verdict.reason == "1 of 5 chosen samples were lost"


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
        "gate": "grep: recall@5 >= 0.5", "status": "passed", "expected": ">= 0.5", "got": 0.5,
        "n": 3, "chosen": 4, "of": 9,
    }  # fmt: skip
    assert "got" in stored["gates"][2]
    assert stored["gates"][2]["reason"] == "all 4 samples are errors"


# Of "bad" against "grep": hits -1, -1, 0; where nothing is to be found both answered or erred, so 0.
@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("bad - grep: hit@k >= -0.7", "PASSED bad - grep: hit@k >= -0.7: got -0.666667 (n 3, on 4 of 9)"),
        ("bad - grep: R@5 == -0.5", "PASSED bad - grep: recall@5 == -0.5: got -0.5 (n 3, on 4 of 9)"),
        (
            "bad - grep @ stratum:natural_no_gold: selective_success > 0",
            "FAILED bad - grep @ stratum:natural_no_gold: selective_success > 0: got 0 (n 1, on 4 of 9)",
        ),
        (
            "bad - grep @ fold:A: hit@k.low >= 0",
            "UNDECIDABLE bad - grep @ fold:A: hit@k.low >= 0: one sample alone has no interval"
            " (n 1, on 4 of 9)",
        ),
        (
            "bad - grep @ fold:B: hit@k >= 0",
            "UNDECIDABLE bad - grep @ fold:B: hit@k >= 0: no sample of fold:B was compared (n 0, on 4 of 9)",
        ),
        (
            "grep - bad: hit@k >= 0",
            "UNDECIDABLE grep - bad: hit@k >= 0: no sample of all was compared (n 0, on 4 of 9)",
        ),
    ],
)
def test_verdicts_on_two_arms(text: str, line: str) -> None:
    assert str(one(text, head())) == line
