"""``pytest-retrieval scoreboard``: code-search engines side by side, from reports or from result files."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pytest_retrieval.commands.parsers import add_command
from pytest_retrieval.errors import UsageError


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    board = add_command(
        commands,
        "scoreboard",
        "code-search engines side by side, or against earlier ones",
        "The exit code is 1 where an engine failed on a corpus, or a row fell.",
        example=".retrieval/report.json --baseline results --max-drop 0.02",
    )
    board.add_argument(
        "paths", nargs="+", metavar="REPORT|DIR|FILE", help="reports, or codesearch-bench's results"
    )
    board.add_argument("-o", "--output", metavar="DIR", help="write a result file per engine and corpus")
    board.add_argument("--format", choices=("table", "md", "json"), default="table", help="default: table")
    board.add_argument(
        "--baseline", metavar="PATH", help="an earlier scoreboard of any such form; exit 1 where a row fell"
    )
    board.add_argument(
        "--max-drop",
        metavar="SHARE",
        type=float,
        default=0.0,
        help="how far a figure may fall: 0.02; default: 0",
    )
    board.set_defaults(command=scoreboard)


def scoreboard(options: argparse.Namespace, rest: Sequence[str]) -> int:
    """Print the rows of all paths, and write them; 1 if an engine failed on a corpus, or a row fell."""
    from pytest_retrieval.report.codesearch import scoreboard as board
    from pytest_retrieval.report.codesearch.rowfiles import write_rows

    if not 0 <= options.max_drop <= 1:
        raise UsageError("--max-drop: it is a share from 0 to 1, such as 0.02")
    rows = _rows(options.paths)
    baseline = None if options.baseline is None else _rows([options.baseline])
    if options.format == "json":
        lines = [json.dumps(rows, indent=2, sort_keys=True)]
    else:
        wide = shutil.get_terminal_size().columns
        lines = board.markdown(rows) if options.format == "md" else board.render(rows, wide)
    sys.stdout.writelines(f"{line}\n" for line in lines)
    if options.output is not None:
        for path in write_rows(rows, Path(options.output)):
            sys.stderr.write(f"wrote {path}\n")
    failed = any(row.get("ext", {}).get("status") == "failed" for row in rows)
    return int(failed | (baseline is not None and _fell(rows, baseline, options)))


def _rows(paths: Sequence[str]) -> list[dict[str, Any]]:
    """The rows of all files and folders, none twice."""
    from pytest_retrieval.report.codesearch.rowfiles import read_rows

    rows = [row for text in paths for row in read_rows(Path(text))]
    keys = [(row["engine"], row["corpus"]) for row in rows]
    if twice := next((key for key in keys if keys.count(key) > 1), None):
        raise UsageError(f"two rows are of {twice[0]} on {twice[1]}; leave one of their files out")
    return rows


def _fell(
    rows: Sequence[dict[str, Any]], baseline: Sequence[dict[str, Any]], options: argparse.Namespace
) -> bool:
    """Say how each row stands to the baseline's; whether one fell."""
    from pytest_retrieval.report.codesearch.board_baseline import held_against

    held = list(held_against(rows, baseline, options.max_drop))
    stream = sys.stderr if options.format == "json" else sys.stdout
    stream.writelines(f"baseline: {one.line}\n" for one in held)
    return any(one.failed for one in held)
