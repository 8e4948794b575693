"""``pytest-retrieval agent``: try a description of an agent before a trial does."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from pytest_retrieval.commands.parsers import add_command
from pytest_retrieval.errors import UsageError


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command and its actions."""
    agent = add_command(commands, "agent", "agents of trials by description: probe, list")
    actions = agent.add_subparsers(required=True, metavar="ACTION")
    probing = add_command(
        actions,
        "probe",
        "ask an agent once, and say what is read and what is wrong",
        "The exit code is 1 if something is wrong.",
        example="script:./agent.sh",
    )
    probing.add_argument(
        "agent", metavar="AGENT", help="as for --agent: codex, claude, script:PATH or FILE.json"
    )
    probing.add_argument("--model", default="", metavar="ID", help="as --retrieval-model")
    probing.add_argument("--effort", default="", metavar="EFFORT", help="as --retrieval-effort")
    probing.add_argument("--text", metavar="TEXT", help="the task; by default one that asks for no claim")
    probing.add_argument("--timeout", default="5m", metavar="DURATION", help="such as 90s; default: 5m")
    probing.add_argument("--root", metavar="DIR", help="hand the arm grep over this folder to it, as a tool")
    probing.set_defaults(command=probe)
    add_command(actions, "list", "name the shipped descriptions").set_defaults(command=list_shipped)


def probe(options: argparse.Namespace, rest: Sequence[str]) -> int:
    """Show what an agent is, what it replied and what was read of that; 1 if something is wrong."""
    from pytest_retrieval.agents.agent import load_agent
    from pytest_retrieval.engines.durations import parse_duration
    from pytest_retrieval.snapshots.scratch import RunFolder
    from pytest_retrieval.trial.probing import probe as probe_agent

    try:
        timeout = parse_duration(options.timeout)
    except ValueError as error:
        raise UsageError(f"--timeout: {error}") from None
    root = None if options.root is None else Path(options.root).expanduser()
    if root is not None and not root.is_dir():
        raise UsageError(f"--root: {options.root!r} is no folder")
    agent = load_agent(options.agent, Path.cwd(), model=options.model, effort=options.effort)
    folder = RunFolder.enter(RunFolder.name_only())
    try:
        report = probe_agent(agent, root=root, text=options.text, timeout=timeout, scratch=folder.path)
    finally:
        folder.remove()
    sys.stdout.writelines(f"{line}\n" for line in report.lines)
    sys.stdout.write("" if report.failed else "ok\n")
    return 1 if report.failed else 0


def list_shipped(options: argparse.Namespace, rest: Sequence[str]) -> int:
    """Name the shipped descriptions and what each is."""
    import json

    from pytest_retrieval.agents.loading import SHIPPED, shipped_names

    for name in shipped_names():
        about = json.loads((SHIPPED / f"{name}.json").read_bytes())["about"]
        sys.stdout.write(f"{name}: {about}\n")
    return 0
