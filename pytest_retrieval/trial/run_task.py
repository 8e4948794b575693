"""All invocations of one prepared task: where each runs, what it may use, and what it left behind."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from pytest_retrieval.agents.agent import Agent
from pytest_retrieval.agents.observe import invoke
from pytest_retrieval.errors import UsageError
from pytest_retrieval.snapshots.scratch import passing_folder
from pytest_retrieval.trial.contexts import Contexts
from pytest_retrieval.trial.prepare import Prepared, has_tools
from pytest_retrieval.trial.prompt import READ_ONLY, TOOLS
from pytest_retrieval.trial.toolhost import ToolHost
from pytest_retrieval.trial.workspace import Workspace, Workspaces

Record = dict[str, Any]
Known = Callable[[str, int], Record | None]
Finished = Callable[[str, int, Record], None]


def check_tools(access: str, agent: Agent, contexts: Contexts) -> None:
    """Refuse to hand arms as tools to an agent that cannot be told of them.

    Raises:
        UsageError: that is so.
    """
    if has_tools(access, contexts) and not agent.serves_tools:
        raise UsageError(
            f"agent {agent.kind}: its description does not say how it is told of tools; give its command "
            '["--mcp-config", "{{.McpConfig}}"] or what it takes instead'
        )


def run_task(
    prepared: Prepared,
    agent: Agent,
    *,
    access: str,
    timeout: float,
    scratch: Path,
    repeats: int = 1,
    workspaces: Workspaces | None = None,
    contexts: Contexts | None = None,
    known: Known = lambda label, repeat: None,
    finished: Finished = lambda label, repeat, record: None,
) -> dict[str, Any]:
    """Ask ``agent`` once per arm and repeat, and give back the task's row with its runs, unscored.

    ``known`` gives the record of an invocation that need not be made, by arm and repeat from 0. ``finished``
    is told each record that was made, at once. With read-only access and with tools the repository comes from
    ``workspaces``, tools from ``contexts``. Each repeat asks all arms before the next begins, so that what
    changes in the meantime changes for all.

    Raises:
        SnapshotError: the repository cannot be had.
    """
    labels = list(prepared.detail["arms"])
    runs: dict[str, list[Record]] = {label: [] for label in labels}
    ask = partial(invoke, agent, timeout=timeout, scratch=scratch)
    with _Stage(prepared, ask, access, scratch, workspaces, contexts) as stage:
        for repeat in range(repeats):
            for label in labels:
                record = known(label, repeat)
                if record is None:
                    record = stage.invoke(label)
                    finished(label, repeat, record)
                runs[label].append(record)
    arms = {label: {**entry, "runs": runs[label]} for label, entry in prepared.detail["arms"].items()}
    return {**prepared.detail, "arms": arms}


@dataclass(slots=True)
class _Stage:
    """Where the agent runs: in the copy, or in an empty folder of its own for each invocation.

    The repository is opened when the first invocation needs it, and is gone with the stage.
    """

    prepared: Prepared
    ask: Callable[..., Record]
    access: str
    scratch: Path
    workspaces: Workspaces | None
    contexts: Contexts | None
    opened: Workspace | None = None
    closing: ExitStack = field(default_factory=ExitStack)

    def __enter__(self) -> _Stage:
        return self

    def __exit__(self, *reason: object) -> None:
        self.closing.close()

    def invoke(self, label: str) -> Record:
        """The record of one invocation of the arm ``label``."""
        prompt = self.prepared.prompts[label]
        if self.access == READ_ONLY:
            return self._in_copy(prompt)
        if self.access == TOOLS:
            return self._with_tools(label, prompt)
        with passing_folder(self.scratch, "empty-") as folder:
            return self.ask(folder, prompt)

    def _in_copy(self, prompt: str) -> Record:
        """In the copy, which the next arm finds as this one did: what an agent left in it is its error."""
        workspace = self._workspace()
        record = self.ask(workspace.path, prompt)
        dirt = workspace.mend()
        if dirt is None:
            return record
        error = record.get("error")
        return {**record, "error": dirt if error is None else f"{error}; {dirt}"}

    def _with_tools(self, label: str, prompt: str) -> Record:
        """In an empty folder, with the arm as a tool; an arm without one is the control."""
        assert self.contexts is not None
        source = self.contexts.source(label)
        with passing_folder(self.scratch, "empty-") as folder:
            if not source.has_tool:
                return {**self.ask(folder, prompt), "calls": []}
            question = self.contexts.question(self.prepared.task)
            host = ToolHost(source, question, self._workspace(), self.scratch)
            with host as server:
                record = self.ask(folder, prompt, server=server)
            return {**record, "calls": host.calls}

    def _workspace(self) -> Workspace:
        assert self.workspaces is not None
        if self.opened is None:
            self.opened = self.closing.enter_context(self.workspaces.open(self.prepared.task))
        return self.opened
