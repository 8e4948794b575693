"""``pytest-retrieval summarize``: several reports become one."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_retrieval.commands.judging import add_gate_options, verdicts_of
from pytest_retrieval.commands.parsers import add_command
from pytest_retrieval.errors import ReportError, UsageError
from pytest_retrieval.report.distinct import same_file

if TYPE_CHECKING:
    from pytest_retrieval.report.build import Report


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    merging = add_command(
        commands,
        "summarize",
        "join reports into one, print its table, and judge it",
        "The exit code is 1 if a gate fails.",
        example="a.json b.json -o all.json",
    )
    merging.add_argument("report", nargs="+", metavar="REPORT", help="ours, or the originals'")
    merging.add_argument("-o", "--output", metavar="FILE", help="write the merged report to FILE")
    merging.add_argument(
        "--union", action="store_true", help="reports over different samples files, with different ids"
    )
    merging.add_argument(
        "--measures",
        metavar="'MEASURE ...'",
        default="",
        help="compute further ones, as --retrieval-measures: 'nDCG@10 AP'",
    )
    merging.add_argument(
        "--format",
        choices=("pytest-retrieval", "corvint"),
        default="pytest-retrieval",
        help="the profile of FILE; corvint is that of the original bench",
    )
    add_gate_options(merging)
    merging.set_defaults(command=summarize)


def summarize(options: argparse.Namespace, rest: Sequence[str]) -> int:
    """Merge reports into one table, one file, and verdicts."""
    from pytest_retrieval.report import corvint_writer, table, write
    from pytest_retrieval.report.pieces import plain
    from pytest_retrieval.report.place import check_replaceable
    from pytest_retrieval.trial import table as trial_table

    paths = [Path(text) for text in options.report]
    output = None if options.output is None else Path(options.output)
    if options.format == "corvint" and output is None:
        raise UsageError("--format corvint says how the file of -o is written; give one")
    if output is not None and any(same_file(output, path) for path in paths):
        raise UsageError(f"-o {output}: this is one of the reports to merge; name another file")
    if output is not None:
        check_replaceable(output)
    try:
        report = _merged(options, paths)
        verdicts = verdicts_of(options, report.head, report.details, output)
        report = report.with_gates(verdict.record() for verdict in verdicts)
        if output is not None:
            written = corvint_writer.chunks(report) if options.format == "corvint" else report.chunks()
            write.write_report(output, written, makes_folder=True)
    except ReportError as error:
        raise UsageError(str(error)) from error
    width = shutil.get_terminal_size().columns
    renderer = trial_table if report.head["kind"] == "trial" else table
    lines = renderer.render(report.head, width, None if output is None else str(output))
    sys.stdout.writelines(f"{plain(line)}\n" for line in lines)
    return int(any(gate["fails"] for gate in report.head["gates"]))


def _merged(options: argparse.Namespace, paths: Sequence[Path]) -> Report:
    """One report of all, which are of rankings, or all of one trial."""
    from pytest_retrieval.measures.chosen import choose
    from pytest_retrieval.report.merge import merge
    from pytest_retrieval.report.read import OfTrialError, read_report
    from pytest_retrieval.trial.merge import merge_trials
    from pytest_retrieval.trial.reading import read_trial

    try:
        reports = [read_report(path) for path in paths]
    except OfTrialError as error:
        if options.union or options.measures or options.format == "corvint":
            raise UsageError(
                f"{error}: --union, --measures and --format corvint say nothing of it"
            ) from error
        return merge_trials([read_trial(path) for path in paths])
    further = [measure.name for measure in choose([options.measures], reports[0].limit)]
    return merge(reports, union=options.union, measures=further)
