"""``pytest-retrieval html``: a report as a page for a browser."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_retrieval.commands.parsers import REPORT, add_command
from pytest_retrieval.errors import ReportError, UsageError
from pytest_retrieval.report.distinct import same_file

if TYPE_CHECKING:
    from pytest_retrieval.report.build import Report


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    showing = add_command(
        commands, "html", "a report as one page for a browser", "The page asks for nothing from anywhere."
    )
    showing.add_argument("report", metavar="REPORT", help=REPORT)
    showing.add_argument("-o", "--output", metavar="FILE", help="default: REPORT with the suffix .html")
    showing.set_defaults(command=html)


def html(options: argparse.Namespace, rest: Sequence[str]) -> int:
    """Write the page about a stored report; what the report sums up is computed again from its details."""
    from pytest_retrieval.report.html.page import write_page
    from pytest_retrieval.report.html.place import check_replaceable

    source = Path(options.report)
    output = source.with_suffix(".html") if options.output is None else Path(options.output)
    if same_file(output, source):
        raise UsageError(f"-o {output}: this is the report itself; name another file")
    check_replaceable(output)
    try:
        write_page(output, _stored(source))
    except ReportError as error:
        raise UsageError(str(error)) from error
    sys.stdout.write(f"{output}\n")
    return 0


def _stored(path: Path) -> Report:
    """The report in a file, summed up anew, with the verdicts that it has."""
    from pytest_retrieval.report.build import Report
    from pytest_retrieval.report.document import Document
    from pytest_retrieval.report.html.source import stored_verdicts
    from pytest_retrieval.report.merge import merge
    from pytest_retrieval.report.read import read_report
    from pytest_retrieval.trial.reading import is_trial
    from pytest_retrieval.trial.rescore import rescore

    document = Document(path, "details")
    verdicts = stored_verdicts(document)
    if is_trial(document):
        return rescore(path)
    report = merge([read_report(path)])
    environment = report.head["environment"]
    if len(environment["reports"]) == 1:  # of joined parts each has its own
        (environment,) = environment["reports"]
    return Report({**report.head, "environment": environment}, report.packed).with_gates(verdicts)
