"""A report as read from a file, whichever its profile: its facts, and details that are drawn one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_retrieval.errors import ReportError
from pytest_retrieval.report.document import Document
from pytest_retrieval.report.shapes import MisfitError, Shape

NOT_RUN = "NOT_RUN"
UNKNOWN = "unknown"  # the version of an arm that did not say
BINARY_MARK = " sha256:"  # in an arm's version, between what the program says and its digest's beginning

Detail = dict[str, Any]
Key = tuple[str, str, int]  # of a sample: digest of its file, id, ordinal among equal ids


@dataclass(frozen=True, slots=True)
class StoredReport:
    """What a merge takes from a report; everything that it computes anew is left out.

    ``sources`` are ``{path, sha256, rows, kept}``, without a path where the report does not tell: ``rows``
    and ``kept`` are then what was seen. ``of`` and ``chosen`` count samples, ``lost`` lists those without an
    answer. ``arms`` are what each declared, by label in their order, ``pairs`` those that were compared,
    ``snapshots`` facts by ``repo@commit``. ``program`` is ``{version, sha256}`` of the Corvint program, if
    one was measured. ``measures`` are those that the run was asked for. ``details`` gives, on each call, the
    details in the shape of this project's own reports; the row is None where the report does not tell.
    """

    path: Path
    sha256: str
    profile: str
    limit: int
    protocol: str
    sources: Sequence[Mapping[str, Any]]
    of: int
    chosen: int
    lost: Sequence[Mapping[str, Any]]
    arms: Mapping[str, Mapping[str, Any]]
    details: Callable[[], Iterator[Detail]]
    pairs: Sequence[tuple[str, str]] = ()
    skipped: Mapping[str, int] = field(default_factory=dict)
    snapshots: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    environments: Sequence[Mapping[str, Any]] = ()
    program: Mapping[str, str] | None = None
    measures: Sequence[str] = ()

    @property
    def binary(self) -> str:
        """The digest of the measured program, or ``NOT_RUN``."""
        return NOT_RUN if self.program is None else self.program["sha256"]

    @property
    def digests(self) -> frozenset[str]:
        """The samples files that the report is over."""
        return frozenset(source["sha256"] for source in self.sources)


def key_of(item: Mapping[str, Any]) -> Key:
    """The key of a detail, or of an item of the lost ones."""
    return item["source"], item["id"], item["ordinal"]


def status_of(answers: Mapping[str, Mapping[str, Any]]) -> str:
    """``fault`` when an arm could not be measured, else ``measured``; a declared refusal is no fault."""
    faulty = any("error" in answer and not answer.get("refused") for answer in answers.values())
    return "fault" if faulty else "measured"


def require(document: Document, value: Any, shape: Shape, *, place: str | tuple[str, int] = "") -> None:
    """Raise ReportError, one line with file and place, unless ``value`` is of ``shape``."""
    try:
        shape(value)
    except MisfitError as fault:
        steps = place if isinstance(place, tuple) else (place,)
        for step in reversed([step for step in steps if step != ""]):
            fault.inside(step)
        raise ReportError(f"{document.path}: {fault}") from None
