"""A stored report as the page needs it: summed up anew, with the verdicts that were stored."""

from __future__ import annotations

from pathlib import Path

from pytest_retrieval.report.build import Report
from pytest_retrieval.report.document import Document
from pytest_retrieval.report.merge import merge
from pytest_retrieval.report.read import read_report
from pytest_retrieval.report.shapes import any_number, count, list_of, one_of, record, text
from pytest_retrieval.report.stored import require

_verdicts = list_of(
    record(
        {
            "gate": text,
            "status": one_of("passed", "failed", "undecided", "undecidable"),
            "expected": text,
            "n": count,
            "chosen": count,
            "of": count,
        },
        {"got": any_number, "reason": text},
    )
)


def stored(path: Path) -> Report:
    """The report in the file ``path``.

    Raises:
        ReportError: it is none, or one of its fields is not what it must be.
    """
    report = merge([read_report(path)])
    document = Document(path, "details")
    verdicts = document.members.get("gates", [])
    require(document, verdicts, _verdicts, place="gates")
    environments = report.head["environment"]["reports"]
    own = environments[0] if len(environments) == 1 else report.head["environment"]
    return Report({**report.head, "environment": own}, report.packed).with_gates(verdicts)
