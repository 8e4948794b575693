"""Tries an agent description with one question: what comes back, what is read of it, and what is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_retrieval.agents.agent import Agent
from pytest_retrieval.agents.events import NOT_OBSERVED
from pytest_retrieval.bench.probing import Report
from pytest_retrieval.trial.claims import PRESENT, extract
from pytest_retrieval.trial.contexts import make_contexts
from pytest_retrieval.trial.manifest import Task
from pytest_retrieval.trial.prepare import prepare
from pytest_retrieval.trial.prompt import NO_ACCESS, TOOLS
from pytest_retrieval.trial.run_task import check_tools, run_task
from pytest_retrieval.trial.workspace import Workspaces

_ASK = "This tries the connection. Claim nothing: end with an empty list of claims."
_SEARCH = "This tries the connection. Call the tool `search` once with the query `test`, then claim nothing."
_REPLY_LINES = 12
_WIDTH = 200


def probe(agent: Agent, *, root: Path | None, text: str | None, timeout: float, scratch: Path) -> Report:
    """Ask ``agent`` once, in an empty folder; with a ``root`` the arm grep over that folder is its tool.

    ``text`` is the task, in place of one that asks for no claim. An unknown key is an error here: a run only
    warns.

    Raises:
        UsageError: the agent does not tell who it is, or cannot be told of tools.
        SnapshotError: ``root`` cannot be read.
    """
    report = Report()
    report.say(*(f"{name}: {value}" for name, value in agent.identity().items()))
    for unknown in agent.warnings:
        report.error(unknown)
    access, arm = (NO_ACCESS, "none") if root is None else (TOOLS, "grep")
    contexts = make_contexts([arm], limit=20, timeout=timeout, base=Path())
    check_tools(access, agent, contexts)
    workspaces = Workspaces(scratch)
    [prepared] = prepare(
        [(0, _task(root or scratch, text, access))], contexts, workspaces, access=access, source=""
    )
    try:
        detail = run_task(
            prepared,
            agent,
            access=access,
            timeout=timeout,
            scratch=scratch,
            workspaces=workspaces,
            contexts=contexts,
        )
    finally:
        contexts.close()
    _say(detail["arms"][arm]["runs"][0], agent, report)
    return report


def _task(place: Path, text: str | None, access: str) -> Task:
    asked = text or (_SEARCH if access == TOOLS else _ASK)
    return Task(
        id="probe",
        kind="retrieval",
        repo="probe/probe",
        base_commit="0" * 40,
        changed_file=None,
        snapshot=str(place.absolute()),
        text=asked,
        gold=None,
        control=None,
        cluster=None,
        source=None,
    )


def _say(run: Mapping[str, Any], agent: Agent, report: Report) -> None:
    """What was observed, and what of it would be an error or a gap in a trial."""
    report.say(f"ended after {run['wall_ms']:,} ms with exit status {run['exit_code']}")
    if "stderr" in run:
        report.say(f"it says of its failure: {run['stderr']}")
    if "error" in run:
        report.error(run["error"])
        return
    lines = run["reply"].split("\n")
    shown = [f"  | {line[:_WIDTH]}" for line in lines[:_REPLY_LINES]]
    report.say(
        "reply:", *shown, *([f"  … {len(lines) - _REPLY_LINES} more lines"] * (len(lines) > _REPLY_LINES))
    )
    block = extract(run["reply"])
    if block.state == PRESENT:
        report.say(f"claims: {len(block.claims)}")
    else:
        report.error(f"the claims block of the reply is {block.state}; is `reply` right?")
    report.say(f"tokens: {run['tokens']}", f"tool calls: {run['tool_calls']}")
    report.say(*(f"  ran: {command[:_WIDTH]}" for command in run.get("commands", ())))
    events = agent.description.events
    if events is not None and events.usage and run["tokens"] == NOT_OBSERVED:
        report.say("warning: no event matched events.usage, or one of its values is no count")
    if "calls" in run:
        report.say(*(f"  asked: {call['tool']} {call['query'][:_WIDTH]!r}" for call in run["calls"]))
        if not run["calls"]:
            report.error("it asked no tool; is it told of the server ({{.McpConfig}}), and may it use it?")
