"""``pytest-retrieval capture``: files of ``--retrieval-context-packets``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from pytest_retrieval.commands.parsers import add_command


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    capturing = add_command(commands, "capture", "files of --retrieval-context-packets: verify")
    actions = capturing.add_subparsers(required=True, metavar="ACTION")
    verifying = add_command(
        actions,
        "verify",
        "check that a capture is sound and complete",
        "The exit code is 0 if it is, with the output of every call.",
    )
    verifying.add_argument("file", metavar="FILE", help="what --retrieval-context-packets has written")
    verifying.set_defaults(command=verify_capture)


def verify_capture(options: argparse.Namespace, rest: Sequence[str]) -> int:
    """Say what a context capture holds, and whether it is sound and complete."""
    from pytest_retrieval.report.capture.reader import verify

    found = verify(Path(options.file))
    sys.stderr.writelines(f"{options.file}: {fault}\n" for fault in found.faults)
    sys.stdout.writelines(f"{line}\n" for line in found.summary())
    return 0 if found.is_complete else 1
