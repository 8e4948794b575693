"""The fixtures of a suite for agents: a task, and the function that runs its arms."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pytest_retrieval.plugin.trial.session import TrialCase, TrialSession
    from pytest_retrieval.trial.manifest import Task

DONE: pytest.StashKey[bytes] = pytest.StashKey()
TRIAL: pytest.StashKey[TrialSession] = pytest.StashKey()


@pytest.fixture
def retrieval_trial_case(request: pytest.FixtureRequest) -> TrialCase:
    """The task with its place in the manifest; given by the ``retrieval_trial`` marker."""
    case: TrialCase | None = getattr(request, "param", None)
    if case is None:
        pytest.fail(
            "this test asks for a task: give it the marker @pytest.mark.retrieval_trial(...)", pytrace=False
        )
    return case


@pytest.fixture
def retrieval_trial_task(retrieval_trial_case: TrialCase) -> Task:
    """The task that this item asks an agent."""
    return retrieval_trial_case.task


@pytest.fixture
def retrieval_trial_judge(
    request: pytest.FixtureRequest, retrieval_trial_case: TrialCase
) -> Callable[[], dict[str, Any]]:
    """Run the agent once per arm, hand each invocation to the report, and fail the item on a fault.

    A wrong claim and silence are results; they fail nothing. The task's row of the report is returned, so
    that a suite of one's own can ask more of it.
    """
    from pytest_retrieval.plugin.trial.runs import DONE_PAYLOAD, announce, faults_of
    from pytest_retrieval.report.pieces import printable

    trial = request.config.stash[TRIAL]

    def judge() -> dict[str, Any]:
        case = retrieval_trial_case
        arms = trial.shelf.prepared(case.row).arms
        detail = trial.measure(case, announce(request.node, case.task.id, arms))
        # Beyond the budget nothing is asked: the task is lost, with that reason, and the run fails.
        if (stopped := trial.shelf.stopped) is not None and _is_unfinished(detail):
            pytest.skip(stopped)
        request.node.stash[DONE] = DONE_PAYLOAD
        faults = faults_of(detail)
        if faults and trial.bench.settings.tolerance is None:
            pytest.fail("\n".join(map(printable, faults)), pytrace=False)
        return detail

    return judge


def _is_unfinished(detail: dict[str, Any]) -> bool:
    from pytest_retrieval.trial.scoring import was_run

    return not all(was_run(run) for entry in detail["arms"].values() for run in entry["runs"])
