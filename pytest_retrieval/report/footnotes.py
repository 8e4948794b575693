"""What stands below the table of any report: notes, reasons, what was lost, verdicts, where the report is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from textwrap import wrap
from typing import Any

from pytest_retrieval.gates.lines import further_lines, verdict_line
from pytest_retrieval.report.pieces import Line, Piece, printable

_NARROWEST = 20  # characters that a note gets on any terminal
_ROLES = {"passed": "good", "failed": "bad", "undecidable": "bad"}


def wrapped(notes: Iterable[Piece], width: int) -> Iterator[Line]:
    """The notes as lines of at most ``width`` characters."""
    for text, role in notes:
        for part in wrap(printable(text), max(width, _NARROWEST), subsequent_indent="  "):
            yield (Piece(part, role),)


def counted(reasons: Mapping[str, int], shown: int) -> str:
    """The most frequent reasons with their counts, at most ``shown`` of them."""
    ordered = sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
    named = [f"{reason}: {count}" for reason, count in ordered[:shown]]
    return "; ".join([*named, "..."] if len(ordered) > shown else named)


def lost(selection: Mapping[str, Any], shown: int) -> Iterator[Piece]:
    """How many of the chosen items of a report have no answer, at most ``shown`` of them by name."""
    count = max(len(selection["lost"]), selection["chosen"] - selection["judged"])
    if count:
        named = [f"{item['id']} ({item['why']})" for item in selection["lost"][:shown]]
        more = ["..."] if named and count > len(named) else []
        names = ": " + ", ".join(named + more) if named else ""
        yield Piece(f"lost: {count} of {selection['chosen']}{names}", "bad")


def verdicts(gates: Iterable[Mapping[str, Any]], mark: str = "") -> Iterator[Line]:
    """What was decided of each gate, behind ``mark``, one line however long, and what explains it."""
    for record in gates:
        status, _, rest = verdict_line(record).partition(" ")
        role = _ROLES.get(record["status"], "bold")
        yield Piece(f"{mark}gate "), Piece(status, role), Piece(f" {printable(rest)}")
        yield from ((Piece(f"  {printable(line)}"),) for line in further_lines(record))


def place(path: str | None) -> Iterator[Line]:
    """Where the report was written."""
    if path is not None:
        yield (Piece(f"report: {printable(path)}"),)
