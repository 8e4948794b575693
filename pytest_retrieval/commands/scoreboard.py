"""``pytest-retrieval scoreboard``: code-search engines side by side, from reports or from result files."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from pytest_retrieval.errors import UsageError


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    board = commands.add_parser(
        "scoreboard", help="code-search engines side by side: scoreboard REPORT -o DIR"
    )
    board.add_argument(
        "paths", nargs="+", metavar="REPORT|DIR|FILE", help="reports, or codesearch-bench's results"
    )
    board.add_argument("-o", "--output", metavar="DIR", help="write a result file per engine and corpus")
    board.add_argument("--format", choices=("table", "md", "json"), default="table")
    board.set_defaults(command=scoreboard)


def scoreboard(options: argparse.Namespace, rest: Sequence[str]) -> int:
    """Print the rows of all paths, and write them; 1 if an engine failed on a corpus."""
    from pytest_retrieval.report import scoreboard as board
    from pytest_retrieval.report.rowfiles import read_rows, write_rows

    rows = [row for text in options.paths for row in read_rows(Path(text))]
    keys = [(row["engine"], row["corpus"]) for row in rows]
    if twice := next((key for key in keys if keys.count(key) > 1), None):
        raise UsageError(f"two rows are of {twice[0]} on {twice[1]}; leave one of their files out")
    if options.format == "json":
        lines = [json.dumps(rows, indent=2, sort_keys=True)]
    else:
        wide = shutil.get_terminal_size().columns
        lines = board.markdown(rows) if options.format == "md" else board.render(rows, wide)
    sys.stdout.writelines(f"{line}\n" for line in lines)
    if options.output is not None:
        for path in write_rows(rows, Path(options.output)):
            sys.stderr.write(f"wrote {path}\n")
    return int(any(row.get("ext", {}).get("status") == "failed" for row in rows))
