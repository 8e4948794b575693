"""Trial reports come back from files: this project's own, and those of the original tool.

A report may come from anywhere: every raw member is checked as it is drawn, and a fault is one line with the
file and the place. What is derived is not read at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pytest_retrieval.errors import ReportError
from pytest_retrieval.report.canonical import PROFILE
from pytest_retrieval.report.document import Document
from pytest_retrieval.report.shapes import Shape, count, flag, list_of, map_of, number, record, text, whole
from pytest_retrieval.report.stored import require
from pytest_retrieval.trial import cwtrial
from pytest_retrieval.trial import document as written
from pytest_retrieval.trial.stored import (
    DETAIL_FURTHER,
    DETAIL_MEMBERS,
    ENTRY_FURTHER,
    ENTRY_MEMBERS,
    HEAD_MEMBERS,
    READ_ONLY,
    RUN_FURTHER,
    RUN_MEMBERS,
    StoredTrial,
    digest,
)

MOST_REPEATS = 1000

_DETAIL: Mapping[str, Shape] = {**DETAIL_MEMBERS, "source": digest, "row": count, "ordinal": count}
_DETAIL_FURTHER: Mapping[str, Shape] = {
    **DETAIL_FURTHER,
    "cluster": text,
    "explain": record({"query": text, "query_chars": count}),
}
_entry = record({**ENTRY_MEMBERS, "runs": list_of(record(RUN_MEMBERS, RUN_FURTHER))}, ENTRY_FURTHER)
_detail = record({**_DETAIL, "arms": map_of(_entry)}, _DETAIL_FURTHER)
_source = record({"path": text, "sha256": digest, "rows": count, "kept": count})
_lost = record({"source": digest, "id": text, "ordinal": count, "why": text})
_prices = record({"currency": text, "sha256": digest, "per_million": map_of(number), "within": map_of(text)})
_head = record(
    {
        **HEAD_MEMBERS,
        "version": text,
        "repeats": whole(1, MOST_REPEATS),
        "arms": map_of(record({})),
        "sources": list_of(_source),
        "selection": record({"of": count, "chosen": count, "lost": list_of(_lost)}),
    },
    {
        "access": text,
        "paired": map_of(record({})),
        "gates": list_of(record({})),
        "environment": record({}),
        "prices": _prices,
        "partial": flag,
    },
)


def is_trial(document: Document) -> bool:
    """Whether a file says that it is a trial's report, of this project or of the original tool."""
    profile, kind = document.members.get("profile"), document.members.get("kind")
    return (profile == PROFILE and kind == written.KIND) or profile == cwtrial.PROFILE


def read_trial(path: Path) -> StoredTrial:
    """The trial report in the file ``path``, of up to 1 GiB, in this project's or the original's profile.

    Raises ReportError, one line with file and place, for anything else.
    """
    document = Document(path, "details")
    profile, kind = document.members.get("profile"), document.members.get("kind")
    if profile == PROFILE and kind == written.KIND:
        return _read_own(document)
    if profile == cwtrial.PROFILE:
        return cwtrial.read(document)
    found = f"{profile!a:.80}" + (f" of kind {kind!a:.40}" if profile == PROFILE else "")
    known = f"{PROFILE} of kind {written.KIND!r} and {cwtrial.PROFILE}"
    raise ReportError(f"{path}: profile: {found} is not one that can be read ({known})")


def _read_own(document: Document) -> StoredTrial:
    head = document.members
    require(document, head, _head)
    if not document.has_elements:
        raise ReportError(f"{document.path}: details: must be a list")
    known = written.REQUIRED | written.DEFAULTS.keys() | written.OPTIONAL
    header = {name: value for name, value in head.items() if name in known}
    header.setdefault("access", READ_ONLY)
    header["arms"] = {
        label: {name: value for name, value in facts.items() if name not in written.ARM_SECTIONS}
        for label, facts in head["arms"].items()
    }
    header["pairs"] = _pairs(document)
    return StoredTrial(document.path, document.sha256, head, header, lambda: _details(document))


def _pairs(document: Document) -> list[tuple[str, str]]:
    """The pairs that the section ``paired`` shows."""
    names = {name for group in document.members.get("paired", {}).values() for name in group}
    pairs = [(first, second) for first, _, second in (name.partition(" - ") for name in sorted(names))]
    for first, second in pairs:
        if first == second or not {first, second} <= document.members["arms"].keys():
            raise ReportError(
                f"{document.path}: paired: {first!a:.60} and {second!a:.60} are no two arms of it"
            )
    return pairs


def _details(document: Document) -> Iterator[dict[str, Any]]:
    """The tasks with their raw members: what is derived is found anew, and what nothing reads is left out."""
    for place, detail in enumerate(document.elements()):
        require(document, detail, _detail, place=("details", place))
        arms = {label: _raw_entry(entry) for label, entry in detail["arms"].items()}
        yield {**_known(detail, (*_DETAIL, *_DETAIL_FURTHER)), "arms": arms}


def _raw_entry(entry: Mapping[str, Any]) -> dict[str, Any]:
    runs = [_known(run, (*RUN_MEMBERS, *RUN_FURTHER)) for run in entry["runs"]]
    return {**_known(entry, (*ENTRY_MEMBERS, *ENTRY_FURTHER)), "runs": runs}


def _known(values: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: values[name] for name in names if name in values}
