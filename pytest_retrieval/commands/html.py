"""``pytest-retrieval html``: a report as a page for a browser."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from pytest_retrieval.errors import ReportError, UsageError
from pytest_retrieval.report.distinct import same_file


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    showing = commands.add_parser("html", help="a report as one self-contained page for a browser")
    showing.add_argument("report", metavar="REPORT")
    showing.add_argument("-o", "--output", metavar="FILE", help="default: REPORT with the suffix .html")
    showing.set_defaults(command=html)


def html(options: argparse.Namespace, rest: Sequence[str]) -> int:
    """Write the page about a stored report; what the report sums up is computed again from its details."""
    from pytest_retrieval.report.html.page import write_page
    from pytest_retrieval.report.html.place import check_replaceable
    from pytest_retrieval.report.html.source import stored

    source = Path(options.report)
    output = source.with_suffix(".html") if options.output is None else Path(options.output)
    if same_file(output, source):
        raise UsageError(f"-o {output}: this is the report itself; name another file")
    check_replaceable(output)
    try:
        write_page(output, stored(source))
    except ReportError as error:
        raise UsageError(str(error)) from error
    sys.stdout.write(f"{output}\n")
    return 0
