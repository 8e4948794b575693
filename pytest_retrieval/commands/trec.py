"""``pytest-retrieval trec``: a report's rankings as TREC run files, and its gold as qrels."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection, Sequence
from pathlib import Path

from pytest_retrieval.commands.parsers import REPORT, add_command
from pytest_retrieval.errors import UsageError


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    exporting = add_command(
        commands, "trec", "a report as TREC run and qrels files", example="a.json -o trec"
    )
    exporting.add_argument("report", metavar="REPORT", help=REPORT)
    exporting.add_argument(
        "-o", "--output", metavar="DIR", required=True, help="a new folder, or one of before"
    )
    exporting.set_defaults(command=trec)


def trec(options: argparse.Namespace, rest: Sequence[str]) -> int:
    """Write one run file per arm, the qrels, and what the ids of queries stand for."""
    from pytest_retrieval.report.exports import trec as exports
    from pytest_retrieval.report.read import read_report
    from pytest_retrieval.report.write import write_bytes

    report = read_report(Path(options.report))
    folder = Path(options.output)
    done = exports.export(report.details(), report.arms, report.limit)
    _check(folder, done.files)
    folder.mkdir(parents=True, exist_ok=True)
    for name, lines in done.files.items():
        write_bytes(folder / name, (f"{line}\n".encode() for line in lines), f"the file {name}")
    for note in done.notes:
        sys.stderr.write(f"{note}\n")
    runs = sum(name.endswith(".run") for name in done.files)
    sys.stderr.write(f"wrote {exports.QRELS}, {exports.QUERIES} and {runs} run files to {folder}\n")
    return 0


def _check(folder: Path, names: Collection[str]) -> None:
    """Refuse a folder with files that this export would not replace by its own."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise UsageError(f"-o {folder}: this is no folder")
    found = sorted(path.name for path in folder.iterdir())
    if stray := next((name for name in found if name not in names), None):
        raise UsageError(f"-o {folder}: the folder holds another file, {stray!a}; name a new one")
