"""``pytest-retrieval gate``: a stored report is judged by the same code as a run."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from pytest_retrieval.commands.judging import add_gate_options, verdicts_of
from pytest_retrieval.commands.parsers import REPORT, add_command
from pytest_retrieval.errors import ReportError, UsageError


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    gating = add_command(
        commands,
        "gate",
        "judge a stored report",
        "The exit code is 1 if a gate fails, as an undecidable one does, 2 for a mistaken option or file.",
        example="report.json --gate 'grep: errors == 0'",
    )
    gating.add_argument("report", metavar="REPORT", help=REPORT)
    add_gate_options(gating)
    gating.set_defaults(command=gate)


def gate(options: argparse.Namespace, rest: Sequence[str]) -> int:
    """Print one verdict per gate; 1 if one fails, 2 for a mistaken option or file."""
    from pytest_retrieval.gates.lines import further_lines
    from pytest_retrieval.report.judged import read_judged
    from pytest_retrieval.report.pieces import printable

    if not options.gate and not options.gates:
        raise UsageError("no gate was given: --gate 'ARM: MEASURE >= NUMBER', or --retrieval-gates FILE")
    path = Path(options.report)
    try:
        report = read_judged(path)
        verdicts = verdicts_of(options, report.head, report.details, path, report.sha256)
    except ReportError as error:
        raise UsageError(str(error)) from error
    mark = "PILOT " if report.head.get("pilot") else ""
    for verdict in verdicts:
        sys.stdout.write(f"{mark}gate {printable(str(verdict))}\n")
        sys.stdout.writelines(f"  {printable(line)}\n" for line in further_lines(verdict.record()))
    return int(any(verdict.fails for verdict in verdicts))
