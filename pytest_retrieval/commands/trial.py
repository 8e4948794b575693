"""``pytest-retrieval trial``: task sets for agents come in, and reports of trials are scored again."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from pytest_retrieval.errors import UsageError
from pytest_retrieval.programs.interrupts import interrupted_by_sigterm

INTERRUPTED = 130


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command and its actions."""
    trial = commands.add_parser("trial", help="agents under context: generate, import-heldout")
    actions = trial.add_subparsers(required=True, metavar="ACTION")
    _add_generate(actions)


def _add_generate(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    about = "make an unseen set of co-change tasks from a local Git history"
    making = actions.add_parser("generate", help=about, description=about, allow_abbrev=False)
    making.add_argument("--repo", required=True, metavar="DIR", help="a clone, bare or not; only read")
    making.add_argument("--name", required=True, metavar="OWNER/NAME", help="what tasks call it")
    making.add_argument(
        "--since", required=True, metavar="DATE", help="2026-09-01 (00:00 UTC), or with a time"
    )
    making.add_argument("--output", required=True, metavar="DIR", help="gets tasks.json and corpus/")
    making.add_argument("--limit", type=int, default=40, metavar="N", help="tasks at most; default 40")
    making.add_argument("--min-files", type=int, default=2, metavar="N", help="of a commit; default 2")
    making.add_argument("--max-files", type=int, default=6, metavar="N", help="of a commit; default 6")
    making.add_argument("--tip", default="HEAD", metavar="COMMIT", help="the last commit; default HEAD")
    making.set_defaults(command=generate)


def generate(options: argparse.Namespace, rest: Sequence[str]) -> int:
    """Write a task set; nothing but complete files is ever left."""
    from pytest_retrieval.history.generate import Wanted
    from pytest_retrieval.history.generate import generate as made
    from pytest_retrieval.history.moments import parse_moment

    try:
        since = parse_moment(options.since)
    except UsageError as error:
        raise UsageError(f"--since: {error}") from None
    output = Path(options.output)
    wanted = Wanted(
        Path(options.repo),
        options.name,
        since,
        output,
        options.limit,
        options.min_files,
        options.max_files,
        options.tip,
    )
    with _interruptible(f"{output}/tasks.json was not written"):
        output.mkdir(parents=True, exist_ok=True)
        found = made(wanted, lambda line: sys.stderr.write(f"{line}\n"))
    tasks, population = len(found.manifest["tasks"]), found.manifest["population"]
    sys.stdout.write(f"{tasks} tasks of {population} qualifying commits: {found.path}\n")
    return 0


@contextmanager
def _interruptible(left: str) -> Iterator[None]:
    """Ctrl-C and SIGTERM end the command with one line that says what was ``left``."""
    try:
        with interrupted_by_sigterm():
            yield
    except KeyboardInterrupt:
        sys.stderr.write(f"pytest-retrieval: interrupted: {left}\n")
        raise SystemExit(INTERRUPTED) from None
