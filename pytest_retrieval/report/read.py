"""Reports come back from files: this project's own, and those of the original bench.

A report may come from anywhere, so every field that is used is checked, and a fault is one line with the file
and the place. What is summed up from the details is not read at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_retrieval.errors import ReportError
from pytest_retrieval.report import corvint
from pytest_retrieval.report.arm_order import arranged, guessed
from pytest_retrieval.report.canonical import PROFILE
from pytest_retrieval.report.document import Document
from pytest_retrieval.report.profile import DETAIL, HEAD
from pytest_retrieval.report.stored import NOT_RUN, UNKNOWN, Detail, StoredReport, require

CW_TRIAL = "corvint-cw-trial/0"  # the original's profile of trials
_COUNTED = ("gold_absent", "gold_cut")  # of a snapshot: sums over its samples


class OfTrialError(ReportError):
    """A report of agents' claims where one of rankings is needed."""


def read_report(path: Path) -> StoredReport:
    """The report in the file ``path``, of up to 1 GiB; its details are checked as they are drawn.

    Raises ReportError, one line with file and place, for a file that is not a report of a known profile, and
    OfTrialError for a trial's.
    """
    return read_document(Document(path, "details"))


def read_document(document: Document) -> StoredReport:
    """The report that ``document`` holds; see :func:`read_report`."""
    path = document.path
    readers = {PROFILE: _read_own, corvint.PROFILE: corvint.read}
    profile = document.members.get("profile")
    if profile == CW_TRIAL or (profile == PROFILE and document.members.get("kind") == "trial"):
        raise OfTrialError(f"{path}: this is a report of a trial, which has no rankings")
    if not isinstance(profile, str) or profile not in readers:
        known = " and ".join(readers)
        raise ReportError(f"{path}: profile: {profile!a:.80} is not one that can be read ({known})")
    return readers[profile](document)


def _read_own(document: Document) -> StoredReport:
    head = document.members
    require(document, head, HEAD)
    if not document.has_elements:
        raise ReportError(f"{document.path}: details: must be a list")
    environment = head.get("environment", {})
    selection = head["selection"]
    arms = {label: _without(facts, ("groups",)) for label, facts in head["arms"].items()}
    pairs = _pairs(document)
    report = StoredReport(
        path=document.path,
        sha256=document.sha256,
        profile=PROFILE,
        limit=head["limit"],
        protocol=head["protocol"],
        sources=head["sources"],
        of=selection["of"],
        chosen=selection["chosen"],
        lost=selection["lost"],
        arms=arranged(arms, _order(document, pairs)),
        details=lambda: _own_details(document),
        pairs=pairs,
        skipped=head.get("skipped", {}),
        snapshots={name: _without(facts, _COUNTED) for name, facts in head.get("snapshots", {}).items()},
        environments=environment.get("reports", [environment]),
        program=_program(head),
        measures=head.get("measures", ()),
    )
    _check_sources(report)
    return report


def _program(head: Mapping[str, Any]) -> Mapping[str, str] | None:
    """The program that was asked; a registration knows its digest alone."""
    digest = head.get("registration", {}).get("corvint_sha256", NOT_RUN)
    registered = None if digest == NOT_RUN else {"version": UNKNOWN, "sha256": digest}
    measured: Mapping[str, str] | None = head.get("corvint", registered)
    return measured


def _pairs(document: Document) -> list[tuple[str, str]]:
    """The pairs ``A - B`` that the section ``paired`` shows."""
    labels = document.members["arms"].keys()
    pairs = []
    for name in sorted({name for group in document.members.get("paired", {}).values() for name in group}):
        first, _, second = name.partition(" - ")
        if first == second or not {first, second} <= labels:
            raise ReportError(
                f"{document.path}: paired: {name!a:.80} is no pair 'A - B' of the report's arms"
            )
        pairs.append((first, second))
    return pairs


def _order(document: Document, pairs: Sequence[tuple[str, str]]) -> list[str]:
    """The order of the arms; reports from before it was recorded show it in part."""
    labels = document.members["arms"].keys()
    order: list[str] = document.members.get("arm_order", guessed(labels, pairs))
    if set(order) != set(labels):
        raise ReportError(f"{document.path}: arm_order: must name every arm of the report, and no other")
    return order


def _own_details(document: Document) -> Iterator[Detail]:
    digests = {source["sha256"] for source in document.members["sources"]}
    labels = document.members["arms"].keys()
    for place, detail in enumerate(document.elements()):
        require(document, detail, DETAIL, place=("details", place))
        if fault := _inconsistency(detail, digests, labels):
            raise ReportError(f"{document.path}: details[{place}].{fault}")
        yield detail


def _inconsistency(detail: Detail, digests: set[str], labels: Any) -> str | None:
    """What the parts of a detail say against each other or the head, or None."""
    if detail["source"] not in digests:
        return "source: the report lists no samples file with this digest"
    if unlisted := detail["arms"].keys() - labels:
        return f"arms: {min(unlisted)!r} is no arm that the report lists"
    if bool(detail["gold"]) != (detail["stratum"] == "positive"):
        return f"gold: a sample of the stratum {detail['stratum']} has {len(detail['gold'])} gold files"
    for name in _COUNTED:
        if stray := set(detail[name]).difference(detail["gold"]):
            return f"{name}: {min(stray)!a} is no gold file"
    return None


def _check_sources(report: StoredReport) -> None:
    if len(report.digests) < len(report.sources):
        raise ReportError(f"{report.path}: sources: one samples file is listed twice")
    for place, item in enumerate(report.lost):
        if item["source"] not in report.digests:
            raise ReportError(
                f"{report.path}: selection.lost[{place}].source: the report lists no such samples file"
            )


def _without(mapping: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {key: value for key, value in mapping.items() if key not in names}
