"""The page about a trial: arms by their tasks, and what agents claimed."""

from __future__ import annotations

import pytest

from pytest_retrieval.report.build import Report
from tests.report.html.pages import HOSTILE, Page, page_of
from tests.trial.support import CONTEXT, GOOD, WRONG, built, claim, entry, fenced, run, task

EMPTY = '{"claims": []}'


def trial() -> Report:
    """Of three tasks and a control, ``grep`` gets two right, ``none`` one, and that in one run of two."""
    wrong = fenced(WRONG)
    tasks = [
        task(0, {"none": entry("", run(wrong), run(GOOD)), "grep": entry(CONTEXT, run(), run())}),
        task(1, {"none": entry("", run(EMPTY), run(EMPTY)), "grep": entry(CONTEXT, run(wrong), run(wrong))}),
        task(
            2,
            {
                "none": entry("", run("", error="timed out"), run("", error="timed out")),
                "grep": entry(CONTEXT, run(), run()),
            },
            repo="acme/other",
        ),
    ]
    control = {label: entry("", run(EMPTY), run(EMPTY)) for label in ("none", "grep")}
    return built([*tasks, task(3, control, control="already-fixed")], repeats=2)


@pytest.fixture(scope="module")
def shown() -> Page:
    return page_of(trial())


def test_it_is_a_page(shown: Page) -> None:
    assert not shown.faults
    assert "agents under contexts · 4 tasks · 2 arms" in shown.text
    assert "Paired differences" in shown.text
    assert "Per repository" in shown.text
    # Of grep one of two tasks of acme/quota and the one of acme/other; of none one run of four.
    shades = [words for words in shown.texts["td"] if words in ("0.50", "1.00", "0.25")]
    assert sorted(shades) == ["0.25", "0.50", "1.00"]
    assert "PILOT" in shown.text  # the partition of these tasks


def test_every_task_has_a_verdict_per_arm(shown: Page) -> None:
    assert shown.data["arms"] == ["grep", "none"]
    found = [[(arm["outcome"], arm["text"]) for arm in row["arms"]] for row in shown.data["samples"]]
    assert found == [
        [("hit", "2/2"), ("hit", "1/2")],
        [("miss", "0/2"), ("miss", "silent")],
        [("hit", "2/2"), ("error", "error")],
        [("hit", "silent"), ("hit", "silent")],
    ]
    assert shown.data["samples"][0]["truth"] == [["test-file", ["checks/quota_test.py"]]]
    claims = [arm["runs"][0]["claims"] for arm in shown.data["samples"][0]["arms"]]
    assert [[claim["verdict"] for claim in claimed] for claimed in claims] == [["TRUE"], ["FALSE"]]


def test_what_was_asked_is_shown_where_the_report_keeps_it(shown: Page) -> None:
    asked = {"query": f"Which test? {HOSTILE}", "query_chars": 2_345}
    page = page_of(built([task(0, explain=asked), task(1)]))
    assert not page.faults
    first, second = page.data["samples"]
    assert (first["query"], first["query_chars"], page.data["explained"]) == (asked["query"], 2_345, True)
    assert "query" not in second
    assert not shown.data["explained"]


def test_hostile_claims_are_text() -> None:
    reply = fenced(claim("answer", HOSTILE, evidence=HOSTILE))
    page = page_of(built([task(0, {HOSTILE.replace(" ", ""): entry("", run(reply))}, id=HOSTILE)]))
    assert not page.faults
    assert len(page.attributes("script")) == 2
    assert not page.attributes("img")


def test_a_trial_without_tasks_is_a_page() -> None:
    page = page_of(built([], arms={"none": {}}))
    assert not page.faults
    assert page.data["samples"] == []
