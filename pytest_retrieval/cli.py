"""The console command ``pytest-retrieval``: what is not a test run of one's own."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from io import TextIOWrapper

from pytest_retrieval import __version__
from pytest_retrieval.commands import (
    agent,
    baseline,
    capture,
    compare,
    corpora,
    engine,
    export,
    gate,
    html,
    init,
    run,
    scoreboard,
    snapshot,
    store,
    summarize,
    trec,
    trial,
)
from pytest_retrieval.errors import RetrievalError, UsageError

USAGE = 2
INTERRUPTED = 130  # as shells count an end by SIGINT
# In the order in which the help lists them.
COMMANDS = (
    init,
    run,
    snapshot,
    summarize,
    compare,
    gate,
    baseline,
    export,
    html,
    trec,
    store,
    engine,
    corpora,
    scoreboard,
    capture,
    trial,
    agent,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code (2 for usage, 130 for Ctrl-C, else what the command says)."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    _escape_what_the_terminal_lacks()
    parser = _parser()
    options, rest = parser.parse_known_args(words)
    if rest and options.command is not run.run:
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    try:
        return int(options.command(options, rest))
    except UsageError as error:
        sys.stderr.write(f"pytest-retrieval: {error}\n")
        return USAGE
    except KeyboardInterrupt:
        sys.stderr.write("pytest-retrieval: interrupted\n")
        return INTERRUPTED
    except BrokenPipeError:  # who reads, such as head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (RetrievalError, OSError) as error:
        sys.stderr.write(f"pytest-retrieval: {error}\n")
        return 1


def _escape_what_the_terminal_lacks() -> None:
    """Print a character that the locale cannot show by its number, as pytest does, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="pytest-retrieval",
        description="Benchmarks of code retrieval. Suites are run by pytest, whose --help lists the options"
        " of a run; these commands begin one, and read and write what runs leave.",
        epilog="%(prog)s COMMAND --help says more of each.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"pytest-retrieval {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for command in COMMANDS:
        command.add_parser(commands)
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
