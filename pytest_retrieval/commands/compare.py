"""``pytest-retrieval compare``: two reports side by side."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from pytest_retrieval.commands.parsers import add_command
from pytest_retrieval.errors import ReportError, UsageError


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    comparing = add_command(
        commands,
        "compare",
        "what became better or worse between two reports",
        "Only samples that both have count.",
        example="before.json after.json --moved 3",
    )
    comparing.add_argument("old", metavar="OLD", help="a report, or the name of an accepted baseline")
    comparing.add_argument("new", metavar="NEW", help="a report")
    comparing.add_argument(
        "--arm",
        action="append",
        default=[],
        metavar="OLD=NEW",
        help="an arm that has another label now; may be given several times",
    )
    comparing.add_argument(
        "--measures", metavar="'MEASURE ...'", help="these measures instead of the usual ones"
    )
    comparing.add_argument(
        "--moved", type=int, default=10, metavar="N", help="samples of each arm that are named; default: 10"
    )
    comparing.add_argument(
        "--format", choices=("table", "md"), default="table", help="md: for a pull request"
    )
    comparing.set_defaults(command=compare)


def compare(options: argparse.Namespace, rest: Sequence[str]) -> int:
    """Print the comparison."""
    from pytest_retrieval.measures.names import canonical
    from pytest_retrieval.report import compare_table
    from pytest_retrieval.report.baselines import baseline_path, is_name, known_names
    from pytest_retrieval.report.compare import compare_reports
    from pytest_retrieval.report.judged import read_judged
    from pytest_retrieval.report.pieces import plain

    named = Path(options.old)
    path = named if named.exists() else baseline_path(options.old, Path(), Path())
    if is_name(options.old) and not path.exists():
        known = known_names(Path(), options.old)
        raise UsageError(f"{options.old}: no report, and no baseline of that name was accepted here{known}")
    try:
        old, new = read_judged(path), read_judged(Path(options.new))
    except ReportError as error:
        raise UsageError(str(error)) from error
    if old.sha256 == new.sha256:
        raise UsageError(f"{path} and {options.new} are one report")
    words = (options.measures or "").replace(",", " ").split()
    own = tuple(new.head.get("measures", ()))
    measures = words if new.trial else [canonical(word, new.head["limit"], own) for word in words]
    found = compare_reports(
        old, new, renamed=_renamed(options.arm), measures=measures, moved=max(0, options.moved)
    )
    if options.format == "md":
        lines = list(compare_table.markdown(found))
    else:
        width = shutil.get_terminal_size().columns
        lines = [plain(line) for line in compare_table.compare_lines(found, width)]
    sys.stdout.writelines(f"{line}\n" for line in lines)
    return 0


def _renamed(texts: Sequence[str]) -> dict[str, str]:
    found = {}
    for text in texts:
        old, equals, new = text.partition("=")
        if not (old and equals and new):
            raise UsageError(f"--arm {text!r}: write OLD=NEW, two labels")
        found[old] = new
    return found
