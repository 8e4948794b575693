"""The verdicts of a stored report, as its page needs them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_retrieval.errors import ReportError
from pytest_retrieval.gates.lines import further_lines, verdict_line
from pytest_retrieval.report.document import Document
from pytest_retrieval.report.shapes import any_number, count, list_of, one_of, record, text
from pytest_retrieval.report.stored import require

_verdicts = list_of(
    record(
        {
            "gate": text,
            "status": one_of("passed", "failed", "undecided", "undecidable"),
            "n": count,
            "chosen": count,
            "of": count,
        },
        {"got": any_number, "reason": text, "label": text},
    )
)


def stored_verdicts(document: Document) -> Sequence[Mapping[str, Any]]:
    """The verdicts that a report has, each of which can be told in words.

    Raises:
        ReportError: one of them is none.
    """
    verdicts: Sequence[Mapping[str, Any]] = document.members.get("gates", [])
    require(document, verdicts, _verdicts, place="gates")
    for place, verdict in enumerate(verdicts):
        try:
            _ = verdict_line(verdict), list(further_lines(verdict))
        except (TypeError, ValueError, LookupError, AttributeError):
            raise ReportError(f"{document.path}: gates[{place}]: is no verdict of a gate") from None
    return verdicts
