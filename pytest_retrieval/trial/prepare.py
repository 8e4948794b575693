"""Every context and prompt of a task, built from a clean copy that is gone before an agent starts."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from dataclasses import dataclass
from typing import Any

from pytest_retrieval.trial.contexts import Contexts
from pytest_retrieval.trial.manifest import Task
from pytest_retrieval.trial.prompt import TOOLS, encoded, fill, sha256
from pytest_retrieval.trial.values import PATH_KINDS, normalise
from pytest_retrieval.trial.workspace import Workspace, Workspaces

EXPLAINED = 2_000  # code points of a task's text that an explained report keeps


@dataclass(frozen=True, slots=True)
class Prepared:
    """A task that is ready for its agents: its row of the report without runs, and each arm's prompt."""

    task: Task
    detail: dict[str, Any]
    prompts: dict[str, str]


def prepare(
    tasks: Iterable[tuple[int, Task]],
    contexts: Contexts,
    workspaces: Workspaces,
    *,
    access: str,
    source: str,
) -> Generator[Prepared, None, None]:
    """Prepare ``tasks``, each with its row in the manifest, whose SHA-256 is ``source``.

    One copy lives at a time. Once the iterator is used up or closed there is none, and no arm holds one
    either, whatever the access mode.

    Raises:
        SnapshotError: the repository of a task cannot be had; the text starts with the task's id.
    """
    try:
        for row, task in tasks:
            with workspaces.open(task) as workspace:
                prepared = prepare_task(row, task, contexts, workspace, access=access, source=source)
            yield prepared
    finally:
        contexts.close()


def prepare_task(
    row: int, task: Task, contexts: Contexts, workspace: Workspace, *, access: str, source: str
) -> Prepared:
    """Prepare one task in its open ``workspace``."""
    detail = describe(row, task, source) | _observed(task, workspace)
    entries = {label: contexts.produce(label, task, workspace, access) for label in contexts.labels}
    bare = {**detail, "arms": {label: {**entry, "runs": []} for label, entry in entries.items()}}
    prepared = restore(task, bare, contexts, access)
    for label, prompt in prepared.prompts.items():
        facts = {"prompt_sha256": sha256(prompt), "prompt_bytes": len(encoded(prompt))}
        bare["arms"][label] = {**facts, **bare["arms"][label]}
    return prepared


def restore(task: Task, detail: dict[str, Any], contexts: Contexts, access: str) -> Prepared:
    """The prepared task that ``detail`` was taken from, in another process: its prompts are filled again."""
    prompts = {
        label: fill(
            access,
            text=task.text,
            arm=label,
            prologue=contexts.prologue(label, access),
            context=entry["context"],
        )
        for label, entry in detail["arms"].items()
    }
    return Prepared(task, detail, prompts)


def describe(row: int, task: Task, source: str) -> dict[str, Any]:
    """What a row of the report repeats of its task."""
    gold = None if task.gold is None else {kind: list(values) for kind, values in task.gold.items()}
    named = {"control": task.control, "cluster": task.cluster, "subject": task.changed_file}
    return {
        "id": task.id,
        "ordinal": 0,
        "source": source,
        "row": row,
        "kind": task.kind,
        "repo": task.repo,
        "base_commit": task.base_commit,
        "gold": gold,
        **{name: value for name, value in named.items() if value is not None},
    }


def explanation(task: Task) -> dict[str, Any]:
    """What a row of an explained report tells beside: the beginning of the task's text."""
    return {"query": task.text[:EXPLAINED], "query_chars": len(task.text)}


def _observed(task: Task, workspace: Workspace) -> dict[str, Any]:
    """Which gold paths the base commit has, and how much history the copy shows."""
    gold = task.gold or {}
    paths = {normalise(kind, value) for kind in PATH_KINDS for value in gold.get(kind, ())}
    commits = workspace.history_commits
    return {
        "gold_at_base": sorted(path for path in paths if workspace.holds(path)),
        "gold_checked": True,
        **({} if commits is None else {"history_commits": commits}),
    }


def has_tools(access: str, contexts: Contexts) -> bool:
    """Whether some arm is handed to the agent as a tool."""
    return access == TOOLS and any(contexts.source(label).has_tool for label in contexts.labels)
