"""The fixtures of a suite: a sample, its snapshot, and the function that runs the arms on it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pytest_retrieval.bench.judge import Outcome
    from pytest_retrieval.model import Sample
    from pytest_retrieval.plugin.pool import Case
    from pytest_retrieval.plugin.session import BenchSession
    from pytest_retrieval.snapshots.base import Snapshot

OUTCOME: pytest.StashKey[Outcome] = pytest.StashKey()
BENCH: pytest.StashKey[BenchSession] = pytest.StashKey()


@pytest.fixture
def retrieval_case(request: pytest.FixtureRequest) -> Case:
    """The sample with the catalog that knows its snapshot; given by the ``retrieval`` marker."""
    case: Case | None = getattr(request, "param", None)
    if case is None:
        pytest.fail(
            "this test asks for a sample: give it the marker @pytest.mark.retrieval(...)", pytrace=False
        )
    return case


@pytest.fixture
def retrieval_sample(retrieval_case: Case) -> Sample:
    """The sample that this item judges."""
    return retrieval_case.sample


@pytest.fixture
def retrieval_snapshot(retrieval_case: Case) -> Snapshot:
    """The sample's repository at its base commit: a tree of text."""
    sample = retrieval_case.sample
    return retrieval_case.catalog.open(sample.repo, sample.commit)


@pytest.fixture
def retrieval_judge(request: pytest.FixtureRequest, retrieval_case: Case) -> Callable[[], Outcome]:
    """Run every arm on the sample, hand the outcome to the report, and fail the item on a fault.

    What voids the whole run ends it with this item.

    A missed gold, an abstention and a declared refusal are results; they fail nothing. The outcome is
    returned, so that a suite of one's own can ask more of it.
    """
    from pytest_retrieval.errors import VoidError
    from pytest_retrieval.report.pieces import printable

    bench = request.config.stash[BENCH]

    def judge() -> Outcome:
        try:
            outcome = bench.measure(retrieval_case)
        except VoidError as error:
            bench.void = request.session.shouldfail = str(error)
            pytest.fail(str(error), pytrace=False)
        request.node.stash[OUTCOME] = outcome
        if getattr(request.config.option, "xmlpath", None):  # of --junitxml, which workers are told, too
            from pytest_retrieval.plugin.publishing import item_properties

            request.node.user_properties.extend(item_properties(outcome.detail))
        if outcome.faults and bench.settings.tolerance is None:
            pytest.fail("\n".join(map(printable, outcome.failures())), pytrace=False)
        return outcome

    return judge
