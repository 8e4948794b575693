"""``pytest-retrieval baseline``: reports that later runs are compared with, by name."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from pytest_retrieval.commands.parsers import REPORT, add_command
from pytest_retrieval.errors import ReportError, UsageError


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    baseline = add_command(
        commands,
        "baseline",
        "reports to compare with, by name: accept, list",
        "They are kept in .retrieval/baselines of the current folder; --baseline NAME compares with one.",
    )
    actions = baseline.add_subparsers(required=True, metavar="ACTION")
    accepting = add_command(
        actions,
        "accept",
        "keep a report under a name, with the reason",
        "A name that is there gets a new report, and its history goes on.",
        example="report.json --as main --reason 'why'",
    )
    accepting.add_argument("report", metavar="REPORT", help=REPORT)
    accepting.add_argument("--as", dest="name", metavar="NAME", required=True, help="what it is called")
    accepting.add_argument(
        "--reason", metavar="TEXT", required=True, help="why it is the baseline from now on"
    )
    accepting.set_defaults(command=accept)
    listing = add_command(actions, "list", "every name with its latest acceptance")
    listing.set_defaults(command=listed)


def accept(options: argparse.Namespace, rest: Sequence[str]) -> int:
    """Keep a report as a named baseline; a report that lost samples is none."""
    from pytest_retrieval.report import baselines
    from pytest_retrieval.report.judged import read_judged

    path = Path(options.report)
    try:
        report = read_judged(path)
    except ReportError as error:
        raise UsageError(str(error)) from error
    lost = report.head["selection"]["lost"]
    if lost:
        raise UsageError(f"{path}: {len(lost)} samples were lost; a baseline must be whole")
    entry = baselines.accept(path, options.name, options.reason, Path())
    sys.stdout.write(f"accepted {path} as {options.name} ({entry['sha256'][:12]})\n")
    return 0


def listed(options: argparse.Namespace, rest: Sequence[str]) -> int:
    """Print the named baselines."""
    from pytest_retrieval.report import baselines
    from pytest_retrieval.report.pieces import printable

    known = list(baselines.accepted(Path()))
    if not known:
        sys.stderr.write("none here: pytest-retrieval baseline accept REPORT --as main --reason 'why'\n")
    for name, history in known:
        latest = history[-1]
        line = f"{name}  {latest['date']}  {latest['sha256'][:12]}  {latest['report']}: {latest['reason']}"
        sys.stdout.write(f"{printable(line)}\n")
    return 0
