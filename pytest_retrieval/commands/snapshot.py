"""``pytest-retrieval snapshot``: what a snapshot holds, and what a view of it hides."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from pytest_retrieval.commands.parsers import add_command


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    looking = add_command(
        commands,
        "snapshot",
        "what a snapshot holds, and what a view of it hides",
        "A snapshot is a tree as an arm sees it: of a folder, git:REPOSITORY, dist:PACKAGE or a chunk file.",
        example="git:. --diff arb full",
    )
    looking.add_argument("snapshot", metavar="[OWNER/NAME@COMMIT=]SOURCE", help="as for --snapshot")
    looking.add_argument(
        "--diff", nargs=2, metavar=("VIEW", "VIEW"), help="compare two views: --diff arb full"
    )
    looking.add_argument(
        "--gold", action="append", default=[], metavar="PATH", help="with --diff: say what becomes of it"
    )
    looking.set_defaults(command=snapshot)


def snapshot(options: argparse.Namespace, rest: Sequence[str]) -> int:
    """Say what a snapshot holds, or what one view of it hides."""
    from pytest_retrieval.snapshots.base import Snapshot
    from pytest_retrieval.snapshots.difference import difference
    from pytest_retrieval.snapshots.sources import parse_snapshot_option, read_source

    named = parse_snapshot_option(options.snapshot)
    if options.diff is not None:
        lines = list(difference(named, options.diff[0], options.diff[1], options.gold).lines())
    else:
        tree = read_source(named.source, named.commit)
        shown = Snapshot(named.repo, named.commit, named.source, tree)
        lines = [named.name, *(f"{key}: {value}" for key, value in shown.facts().items())]
        shown.close()
    sys.stdout.writelines(f"{line}\n" for line in lines)
    return 0
