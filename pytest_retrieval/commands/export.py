"""``pytest-retrieval export``: a report in the format of another tool."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_retrieval.commands.parsers import REPORT, add_command
from pytest_retrieval.errors import ReportError, UsageError, closest
from pytest_retrieval.report.distinct import same_file

if TYPE_CHECKING:
    from pytest_retrieval.report.build import Report
    from pytest_retrieval.report.stored import StoredReport

# A format takes a report and the labels of arms, and gives the file in pieces.
Format = Callable[["StoredReport", Sequence[str], argparse.Namespace], Iterable[bytes]]
TrialFormat = Callable[["Report", Sequence[str], argparse.Namespace], Iterable[bytes]]


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    exporting = add_command(
        commands,
        "export",
        "a report as csv, latex, markdown and other tools have it",
        example=".retrieval/report.json --as csv -o rows.csv",
    )
    exporting.add_argument("report", metavar="REPORT", help=REPORT)
    exporting.add_argument(
        "--as",
        dest="format",
        choices=sorted(FORMATS),
        required=True,
        help="a row per sample and arm (csv, parquet), a table of arms (latex, markdown), times "
        "(pytest-benchmark), or one arm's answers as another benchmark has them (arb, contextbench)",
    )
    exporting.add_argument(
        "--arm", metavar="LABEL", help="this arm alone; needed for arb and contextbench if there are several"
    )
    exporting.add_argument(
        "--group", metavar="GROUP", default="all", help="the samples or tasks of a LaTeX table"
    )
    exporting.add_argument("-o", "--output", metavar="FILE", help="default: standard output")
    exporting.set_defaults(command=export)


def export(options: argparse.Namespace, rest: Sequence[str]) -> int:
    """Write a report, or an arm's answers, as another tool reads them."""
    from pytest_retrieval.report.document import Document
    from pytest_retrieval.report.write import write_bytes
    from pytest_retrieval.trial.reading import is_trial

    if options.format == "parquet" and options.output is None and sys.stdout.isatty():
        raise UsageError("parquet is no text to look at: give -o FILE")
    path = Path(options.report)
    if options.output is not None and same_file(Path(options.output), path):
        raise UsageError(f"-o {options.output}: this is the report itself; name another file")
    try:
        found = _of_trial(options) if is_trial(Document(path, "details")) else _of_rankings(options)
        pieces = list(found)  # all of them, or none is written
    except ReportError as error:
        raise UsageError(str(error)) from error
    if options.output is None:
        sys.stdout.buffer.writelines(pieces)
    else:
        write_bytes(Path(options.output), pieces, "the export", makes_folder=True)
        sys.stderr.write(f"wrote {options.output}\n")
    return 0


def _of_rankings(options: argparse.Namespace) -> Iterable[bytes]:
    from pytest_retrieval.report.read import read_report

    report = read_report(Path(options.report))
    return FORMATS[options.format](report, _labels(options, list(report.arms)), options)


def _of_trial(options: argparse.Namespace) -> Iterable[bytes]:
    """A trial, scored again from what it recorded."""
    from pytest_retrieval.trial.rescore import rescore

    if options.format not in TRIAL_FORMATS:
        known = ", ".join(sorted(TRIAL_FORMATS))
        raise UsageError(
            f"{options.report}: a trial's report holds claims and no rankings, which {options.format} is "
            f"about; it can be exported as {known}"
        )
    report = rescore(Path(options.report))
    return TRIAL_FORMATS[options.format](report, _labels(options, list(report.head["arms"])), options)


def _labels(options: argparse.Namespace, known: list[str]) -> list[str]:
    """The arms that are exported."""
    if options.arm is not None and options.arm not in known:
        raise UsageError(
            f"no arm {options.arm!r} in the report{closest(options.arm, known)} (known: {', '.join(known)})"
        )
    if options.arm is None and options.format in OF_ONE_ARM and len(known) != 1:
        raise UsageError(f"the report has {len(known)} arms; name one with --arm: {', '.join(known)}")
    return known if options.arm is None else [options.arm]


def _contextbench(
    report: StoredReport, labels: Sequence[str], options: argparse.Namespace
) -> Iterable[bytes]:
    from pytest_retrieval.report.contextbench import predictions

    return predictions(report.details(), labels[0])


def _arb(report: StoredReport, labels: Sequence[str], options: argparse.Namespace) -> Iterable[bytes]:
    from pytest_retrieval.report.exports.arb import details_lines

    return details_lines(report.details(), labels[0])


def _csv(report: StoredReport, labels: Sequence[str], options: argparse.Namespace) -> Iterable[bytes]:
    from pytest_retrieval.report.exports import rows

    names = rows.measures(report.details(), labels, report.limit, report.measures)
    return rows.as_csv(rows.rows(report.details(), labels), names)


def _parquet(report: StoredReport, labels: Sequence[str], options: argparse.Namespace) -> Iterable[bytes]:
    from pytest_retrieval.report.exports import rows

    names = rows.measures(report.details(), labels, report.limit, report.measures)
    return [rows.as_parquet(rows.rows(report.details(), labels), names)]


def _latex(report: StoredReport, labels: Sequence[str], options: argparse.Namespace) -> Iterable[bytes]:
    from pytest_retrieval.report.exports.latex import table
    from pytest_retrieval.report.merge import merge

    head = merge([report]).head
    arms = {label: arm for label, arm in head["arms"].items() if label in labels}
    return [f"{line}\n".encode() for line in table({**head, "arms": arms}, options.group)]


def _markdown(report: StoredReport, labels: Sequence[str], options: argparse.Namespace) -> Iterable[bytes]:
    from pytest_retrieval.report.document import Document
    from pytest_retrieval.report.exports.markdown import summary
    from pytest_retrieval.report.merge import merge

    head = merge([report]).head
    arms = {label: arm for label, arm in head["arms"].items() if label in labels}
    gates = Document(report.path, "details").members.get("gates", [])  # as that run judged them
    return [summary({**head, "arms": arms, "gates": gates}, report.details()).encode()]


def _latencies(report: StoredReport, labels: Sequence[str], options: argparse.Namespace) -> Iterable[bytes]:
    from pytest_retrieval.report.exports.latencies import run

    environment = report.environments[0] if report.environments else {}
    contended = any(one.get("contended") for one in report.environments)
    stored = run(report.details(), labels, {**environment, "contended": contended})
    return [json.dumps(stored, indent=4, sort_keys=True).encode() + b"\n"]


def _trial_csv(report: Report, labels: Sequence[str], options: argparse.Namespace) -> Iterable[bytes]:
    from pytest_retrieval.report.exports import rows, trialrows

    names = trialrows.measures(trialrows.rows(report.details(), labels))
    return rows.as_csv(trialrows.rows(report.details(), labels), names, trialrows.COLUMNS)


def _trial_parquet(report: Report, labels: Sequence[str], options: argparse.Namespace) -> Iterable[bytes]:
    from pytest_retrieval.report.exports import rows, trialrows

    names = trialrows.measures(trialrows.rows(report.details(), labels))
    found = trialrows.rows(report.details(), labels)
    return [rows.as_parquet(found, names, trialrows.COLUMNS, trialrows.LISTS)]


def _trial_latex(report: Report, labels: Sequence[str], options: argparse.Namespace) -> Iterable[bytes]:
    from pytest_retrieval.report.exports.trialtables import latex_lines

    return [f"{line}\n".encode() for line in latex_lines(_of_arms(report, labels), options.group)]


def _trial_markdown(report: Report, labels: Sequence[str], options: argparse.Namespace) -> Iterable[bytes]:
    from pytest_retrieval.report.exports.trialtables import summary

    return [summary(_of_arms(report, labels), report.details()).encode()]


def _of_arms(report: Report, labels: Sequence[str]) -> dict[str, Any]:
    """The report's head with these arms alone."""
    return {**report.head, "arms": {label: report.head["arms"][label] for label in labels}}


FORMATS: dict[str, Format] = {
    "arb": _arb,
    "contextbench": _contextbench,
    "csv": _csv,
    "latex": _latex,
    "markdown": _markdown,
    "parquet": _parquet,
    "pytest-benchmark": _latencies,
}
TRIAL_FORMATS: dict[str, TrialFormat] = {
    "csv": _trial_csv,
    "latex": _trial_latex,
    "markdown": _trial_markdown,
    "parquet": _trial_parquet,
}
OF_ONE_ARM = ("arb", "contextbench")
