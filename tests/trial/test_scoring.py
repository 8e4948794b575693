"""One invocation: cases 19 to 27 of the specification, and controls (82, 83), with section 25's repairs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pytest_retrieval.trial.scoring import score_detail
from tests.trial.support import (
    GOOD,
    NOT_OBSERVED,
    RIGHT,
    WRONG,
    claim,
    entry,
    fenced,
    run,
    scored,
    summary,
    task,
)


def metrics(reply: str, **fields: Any) -> dict[str, float]:
    found: dict[str, float] = scored(reply, **fields)["metrics"]
    return found


def test_case_19_claims_of_every_verdict() -> None:
    reply = fenced(
        WRONG,
        claim("test-file", "lib/quota.py", "likely"),
        claim("source-file", "lib/quota.py"),
        claim("file", "a.py"),
        claim("test-file", " "),
        claim("test-file", "a.py", "sure"),
    )
    wanted = {
        "success": 0,
        "confidently_wrong": 1,
        "confidently_wrong_task": 1,
        "wrong_likely": 1,
        "unjudged": 1,
        "invalid": 3,
        "abstained": 0,
        "gold_in_context": 1,
        "gold_as_result": 1,
        "utilisation_gap": 1,
        "f1": 0,
        "packet_top_1": 1,
    }
    assert metrics(reply).items() >= wanted.items()


def test_case_20_silence() -> None:
    found = scored("no idea")
    assert (found["block_state"], found["claims"]) == ("ABSENT", [])
    assert found["metrics"].items() >= {"abstained": 1, "utilisation_gap": 1, "success": 0}.items()


def test_case_21_a_right_claim_leaves_no_gap() -> None:
    found = metrics(GOOD)
    assert found.items() >= {"success": 1, "f1": 1}.items()
    assert "utilisation_gap" not in found


def test_case_22_the_same_wrong_claim_twice() -> None:
    found = metrics(fenced(WRONG, WRONG))
    assert (found["confidently_wrong"], found["confidently_wrong_task"]) == (2, 1)
    assert (found["repeated"], found["valid_claims"]) == (1, 2)  # section 25-20: what inflates the count


def test_case_23_unjudged_and_unsure_claims_are_no_abstention() -> None:
    unjudged = metrics(fenced(claim("answer", "42")))
    assert unjudged.items() >= {"abstained": 0, "success": 0, "unjudged": 1}.items()
    unsure = metrics(fenced(claim("test-file", "x.py", "unsure")))
    assert unsure.items() >= {"abstained": 0, "confidently_wrong": 0, "wrong_likely": 0}.items()
    assert unsure["wrong_unsure"] == 1  # section 25-20: as found, counted nowhere


def test_case_24_an_error_scores_nothing() -> None:
    found = scored(GOOD, run_error="timed out")
    assert (found["block_state"], found["claims"], found["metrics"]) == ("", None, None)
    assert (found["error"], "score_error" in found) == ("timed out", False)


@pytest.mark.parametrize("status", [3, -1])
def test_case_25_a_bad_exit_without_claims(status: int) -> None:
    found = scored("boom", run_exit_code=status)
    # As found this went into `error` and could never be scored again; repaired (section 25-15).
    assert "error" not in found
    assert found["score_error"] == f"exit status {status} and no claims block in the reply"
    assert found["metrics"] is None
    counts = summary([task(arms={"grep": entry("", run("boom", exit_code=status))})])
    assert (counts["errors"], counts["tasks"], counts["success"]) == (1, 1, {"n": 0})


def test_case_25_a_bad_exit_with_claims_is_scored() -> None:
    found = scored(GOOD, run_exit_code=3)
    assert (found["metrics"]["success"], "score_error" in found) == (1, False)


def test_what_the_agent_said_is_in_the_error() -> None:
    found = scored("boom", run_exit_code=3, run_stderr="no login")
    assert found["score_error"] == "exit status 3 and no claims block in the reply (no login)"


def test_case_26_a_cut_reply_without_claims() -> None:
    found = scored("x" * 1_048_576 + "\n[TRUNCATED]", run_reply_truncated=True)
    assert "cut" in found["score_error"]
    assert found["metrics"] is None


def test_case_26_a_cut_reply_after_its_claims_is_scored_and_marked() -> None:
    found = scored(GOOD + "y" * 100 + "\n[TRUNCATED]", run_reply_truncated=True)
    assert found["metrics"]["success"] == 1
    assert found["block_followed"] is True  # section 25-9: it may have been a draft
    assert "block_followed" not in scored(GOOD)


def test_case_27_a_context_that_failed() -> None:
    found = metrics(GOOD, context_error="no module", subject="lib/quota.py")
    assert found.items() >= {"context_failed": 1, "success": 1, "f1": 1, "hard_success": 0}.items()
    placed = ("gold_in_context", "gold_as_result", "hard_gold_in_context")
    assert not [name for name in found if name in placed or name.startswith("packet_top")]


def test_a_run_that_never_started_is_nothing() -> None:
    # As found a checkpoint's open invocations became abstentions; repaired (section 25-10).
    never = run("", wall_ms=NOT_OBSERVED, exit_code=NOT_OBSERVED)
    found = score_detail(task(arms={"grep": entry("", never)}))["arms"]["grep"]["runs"][0]
    assert (found["block_state"], found["claims"], found["metrics"]) == ("", None, None)
    assert not {"error", "score_error"} & found.keys()
    counts = summary([task(arms={"grep": entry("", never)})])
    assert (counts["tasks"], counts["errors"], counts["not_run"]) == (0, 0, 1)


def test_scoring_again_changes_nothing() -> None:
    once = score_detail(task(arms={"grep": entry("", run(GOOD), run("boom", exit_code=2))}))
    assert score_detail(once) == once


def test_a_mended_reply_loses_its_error() -> None:
    once = score_detail(task(arms={"grep": entry("", run("boom", exit_code=2))}))
    once["arms"]["grep"]["runs"][0]["reply"] = GOOD
    found = score_detail(once)["arms"]["grep"]["runs"][0]
    assert "score_error" not in found
    assert found["metrics"]["success"] == 1


def test_claims_of_the_subject_are_counted() -> None:
    # Section 25-21: claiming the subject is false only where its kind is covered.
    reply = fenced(claim("source-file", "./lib/quota.py"), claim("answer", "lib/quota.py"))
    found = metrics(reply, subject="lib/quota.py")
    assert (found["subject_claims"], found["confidently_wrong"]) == (1, 0)


def test_calls_of_a_tool_tell_whether_it_was_used() -> None:
    call = {"tool": "search", "query": "q", "n_results": 3, "ms": 4}
    assert metrics(GOOD, run_calls=[call])["tool_used"] == 1
    assert metrics(GOOD, run_calls=[])["tool_used"] == 0
    assert "tool_used" not in metrics(GOOD)


class TestControls:
    def control(self, reply: str, context: str = "", **fields: Any) -> dict[str, float]:
        return metrics(reply, context=context, gold=None, control="already-fixed", **fields)

    def test_case_82_a_certain_claim_fails_it(self) -> None:
        detail = task(gold=None, control="already-fixed", arms={"grep": entry("", run(fenced(WRONG)))})
        found = score_detail(detail)["arms"]["grep"]["runs"][0]
        assert found["claims"][0]["verdict"] == "FALSE"
        assert (
            found["metrics"].items()
            >= {"confidently_wrong_task": 1, "control_failed": 1, "unjudged": 0}.items()
        )
        assert "packet_abstained" not in found["metrics"]

    def test_case_82_a_likely_one_and_silence_do_not(self) -> None:
        likely = self.control(fenced(claim("answer", "42", "likely")))
        assert (likely["wrong_likely"], likely["control_failed"]) == (1, 0)
        silent = self.control('{"claims":[]}')
        assert (silent["abstained"], silent["control_failed"]) == (1, 0)

    @pytest.mark.parametrize(
        ("packet", "abstained"),
        [
            ({"state": "NO_CANDIDATES", "results": []}, 1),
            ({"state": "READY", "results": [{"id": "a.py"}]}, 0),
            (
                {
                    "state": "READY",
                    "results": [{"id": "a.py"}],
                    "coverage": {"answerability": {"verdict": "unsupported-conjunction"}},
                },
                1,
            ),
            ({"state": "OUT_OF_SCOPE", "results": [{"id": "a.py"}]}, 1),
            ({"state": "READY"}, 1),
        ],
    )
    def test_case_83_packets(self, packet: dict[str, Any], abstained: int) -> None:
        found = self.control('{"claims":[]}', json.dumps(packet), context_state=packet["state"])
        assert (found["packet_abstained"], found["control_failed"]) == (abstained, 1 - abstained)

    def test_case_83_a_packet_that_was_cut_answered(self) -> None:
        found = self.control('{"claims":[]}', '{"state":"READY","res', context_state="READY")
        assert (found["packet_abstained"], found["control_failed"]) == (0, 1)

    def test_case_83_a_packet_that_failed_says_nothing(self) -> None:
        found = self.control('{"claims":[]}', context_error="no module", context_state="READY")
        assert "packet_abstained" not in found
        assert found["control_failed"] == 0

    def test_other_tasks_have_no_such_metric(self) -> None:
        assert not {"control_failed", "packet_abstained"} & metrics(GOOD, context_state="READY").keys()

    def test_gold_metrics_speak_of_no_gold(self) -> None:
        found = self.control(fenced(RIGHT), "score=1 checks/quota_test.py")
        assert (
            found.items() >= {"gold_in_context": 0, "gold_as_result": 0, "f1": 0, "packet_top_1": 0}.items()
        )
