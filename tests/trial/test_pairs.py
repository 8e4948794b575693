"""Two contexts over the same tasks."""

from __future__ import annotations

from typing import Any

import pytest
from scipy.stats import binomtest

from pytest_retrieval.report.trialfigures import PAIRED
from pytest_retrieval.trial.pairs import trial_pairs
from tests.trial.support import GOOD, WRONG, built, entry, fenced, run, task

BAD = fenced(WRONG)
MEMORISED, BASELINE = {"memorisation": True}, {"baseline": True}


def rows(first: str, second: str, **fields: Any) -> list[dict[str, Any]]:
    """A task per letter: the arms ``one`` and ``two`` are right (``+``), wrong (``-``) or fail (``x``)."""
    runs = {"+": run(GOOD), "-": run(BAD), "x": run("", error="gone")}
    return [
        task(place, {"one": entry("", runs[a]), "two": entry("", runs[b])}, **fields)
        for place, (a, b) in enumerate(zip(first, second, strict=True))
    ]


def test_success_of_two_arms() -> None:
    found = built(rows("++++++--", "----++--"), pairs=[("one", "two")]).head["paired"]["all"]["one - two"]
    figures = found["success"]
    assert (figures["n"], figures["mean"], figures["wins"], figures["losses"]) == (8, 0.5, 4, 0)
    assert figures["mcnemar_p"] == binomtest(4, 4, 0.5).pvalue == 0.125
    assert figures["cluster"].items() >= {"unit": "sample", "count": 8}.items()
    assert figures["cluster"]["low"] <= 0.5 <= figures["cluster"]["high"]
    assert figures["p_holm"] >= figures["p"]
    assert found["confidently_wrong_tasks"]["mean"] == -0.5
    assert "mcnemar_p" not in found["mean_f1"]
    assert found.keys() <= set(PAIRED)


def test_errors_and_controls_are_left_out() -> None:
    silent = {"one": entry(""), "two": entry("")}
    details = [*rows("+x+", "++x"), task(3, silent, gold=None, control="already-fixed")]
    figures = built(details, pairs=[("one", "two")]).head["paired"]["all"]["one - two"]["success"]
    assert figures["n"] == 1


def test_clusters_are_repositories_from_five_on_else_what_tasks_share() -> None:
    details = rows("+-+-+-", "------")
    for place, detail in enumerate(details):
        detail["cluster"] = f"c{place // 2}"
    figures = built(details, pairs=[("one", "two")]).head["paired"]["all"]["one - two"]["success"]
    assert figures["cluster"].items() >= {"unit": "cluster", "count": 3}.items()
    for place, detail in enumerate(details):
        detail["repo"] = f"acme/r{place}"
    figures = built(details, pairs=[("one", "two")]).head["paired"]["all"]["one - two"]["success"]
    assert figures["cluster"].items() >= {"unit": "repository", "count": 6}.items()


def test_repetitions_are_one_task() -> None:
    details = [
        task(place, {"one": entry("", run(GOOD), run(BAD)), "two": entry("", run(BAD), run(BAD))})
        for place in range(6)
    ]
    figures = built(details, repeats=2, pairs=[("one", "two")]).head["paired"]["all"]["one - two"]["success"]
    assert (figures["n"], figures["mean"], figures["wins"]) == (6, 0.5, 6)
    assert figures["mcnemar_p"] == 0.03125


def test_groups_are_all_and_kinds() -> None:
    details = rows("++", "+-")
    details[1]["kind"] = "change"
    section = built(details, pairs=[("one", "two")]).head["paired"]
    assert set(section) == {"all", "kind:retrieval", "kind:change"}


@pytest.mark.parametrize(
    ("arms", "expected"),
    [
        ({"none": MEMORISED, "grep": BASELINE}, [("grep", "none")]),
        (
            {"none": MEMORISED, "grep": BASELINE, "corvint": {}},
            [("grep", "none"), ("corvint", "none"), ("corvint", "grep")],
        ),
        ({"a": {}, "b": {}}, [("b", "a")]),
        ({"none": MEMORISED}, []),
        ({}, []),
    ],
)
def test_default_pairs(arms: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    assert trial_pairs(arms) == expected
