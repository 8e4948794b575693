"""What an arm's invocations say together: cases 40 to 44, 83 and 84, and repetitions, tokens and money."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from pytest_retrieval.report.canonical import encode
from pytest_retrieval.stats.attempts import pass_at
from tests.trial.support import GOOD, NOT_OBSERVED, WRONG, built, claim, entry, fenced, run, summary, task

SILENT = '{"claims":[]}'
CONFIDENT = fenced(WRONG)


def tasks(*replies: str | list[str], context: str = "", **fields: Any) -> list[dict[str, Any]]:
    """A task per reply, or per list of replies to the same prompt."""
    listed = [[reply] if isinstance(reply, str) else reply for reply in replies]
    return [
        task(row, {"grep": entry(context, *(run(reply, **fields) for reply in each))})
        for row, each in enumerate(listed)
    ]


@pytest.mark.parametrize(
    ("count", "n", "rate", "low", "high"),
    [
        (0, 1, 0, 0, 0.793451),
        (1, 1, 1, 0.206549, 1),
        (1, 2, 0.5, 0.094531, 0.905469),
        (2, 3, 0.666667, 0.20766, 0.938508),
        (1, 5, 0.2, 0.036224, 0.624465),
        (3, 10, 0.3, 0.107791, 0.603222),
        (12, 50, 0.24, 0.142974, 0.374127),
        (22, 33, 0.666667, 0.496079, 0.802498),
        (3, 34, 0.088235, 0.030466, 0.229605),
    ],
)
def test_case_40_rates(count: int, n: int, rate: float, low: float, high: float) -> None:
    found = summary(tasks(*[GOOD] * count, *[SILENT] * (n - count)))["success"]
    assert found == {"n": n, "count": count, "rate": rate, "low": low, "high": high}


def test_case_40_no_member() -> None:
    found = summary(tasks(SILENT))
    assert found["hard_success"] == {"n": 0}
    assert built([]).head["arms"] == {}


@pytest.mark.parametrize("n", [7, 9, 14, 17, 18, 28])
def test_case_41_a_low_end_of_zero_has_no_sign(n: int) -> None:
    found = summary(tasks(*[SILENT] * n))["success"]
    assert b'"low":0,' in encode(found)


def test_case_43_tokens_are_all_or_nothing() -> None:
    first = run(GOOD, tokens={"input_tokens": 3}, tool_calls=0)
    second = run(GOOD, tokens={"input_tokens": 4, "output_tokens": 1}, tool_calls=0)
    details = [task(0, {"grep": entry("", first)}), task(1, {"grep": entry("", second)})]
    sums = {"input_tokens": 7, "output_tokens": 1}
    found = summary(details)
    assert found["tokens"] == sums
    assert found["tokens_observed"] == {"records": 2, "of": 2, "sums": sums}

    late = run("", error="timed out", exit_code=NOT_OBSERVED)
    found = summary([*details, task(2, {"grep": entry("", late)})])
    assert (found["tokens"], found["tool_calls"]) == (NOT_OBSERVED, 0)
    # Section 25-16: how many were seen, and what they come to, is told beside it.
    assert found["tokens_observed"] == {"records": 2, "of": 3, "sums": sums}


def test_case_44_tool_calls() -> None:
    details = [task(row, {"grep": entry("", run(tool_calls=calls))}) for row, calls in enumerate((0, 2, 0))]
    found = summary(details)
    assert (found["tool_calls"], found["explored_tasks"]) == (2, 1)
    found = summary([*details, task(3, {"grep": entry("", run())})])
    assert (found["tool_calls"], found["explored_tasks"]) == (NOT_OBSERVED, NOT_OBSERVED)


def test_nothing_scored_is_nothing_observed() -> None:
    found = summary(tasks("", error="gone", tokens={"a": 1}, tool_calls=1))
    assert (found["tokens"], found["tool_calls"], found["wall_ms"]) == (NOT_OBSERVED, NOT_OBSERVED, 5)


def test_claims_that_shotguns_fire_are_told() -> None:
    guesses = [claim("test-file", f"t{place}.py", "unsure") for place in range(4)]
    found = summary(tasks(fenced(*guesses, guesses[0]), SILENT))
    assert (found["wrong_unsure_claims"], found["repeated_claims"]) == (5, 1)
    assert found["claims_per_reply"] == {"n": 2, "mean": 2.5}


def test_sums_and_means() -> None:
    details = [*tasks(CONFIDENT, GOOD, SILENT, "boom"), task(4, {"grep": entry("", context_error="no")})]
    found = summary(details)
    assert (found["confidently_wrong_claims"], found["context_failed"]) == (1, 1)
    assert found["mean_f1"] == {"n": 5, "mean": 0.4}
    assert found["gold_in_context"]["n"] == 4


def test_case_67_reused_runs_are_counted() -> None:
    assert summary(tasks(GOOD, GOOD, reused_from="sha256:1"))["reused"] == 2


def control(row: int, *runs: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return task(row, {"grep": entry("", *runs, **fields)}, gold=None, control="already-fixed")


def test_case_84_controls_are_counted_apart() -> None:
    found = summary([task(0), control(1, run(CONFIDENT, tokens={"a": 1}, wall_ms=1000))])
    assert (found["tasks"], found["success"]["n"], found["wall_ms"]) == (1, 1, 5)
    assert found["already_fixed"] == {
        "control_failed": 1,
        "packet_abstained": 0,
        "packets": 0,
        "tasks": 1,
        "control_errors": 0,
    }
    assert "already_fixed" not in summary([task(0)])


def test_controls_that_err_are_counted_and_reused_ones_are_not() -> None:
    # Section 25-28: as found, erring controls were counted nowhere, and reused ones among the others.
    errs, old = run("", error="timed out"), run(SILENT, reused_from="sha256:1")
    found = summary([task(0), control(1, errs), control(2, old)])
    assert (found["already_fixed"]["control_errors"], found["already_fixed"]["tasks"]) == (1, 1)
    assert (found["errors"], found["reused"]) == (0, 0)


def test_controls_with_repetitions() -> None:
    found = summary([control(0, run(CONFIDENT), run(SILENT), run("", error="x"))], repeats=3)["already_fixed"]
    assert found.items() >= {"tasks": 1, "runs": 2, "control_failed": 1, "control_errors": 1}.items()


def test_use_of_a_tool() -> None:
    call = {"tool": "search", "query": "q", "n_results": 1, "ms": 2}
    used = [task(row, {"grep": entry("", run(calls=[call] * count))}) for row, count in enumerate((3, 0, 1))]
    found = summary(used)
    assert (found["tool_used"]["count"], found["tool_used"]["n"], found["served_calls"]) == (2, 3, 4)
    assert "tool_used" not in summary([task(0)])


class TestRepeats:
    DETAILS = tasks([GOOD, GOOD, SILENT], [GOOD] * 3, [SILENT, "boom", CONFIDENT], [SILENT] * 3)

    def found(self) -> dict[str, Any]:
        for each in self.DETAILS[2]["arms"]["grep"]["runs"][1:2]:
            each["exit_code"] = 1
        return summary(self.DETAILS, repeats=3)

    def test_rates_are_means_of_tasks(self) -> None:
        found = self.found()
        assert (found["tasks"], found["errors"], found["runs"]) == (4, 1, 12)
        assert found["success"].items() >= {"n": 4, "count": 5, "runs": 11, "rate": 0.416667}.items()
        assert found["confidently_wrong_tasks"].items() >= {"count": 1, "rate": 0.125}.items()
        assert found["mean_f1"] == {"n": 4, "mean": 0.416667, "runs": 11}

    def test_intervals_count_tasks(self) -> None:
        found = self.found()["success"]
        # Wilson of 5 in 11, as if invocations were independent tasks, is narrower: 0.212713 to 0.719908.
        assert found["high"] - found["low"] > 0.719908 - 0.212713
        alike = summary(tasks(*[[GOOD] * 5] * 3, *[[SILENT] * 5] * 3), repeats=5)["success"]
        once = summary(tasks(*[GOOD] * 3, *[SILENT] * 3))["success"]
        assert (alike["low"], alike["high"]) == (once["low"], once["high"])

    def test_pass_at(self) -> None:
        found = self.found()
        # By tasks: 2 of 3, 3 of 3, 0 of 2 scored, 0 of 3.
        assert found["pass@1"].items() >= {"n": 4, "rate": 0.416667}.items()
        assert found["pass@2"].items() >= {"n": 4, "rate": 0.5}.items()
        assert found["pass@3"].items() >= {"n": 3, "count": 2, "rate": 0.666667, "low": 0.20766}.items()

    def test_tasks_that_are_unstable(self) -> None:
        head = built(self.DETAILS, repeats=3).head
        assert head["arms"]["grep"]["unstable"] == [{"id": "q0", "runs": 3, "success": 2}]
        assert head["arms"]["grep"]["groups"]["all"]["unstable_tasks"] == 1

    def test_one_attempt_has_none_of_this(self) -> None:
        head = built(tasks(GOOD)).head
        assert not {"runs", "pass@1", "unstable_tasks"} & head["arms"]["grep"]["groups"]["all"].keys()
        assert "unstable" not in head["arms"]["grep"]


class TestMoney:
    PRICES: Mapping[str, Any] = {
        "currency": "USD",
        "sha256": "ab" * 32,
        "per_million": {"input_tokens": 2.0, "output_tokens": 10.0},
        "within": {},
    }

    def test_per_task_and_per_success(self) -> None:
        million = {"input_tokens": 1_000_000, "output_tokens": 100_000}  # 3 USD
        details = [
            task(0, {"grep": entry("", run(GOOD, tokens=million))}),
            task(1, {"grep": entry("", run(SILENT, tokens={"input_tokens": 500_000}))}),
            task(2, {"grep": entry("", run(GOOD))}),
        ]
        report = built(details, prices=self.PRICES)
        found = report.head["arms"]["grep"]["groups"]["all"]
        assert found["money_observed"] == {"records": 2, "of": 3}
        assert (found["money"], found["money_per_task"], found["money_per_success"]) == (4, 2, 4)
        costs = [detail["arms"]["grep"]["runs"][0].get("money") for detail in report.details()]
        assert costs == [3, 1, None]

    def test_absent_where_nobody_saw_tokens(self) -> None:
        found = summary(tasks(GOOD), prices=self.PRICES)
        assert not [name for name in found if name.startswith("money")]

    def test_no_price_of_a_success_without_one(self) -> None:
        found = summary(tasks(SILENT, tokens={"input_tokens": 1_000_000}), prices=self.PRICES)
        assert (found["money"], "money_per_success" in found) == (2, False)


def test_groups() -> None:
    details = [task(0), task(1, kind="change", subject="a.py"), task(2, repo="acme/other")]
    groups = built(details).head["arms"]["grep"]["groups"]
    assert {name: group["tasks"] for name, group in groups.items()} == {
        "all": 3,
        "kind:retrieval": 2,
        "kind:change": 1,
        "repo:acme/quota": 2,
        "repo:acme/other": 1,
    }


def test_pass_at_is_the_published_estimate() -> None:
    # Equation 1 by hand: of 5 attempts with 2 successes, 1 - C(3,2)/C(5,2) = 1 - 3/10.
    assert pass_at(2, 5, 2) == pytest.approx(0.7)
