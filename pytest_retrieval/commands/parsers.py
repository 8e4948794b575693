"""How a command, or an action of one, tells about itself."""

from __future__ import annotations

import argparse
from typing import Any

REPORT = "a report of a run, such as .retrieval/report.json"


def add_command(
    commands: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    about: str,
    more: str = "",
    *,
    example: str = "",
    **further: Any,
) -> argparse.ArgumentParser:
    """Add ``name``: ``about`` lists it and begins its own help, where ``more`` and an ``example`` follow.

    The example is what may stand after the name; ``further`` goes to the parser.
    """
    return commands.add_parser(
        name,
        help=about,
        description=f"{about[0].upper()}{about[1:]}. {more}".strip(),
        epilog=f"example: %(prog)s {example}" if example else None,
        **further,
    )
