"""The report of a trial: case 42's summary, canonical numbers (45), and the same bytes in any order."""

from __future__ import annotations

import json
import random
from typing import Any

import jsonschema
import pytest

from pytest_retrieval.errors import ReportError
from pytest_retrieval.report import schema
from pytest_retrieval.report.build import Report
from pytest_retrieval.report.canonical import encode
from pytest_retrieval.report.trialfigures import NAMES, RATES, figure, has_interval, is_figure
from pytest_retrieval.trial import cwtrial
from pytest_retrieval.trial.document import build
from tests.trial.support import GOOD, NOT_OBSERVED, built, entry, header, run, task

NONE_SUMMARY = (
    '{"abstained":{"count":0,"high":0.793451,"low":0,"n":1,"rate":0},"confidently_wrong_claims":0,'
    '"confidently_wrong_tasks":{"count":0,"high":0.793451,"low":0,"n":1,"rate":0},"context_failed":0,"errors":0,'
    '"explored_tasks":"NOT_OBSERVED","gold_as_result":{"count":0,"high":0.793451,"low":0,"n":1,"rate":0},'
    '"gold_in_context":{"count":0,"high":0.793451,"low":0,"n":1,"rate":0},"hard_gold_in_context":{"n":0},'
    '"hard_success":{"n":0},"mean_f1":{"mean":1,"n":1},'
    '"packet_top_1":{"count":0,"high":0.793451,"low":0,"n":1,"rate":0},'
    '"packet_top_10":{"count":0,"high":0.793451,"low":0,"n":1,"rate":0},'
    '"packet_top_3":{"count":0,"high":0.793451,"low":0,"n":1,"rate":0},'
    '"packet_top_5":{"count":0,"high":0.793451,"low":0,"n":1,"rate":0},"reused":0,'
    '"success":{"count":1,"high":1,"low":0.206549,"n":1,"rate":1},'
    '"success_retrievable":{"count":1,"high":1,"low":0.206549,"n":1,"rate":1},"tasks":1,"tokens":"NOT_OBSERVED",'
    '"tool_calls":"NOT_OBSERVED","utilisation_gap":0,"wall_ms":5,"wrong_likely_claims":0}'
)


def q1() -> dict[str, Any]:
    """The task of case 42 with both of its arms."""
    gold = ["checks/quota_test.py"]
    arms = {"none": entry(""), "grep": entry("score=6 checks/quota_test.py")}
    return task(arms=arms, gold_at_base=gold, gold_checked=True)


def test_case_42_a_run_of_two_arms() -> None:
    report = built([q1()])
    head = report.head
    assert (head["pilot"], head["tasks"], head["corvint"], head["aider"]) == (
        True,
        1,
        NOT_OBSERVED,
        NOT_OBSERVED,
    )
    (detail,) = report.details()
    runs = {label: arm["runs"][0] for label, arm in detail["arms"].items()}
    assert [runs[label]["claims"][0]["grounded"] for label in ("none", "grep")] == ["NOT_APPLICABLE", True]
    assert all(found["metrics"]["success"] == 1 and found["exit_code"] == 0 for found in runs.values())


def test_case_42_the_summary_letter_by_letter() -> None:
    written = b"".join(cwtrial.chunks(built([q1()])))
    arms = encode(json.loads(written)["arms"]["none"])
    assert arms.decode() == NONE_SUMMARY
    assert f'"none":{NONE_SUMMARY}'.encode() in written


def test_our_summary_says_no_less() -> None:
    found = built([q1()]).head["arms"]["none"]["groups"]["all"]
    assert json.loads(encode(found)).items() >= json.loads(NONE_SUMMARY).items()


def test_case_45_canonical_numbers_and_text() -> None:
    found = encode({"b": 1.0, "a": "<é\u2028>", "c": 0.000035, "d": 1e-06})
    assert found == '{"a":"<é\u2028>","b":1,"c":0.000035,"d":0.000001}'.encode()


def test_case_51_no_tasks() -> None:
    report = built([], arms={"none": {}, "grep": {}})
    written = b"".join(cwtrial.chunks(report))
    assert b'"arms":{},"details":[]' in written
    assert report.head["arms"]["grep"]["groups"]["all"]["tasks"] == 0


def details(count: int) -> list[dict[str, Any]]:
    replies = (GOOD, "", '{"claims":[]}', "boom")
    return [
        task(
            row,
            {
                label: entry("", *(run(replies[(row + turn) % 4]) for turn in range(2)))
                for label in ("a", "b")
            },
            repo=f"acme/r{row % 3}",
            kind=("retrieval", "change")[row % 2],
        )
        for row in range(count)
    ]


def test_any_order_gives_the_same_bytes() -> None:
    rows = details(12)
    first = b"".join(built(rows, repeats=2).chunks())
    for seed in range(3):
        random.Random(seed).shuffle(rows)
        assert b"".join(built(rows, repeats=2).chunks()) == first


def test_details_come_in_the_order_of_the_manifest() -> None:
    rows = [task(2, id="a"), task(0, id="c"), task(1, id="b")]
    assert [detail["id"] for detail in built(rows).details()] == ["c", "b", "a"]


def test_a_task_that_did_not_finish_is_lost() -> None:
    never = run("", wall_ms=NOT_OBSERVED, exit_code=NOT_OBSERVED)
    report = built([task(0), task(1, {"grep": entry("", run(), never)})], repeats=2)
    lost = [{"source": "ab" * 32, "id": "q1", "ordinal": 0, "why": "not finished"}]
    assert report.head["selection"] == {"of": 2, "chosen": 2, "judged": 1, "lost": lost}


def test_an_answer_beats_a_loss() -> None:
    lost = [{"source": "ab" * 32, "id": name, "ordinal": 0, "why": "crashed"} for name in ("q0", "q7")]
    found = built([task(0)], selection={"of": 9, "chosen": 9, "lost": lost}).head["selection"]
    assert (found["judged"], found["lost"]) == (1, lost[1:])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"partition": None}, "needs partition"),
        ({"colour": "red"}, "no colour"),
    ],
)
def test_headers_that_are_refused(change: dict[str, Any], words: str) -> None:
    given = {name: value for name, value in {**header(), **change}.items() if value is not None}
    with pytest.raises(ReportError, match=words):
        build(given, [])


def test_tasks_that_are_refused() -> None:
    with pytest.raises(ReportError, match="comes twice"):
        built([task(0), task(0)])
    with pytest.raises(ReportError, match="does not list"):
        built([task(0, source="00" * 32)])


class TestFigures:
    SUMMARY = built([q1()]).head["arms"]["grep"]["groups"]["all"]

    def test_rates_means_and_counts(self) -> None:
        success = figure(self.SUMMARY, "success")
        assert success is not None
        assert (success.value, success.low, success.high) == (1, 0.206549, 1)
        mean = figure(self.SUMMARY, "mean_f1")
        assert mean is not None
        assert (mean.value, mean.low) == (1, None)
        errors = figure(self.SUMMARY, "errors")
        assert errors is not None
        assert errors.value == 0

    def test_what_nobody_measured_is_no_zero(self) -> None:
        for name in ("tool_calls", "hard_success", "control_failed", "money", "tool_used", "pass@3"):
            assert figure(self.SUMMARY, name) is None

    def test_controls_are_found(self) -> None:
        control = task(0, gold=None, control="already-fixed")
        found = figure(built([control]).head["arms"]["grep"]["groups"]["all"], "control_failed")
        assert found is not None
        assert found.value == 1

    def test_every_name_is_a_figure(self) -> None:
        assert all(map(is_figure, NAMES))
        assert is_figure("pass@5")
        assert not is_figure("pass@0")
        assert all(map(has_interval, RATES))
        assert not has_interval("mean_f1")
        others = {"tokens", "tokens_observed", "error_reasons"}
        assert self.SUMMARY.keys() - others <= set(NAMES)


def validate(report: Report) -> None:
    stored = json.loads(b"".join(report.chunks()))
    jsonschema.Draft202012Validator(schema()).validate(stored)


def test_the_schema_knows_reports_of_trials() -> None:
    noisy = run(
        tokens={"a": 1},
        tool_calls=2,
        commands=["ls"],
        calls=[{"tool": "search"}],
        attempts=2,
        stdout_truncated=True,
        reused_from="sha256:0",
    )
    failing = run("boom", exit_code=1, stderr="no login")
    rows = [
        task(0, {"a": entry("x", noisy, run("", error="gone")), "b": entry("", failing, run(GOOD + "more"))}),
        task(1, gold=None, control="already-fixed", cluster="c", subject="a.py", history_commits=1),
        *(
            task(row, {"a": entry(""), "b": entry("", context_error="x", context_state="READY")})
            for row in (2, 3)
        ),
    ]
    prices = {"currency": "USD", "sha256": "ab" * 32, "per_million": {"a": 1}, "within": {}}
    validate(built(rows, repeats=2, prices=prices, prologues={"a": {"sha256": "ab" * 32, "text": "t"}}))
    validate(built([q1()], arms={"none": {"memorisation": True}}, corvint={"sha256": "x", "version": "1"}))
    validate(built([], partial=True))


def test_the_schema_refuses_what_is_no_trial() -> None:
    stored = json.loads(b"".join(built([q1()]).chunks()))
    stored["details"][0]["arms"]["grep"]["runs"][0]["wall_ms"] = "unknown"
    assert list(jsonschema.Draft202012Validator(schema()).iter_errors(stored))
