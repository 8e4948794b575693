"""Each task becomes one parametrised item, with an id to read, keywords to choose by and one mark."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import pytest

from pytest_retrieval.errors import RetrievalError
from pytest_retrieval.plugin.collection import DIGITS, language_of_paths
from pytest_retrieval.plugin.markers import check_arguments
from pytest_retrieval.plugin.trial.session import TrialCase

if TYPE_CHECKING:
    from pytest_retrieval.plugin.trial.session import TrialSession
    from pytest_retrieval.trial.manifest import Task

MARKER = "retrieval_trial"
FIXTURE = "retrieval_trial_case"
ARGUMENTS = ("tasks", "corpus", "snapshot", "history")
_SINGLE = ("tasks", "history")
_SLUG_LENGTH = 60


def parametrize(metafunc: pytest.Metafunc, trial: TrialSession) -> None:
    """Make items of the tasks that the function's ``retrieval_trial`` marker names."""
    marker = metafunc.definition.get_closest_marker(MARKER)
    if marker is None or FIXTURE not in metafunc.fixturenames:
        return
    try:
        check_arguments(MARKER, marker.args, marker.kwargs, ARGUMENTS, _SINGLE)
        cases = trial.suite(marker.kwargs, metafunc.definition.path.parent)
        settings = trial.bench.settings
    except RetrievalError as error:
        raise pytest.Collector.CollectError(str(error)) from None
    parameters = [
        pytest.param(case, id=item_id(case.task), marks=mark(case.task))
        for case in cases
        if not settings.tasks or case.task.kind in settings.tasks
    ]
    # A suite without a task must not become the one skipped item that pytest makes of no parameters.
    nothing = [pytest.param(None, id="no-task")]
    metafunc.parametrize(FIXTURE, parameters[: settings.max_samples] or nothing, indirect=True)


def item_id(task: Task) -> str:
    """An id such as ``acme/quota-q1-0f3a91c2d4e5``: readable, unique, and the task's own."""
    digits = sha256(task.id.encode("utf-8", "surrogatepass")).hexdigest()[:DIGITS]
    parts = (re.sub(r"[^A-Za-z0-9_.:/+-]+", "_", text) for text in (task.repo, task.id[:_SLUG_LENGTH]))
    return "-".join(filter(None, (*parts, digits)))


def mark(task: Task) -> pytest.MarkDecorator:
    """The mark ``sample(...)`` to choose by exactly; a control's stratum is its own."""
    return pytest.mark.sample(
        repo=task.repo,
        task="trial",
        stratum=task.control or task.kind,
        fold="",
        language=_language(task) or "",
        id=task.id,
        difficulty="",
        corpus="",
    )


def keywords(case: TrialCase) -> Iterator[str]:
    """The words that ``-k`` finds a task by, beside its id."""
    task = case.task
    yield from (task.repo, task.id, task.kind, case.partition)
    if task.control:
        yield task.control
    if task.changed_file:
        yield from PurePosixPath(task.changed_file).parts[:-1]
    if language := _language(task):
        yield f"lang:{language}"


def case_of(item: pytest.Item) -> TrialCase | None:
    """The case that an item runs, or None for any other item."""
    callspec = getattr(item, "callspec", None)
    case = callspec.params.get(FIXTURE) if callspec is not None else None
    return case if isinstance(case, TrialCase) else None


def arrange(items: Iterable[pytest.Item]) -> None:
    """Give every item of a trial its keywords; they stay in the order of the manifest."""
    for item in items:
        if (case := case_of(item)) is not None:
            item.extra_keyword_matches.update(keywords(case))


def enrol(items: Iterable[pytest.Item], trial: TrialSession) -> None:
    """Note every item of a trial that is to run, by the node id that it has in the end."""
    for item in items:
        if (case := case_of(item)) is not None:
            trial.plan.entries[item.nodeid] = case.row


def is_placeholder(item: object) -> bool:
    """Whether ``item`` stands for a suite without a task in this run."""
    callspec = getattr(item, "callspec", None)
    return callspec is not None and callspec.params.get(FIXTURE, callspec) is None


def _language(task: Task) -> str | None:
    golds = [path for paths in (task.gold or {}).values() for path in paths]
    return language_of_paths(filter(None, (task.changed_file, *golds)))
