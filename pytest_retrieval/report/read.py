"""Reports come back from files: this project's own, and those of the original bench.

A report may come from anywhere, so every field that is used is checked, and a fault is one line with the file
and the place. What is summed up from the details is not read at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_retrieval.arms.observed import COLD_FIRST, HIT_FIRST
from pytest_retrieval.costs import INDEX_STATES
from pytest_retrieval.errors import ReportError
from pytest_retrieval.measures.names import IN_TOKENS
from pytest_retrieval.report import corvint
from pytest_retrieval.report.arm_order import arranged, guessed
from pytest_retrieval.report.canonical import PROFILE
from pytest_retrieval.report.document import Document
from pytest_retrieval.report.shapes import (
    LONGEST_ANSWER,
    MisfitError,
    Shape,
    any_number,
    anything,
    count,
    flag,
    list_of,
    map_of,
    matching,
    measure,
    number,
    one_of,
    record,
    text,
    whole,
)
from pytest_retrieval.report.stored import NOT_RUN, UNKNOWN, Detail, StoredReport, require

CW_TRIAL = "corvint-cw-trial/0"  # the original's profile of trials
_STRATA = ("positive", "natural_no_gold", "counterfactual_no_gold")
_COUNTED = ("gold_absent", "gold_cut")  # of a snapshot: sums over its samples

_asked = matching(r"[a-z][a-z0-9_]*@(k|[1-9][0-9]?)", "a measure such as ndcg@10")
_digest = matching(r"[0-9a-f]{64}", "a SHA-256 in lower-case hex")
_label = matching(r"[A-Za-z0-9_.+:-]+", "the label of an arm (letters, digits and _.+:-)")
_paths = list_of(text, distinct=True)
_shares, _prices = map_of(measure), record({}, dict.fromkeys(IN_TOKENS, number))
_line = whole(1, 1 << 53)


def _measures(value: Any) -> None:
    """Measures by name: rates and counts, and prices in tokens, which have no bound."""
    _prices(value)
    _shares({name: item for name, item in value.items() if name not in IN_TOKENS})


def _span(value: Any) -> None:
    """A first and a last line."""
    list_of(_line)(value)
    if len(value) != 2:
        raise MisfitError("a first and a last line", value)


_slots = list_of(record({"path": text, "spans": list_of(_span)}, {"tokens": count}))
_gold = record({"path": text}, {"start": _line, "end": _line, "symbol": text})
_searched = record(
    {
        "query": text,
        "corpus": text,
        "lang": text,
        "difficulty": text,
        "subsystem": text,
        "tree": text,
        "gold": list_of(_gold),
    }
)

_held = record(
    {"bytes": count},
    {"binary": flag, "unsearched": flag, "holds": count, "held": list_of(text), "lacking": list_of(text)},
)
_explain = record(
    {"query": text, "terms": count}, {"title": text, "negatives": _paths, "gold": map_of(_held)}
)

_cost = record(
    {},
    {
        "index_seconds": number,
        "index_state": one_of(*INDEX_STATES),
        **dict.fromkeys(("index_bytes", "index_chunks"), count),
        **dict.fromkeys(("index_peak_rss", "index_tree_rss", "query_peak_rss"), count),
        **dict.fromkeys(("reply_tokens", "schema_tokens", "named_tokens"), count),
    },
)
_answer = record(
    {"ranked": _paths, "abstained": flag, "cache_state": text},
    {
        "state": text,
        "top_score": any_number,
        "error": text,
        "refused": flag,
        "duplicates": count,
        "unknown": count,
        "packet_bytes": count,
        "wall_ms": number,
        "build_ms": number,
        "cold_wall_ms": number,
        "matched_order": one_of(COLD_FIRST, HIT_FIRST),
        "cost": _cost,
        "nearest": text,
        "file_only": flag,
        "priced": flag,
        "slots": record({"0": _slots}, dict.fromkeys(("1", "2", "3"), _slots)),
        "beyond": record({"of": count, "ranks": map_of(_line)}),
    },
)
_detail = record(
    {
        "source": _digest,
        "id": text,
        "ordinal": count,
        "row": count,
        "task_type": text,
        "repo": text,
        "base_commit": text,
        "stratum": one_of(*_STRATA),
        "partition": text,
        "gold": _paths,
        "gold_absent": _paths,
        "gold_cut": _paths,
        "given": _paths,
        "query_chars": count,
        "query_truncated": flag,
        "status": one_of("measured", "fault", "crashed"),
        "arms": map_of(_answer, _label),
        "metrics": map_of(_measures, _label),
    },
    {
        "query_sha256": _digest,
        "cluster": text,
        "attempts": count,
        "ceiling": _measures,
        "anchor_bearing": flag,
        "anchors": map_of(count),
        "anchors_strict": map_of(count),
        "gold_spans": list_of(record({"path": text, "start": _line, "end": _line})),
        "gold_symbols": list_of(text),
        "lines": map_of(count),
        "negatives": _paths,
        "codesearch": _searched,
        "explain": _explain,
    },
)
_object: Shape = map_of(anything)
_head = record(
    {
        "kind": one_of("bench", "codesearch"),
        "protocol": one_of("house", "arb"),
        "limit": whole(1, LONGEST_ANSWER),
        "sources": list_of(
            record(
                {"path": text, "sha256": _digest, "rows": count, "kept": count},
                {"warnings": list_of(text)},
            )
        ),
        "selection": record(
            {
                "of": count,
                "chosen": count,
                "lost": list_of(record({"source": _digest, "id": text, "ordinal": count, "why": text})),
            }
        ),
        "arms": map_of(
            record({"name": text, "version": text, "capabilities": _object}, {"baseline": flag}), _label
        ),
    },
    {
        "arm_order": list_of(_label, distinct=True),
        "skipped": map_of(count),
        "snapshots": map_of(record({}, {"tree": _digest})),
        "environment": record({}, {"reports": list_of(_object)}),
        "paired": map_of(_object),
        "registration": record({}, {"corvint_sha256": text}),
        "corvint": record({"version": text, "sha256": _digest}),
        "measures": list_of(_asked, distinct=True),
    },
)


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
    require(document, head, _head)
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
        require(document, detail, _detail, place=("details", place))
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
