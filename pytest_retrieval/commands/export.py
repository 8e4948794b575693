"""``pytest-retrieval export``: a report in the format of another tool."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from pytest_retrieval.errors import UsageError, closest
from pytest_retrieval.report.distinct import same_file


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    exporting = commands.add_parser("export", help="answers in another benchmark's prediction format")
    exporting.add_argument("report", metavar="REPORT")
    exporting.add_argument("--as", dest="format", choices=("contextbench",), required=True)
    exporting.add_argument(
        "--arm", metavar="LABEL", help="whose answers; may be left out if there is one arm"
    )
    exporting.add_argument("-o", "--output", metavar="FILE", help="default: standard output")
    exporting.set_defaults(command=export)


def export(options: argparse.Namespace, rest: Sequence[str]) -> int:
    """Write an arm's answers in the prediction format of another benchmark."""
    from pytest_retrieval.report.contextbench import predictions
    from pytest_retrieval.report.read import read_report

    report = read_report(Path(options.report))
    labels = list(report.arms)
    if options.arm is None and len(labels) != 1:
        raise UsageError(f"the report has {len(labels)} arms; name one with --arm: {', '.join(labels)}")
    label = labels[0] if options.arm is None else options.arm
    if label not in labels:
        raise UsageError(
            f"no arm {label!r} in the report{closest(label, labels)} (known: {', '.join(labels)})"
        )
    if options.output is not None and same_file(Path(options.output), Path(options.report)):
        raise UsageError(f"-o {options.output}: this is the report itself; name another file")
    lines = list(predictions(report.details(), label))  # all of them, or none is written
    if options.output is None:
        sys.stdout.buffer.writelines(lines)
    else:
        Path(options.output).write_bytes(b"".join(lines))
    return 0
