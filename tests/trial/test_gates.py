"""Gates over reports of trials, from what a user types to the verdict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from pytest_retrieval.errors import GateError
from pytest_retrieval.gates.grammar import parse
from pytest_retrieval.gates.rules import Rule
from pytest_retrieval.gates.verdict import judge
from pytest_retrieval.report.build import Report
from tests.trial.support import CONTEXT, GOOD, NOT_OBSERVED, WRONG, built, entry, fenced, run, task

SILENT = '{"claims":[]}'


def trial(bad: str = SILENT) -> Report:
    """Twelve tasks: grep is right in nine and gives ``bad`` in three, bm25 in all; and a failed control."""
    details = [
        task(row, {"grep": entry(CONTEXT, run(GOOD if row % 4 else bad)), "bm25": entry(CONTEXT, run(GOOD))})
        for row in range(12)
    ]
    return built([*details, task(12, {"grep": entry("", run(GOOD))}, gold=None, control="already-fixed")])


def verdict(report: Report, text: str) -> Mapping[str, Any]:
    (found,) = judge(report.head, [Rule(parse(text))], details=report.details)
    return found.record()


@pytest.mark.parametrize(
    ("text", "status", "got"),
    [
        ("grep: confidently_wrong_tasks.high <= 0.2", "failed", 0.242494),  # Wilson of 0 in 12
        ("grep: confidently_wrong_tasks.high <= 0.25", "passed", 0.242494),
        ("bm25 - grep: success.low >= -0.05", "passed", 0),
        ("grep: errors == 0", "passed", 0),
        ("grep: mean_f1 >= 0.8", "failed", 0.75),
        ("grep @ kind:retrieval: success >= 0.7", "passed", 0.75),
        ("grep @ repo:acme/quota: success.low > 0.4", "passed", 0.467695),  # Wilson of 9 in 12
        ("grep: control_failed == 0", "failed", 1),
        ("grep: utilisation_gap <= 3", "passed", 3),
    ],
)
def test_figures(text: str, status: str, got: float) -> None:
    found = verdict(trial(), text)
    assert (found["status"], found["got"]) == (status, got)


def test_what_nobody_measured_cannot_be_decided() -> None:
    for text in ("grep: tool_calls <= 3", "grep: hard_success >= 0.1", "grep: money < 1"):
        assert verdict(trial(), text)["status"] == "undecidable"


def test_tasks_that_were_lost_leave_it_open() -> None:
    never = run("", wall_ms=NOT_OBSERVED, exit_code=NOT_OBSERVED)
    report = built([task(0), task(1, {"grep": entry("", never)})])
    assert verdict(report, "grep: success >= 0.1")["status"] == "undecidable"


def test_names_that_no_trial_has() -> None:
    with pytest.raises(GateError, match="did you mean 'success'"):
        verdict(trial(), "grep: sucess > 0")


@pytest.mark.parametrize("end", ["", ".low", ".high"])
def test_errors_of_repetitions(end: str) -> None:
    runs = [run(GOOD), run(GOOD), run("", error="timed out")]
    report = built([task(row, {"grep": entry("", *runs)}) for row in range(5)], repeats=3)
    found = verdict(report, f"grep: success{end} >= 0.01")
    assert found["status"] == "passed"


def test_a_confidently_wrong_arm_fails() -> None:
    found = verdict(trial(fenced(WRONG)), "grep: confidently_wrong_tasks.high <= 0.2")
    assert (found["status"], found["got"]) == ("failed", 0.532305)  # Wilson of 3 in 12
    assert (
        verdict(trial(fenced(WRONG)), "grep - bm25: confidently_wrong_tasks.high <= 0")["status"] == "failed"
    )
