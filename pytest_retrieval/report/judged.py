"""A stored report with its figures, of whichever profile and kind, as gates and comparisons read it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_retrieval.errors import ReportError
from pytest_retrieval.report import corvint
from pytest_retrieval.report.canonical import PROFILE
from pytest_retrieval.report.document import Document
from pytest_retrieval.report.merge import merge
from pytest_retrieval.report.read import CW_TRIAL, read_document
from pytest_retrieval.report.shapes import (
    Shape,
    any_number,
    anything,
    count,
    list_of,
    map_of,
    one_of,
    record,
    text,
    whole,
)
from pytest_retrieval.report.stored import require

TRIAL = "trial"

_object: Shape = map_of(anything)
_interval = record({"successes": count, "n": count}, {"low": any_number, "high": any_number})
_slice = record({"n": count, "positives": count})
_group = record(
    {
        "n": count,
        "positives": count,
        "errors": count,
        "refused": count,
        "intervals": map_of(_interval),
        "answered": _slice,
        "macro": record({"repositories": count}),
    }
)
_difference = record(
    {
        "n": count,
        "mean": any_number,
        "wins": count,
        "losses": count,
        "ties": count,
        "p": any_number,
        "cluster": record({"unit": text, "count": count}, {"low": any_number, "high": any_number}),
    }
)
_head = {
    "kind": one_of("bench", "codesearch", TRIAL),
    "limit": whole(1, 1 << 20),
    "sources": list_of(record({"sha256": text})),
    "selection": record({"of": count, "chosen": count, "judged": count, "lost": list_of(_object)}),
    "gates": list_of(_object),
    "paired": map_of(map_of(map_of(_difference))),
}
_bench = record(
    {
        **_head,
        "arms": map_of(record({"groups": map_of(_group), "capabilities": _object})),
        "latency": map_of(map_of(record({"n": count}))),
        "environment": _object,
    }
)
_rate = record({"n": count, "count": any_number, "rate": any_number, "low": any_number, "high": any_number})
_mean = record({"n": count, "mean": any_number})


def _figure(value: Any) -> None:
    """A figure of a trial's summary: a rate or a mean where there is one, else whatever it is."""
    if isinstance(value, dict) and ("rate" in value or "mean" in value):
        (_rate if "rate" in value else _mean)(value)


_trial = record({**_head, "arms": map_of(record({"groups": map_of(map_of(_figure))}))})
_trial_detail = record(
    {
        "id": text,
        "ordinal": count,
        "source": text,
        "kind": text,
        "repo": text,
        "arms": map_of(record({"runs": list_of(_object)})),
    }
)


@dataclass(frozen=True, slots=True)
class Judged:
    """A report from a file: ``head`` is all of it but the details, which ``details`` gives on each call."""

    path: Path
    sha256: str
    head: Mapping[str, Any]
    details: Callable[[], Iterator[Mapping[str, Any]]]

    @property
    def trial(self) -> bool:
        """Whether its samples are tasks that agents did."""
        return bool(self.head["kind"] == TRIAL)


def read_judged(path: Path) -> Judged:
    """The report in the file ``path``; figures are those that it holds, the original's are computed.

    Raises ReportError, one line with file and place, for anything else.
    """
    document = Document(path, "details")
    profile, kind = document.members.get("profile"), document.members.get("kind")
    if profile == PROFILE and kind == TRIAL:
        require(document, document.members, _trial)
        return Judged(path, document.sha256, document.members, lambda: _tasks(document))
    if profile == CW_TRIAL:
        raise ReportError(
            f"{path}: a report of cw-trial; pytest-retrieval trial score makes one of ours of it"
        )
    stored = read_document(document)  # refuses what is of no known profile
    if profile == corvint.PROFILE:
        report = merge([stored])
        return Judged(path, document.sha256, report.head, report.details)
    require(document, document.members, _bench)
    if missing := [name for name, arm in document.members["arms"].items() if "all" not in arm["groups"]]:
        raise ReportError(f"{path}: arms[{missing[0]!a}].groups: has no group 'all'")
    return Judged(path, document.sha256, document.members, stored.details)


def _tasks(document: Document) -> Iterator[Mapping[str, Any]]:
    for place, detail in enumerate(document.elements()):
        require(document, detail, _trial_detail, place=("details", place))
        yield detail
