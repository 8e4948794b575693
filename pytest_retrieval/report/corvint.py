"""Reports of the original bench, profile ``corvint-retrieval-bench/0``, also from before its later sections.

It tells less than this project's own reports: one samples file, of which neither path nor rows are known,
eight arms, nothing of what the snapshots hold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from pytest_retrieval.datasets.folds import fold_of
from pytest_retrieval.errors import ReportError
from pytest_retrieval.model import UNRECORDED
from pytest_retrieval.report.arm_order import BUILT_IN
from pytest_retrieval.report.document import Document
from pytest_retrieval.report.shapes import (
    LONGEST_ANSWER,
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
    optional,
    record,
    text,
    whole,
)
from pytest_retrieval.report.stored import (
    BINARY_MARK,
    NOT_RUN,
    UNKNOWN,
    Detail,
    StoredReport,
    require,
    status_of,
)

PROFILE = "corvint-retrieval-bench/0"
VERBS = ("corvint", "context", "impact", "affected")
BASELINES = ("grep", "grep-ident", "bm25:all", "bm25:ident")
ARMS = BUILT_IN

_REFUSAL = "no changed_file in query"  # the one error text that is known to be a declared refusal

_paths = optional(list_of(text, distinct=True))
_answer = record(
    {"ranked": _paths, "abstained": flag},
    {
        "state": text,
        "top_score": any_number,
        "packet_bytes": count,
        "error": text,
        "wall_ms": number,
        "cache_state": text,
        "cold_wall_ms": number,
    },
)
_detail = record(
    {
        "id": text,
        "task_type": text,
        "repo": text,
        "base_commit": text,
        "stratum": one_of("positive", "natural_no_gold", "counterfactual_no_gold"),
        "gold": _paths,
        "given": _paths,
        "query_chars": count,
        "query_truncated": flag,
    },
    {
        "anchor_bearing": flag,
        "arms": optional(map_of(_answer)),
        "metrics": optional(map_of(optional(map_of(measure)))),
    },
)
_binary = matching(r"[0-9a-f]{64}|NOT_RUN", "a SHA-256 in lower-case hex or NOT_RUN")
_head = record(
    {
        "samples_sha256": matching(r"[0-9a-f]{64}", "a SHA-256 in lower-case hex"),
        "limit": whole(1, LONGEST_ANSWER),
    },
    {
        "skipped": optional(map_of(count)),
        "corvint": optional(record({}, {"sha256": _binary, "version": text})),
        "registration": optional(record({}, {"environment": optional(list_of(text))})),
        "details": optional(list_of(anything)),
    },
)


def read(document: Document) -> StoredReport:
    """The facts of a report of the original's profile, also of one written before its later sections.

    Raises ReportError for one that is malformed or has an arm that this profile does not know.
    """
    head = document.members
    require(document, head, _head)
    skipped = head.get("skipped") or {}
    identity = head.get("corvint") or {}
    version, binary = identity.get("version", UNKNOWN), identity.get("sha256", NOT_RUN)
    labels, samples = _labels(document)
    seen = {"rows": samples + sum(skipped.values()), "kept": samples}
    registered = (head.get("registration") or {}).get("environment")
    return StoredReport(
        path=document.path,
        sha256=document.sha256,
        profile=PROFILE,
        limit=head["limit"],
        protocol="house",
        sources=[{"path": "", "sha256": head["samples_sha256"], **seen}],
        of=samples,
        chosen=samples,
        lost=[],
        arms={label: _facts(label, version, binary) for label in labels},
        details=lambda: _details(document),
        skipped=skipped,
        environments=[{"variables": registered}] if registered else [{}],
        program=None if binary == NOT_RUN else {"version": version, "sha256": binary},
    )


def _labels(document: Document) -> tuple[list[str], int]:
    """The arms of the details, in this profile's order, and the number of details."""
    found: set[str] = set()
    samples = 0
    for detail in _details(document):
        found.update(detail["arms"])
        samples += 1
    return [label for label in ARMS if label in found], samples


def _facts(label: str, version: str, binary: str) -> dict[str, Any]:
    if label in BASELINES:
        return {"name": label, "version": UNKNOWN, "capabilities": {}, "baseline": True}
    known = UNKNOWN if binary == NOT_RUN else f"{version}{BINARY_MARK}{binary[:12]}"
    return {"name": label, "version": known, "capabilities": {}}


def _details(document: Document) -> Iterator[Detail]:
    ordinals: Counter[str] = Counter()
    for place, stored in enumerate(document.elements()):
        require(document, stored, _detail, place=("details", place))
        arms = stored.get("arms") or {}
        if unknown := arms.keys() - set(ARMS):
            raise ReportError(
                f"{document.path}: details[{place}].arms: {min(unknown)!r} is no arm of {PROFILE}"
                f" (its arms are {', '.join(ARMS)})"
            )
        if bool(stored["gold"]) != (stored["stratum"] == "positive"):
            raise ReportError(f"{document.path}: details[{place}].gold: does not fit the stratum")
        yield _own_detail(stored, document.members["samples_sha256"], ordinals[stored["id"]])
        ordinals[stored["id"]] += 1


def _own_detail(stored: Mapping[str, Any], source: str, ordinal: int) -> Detail:
    answers = {label: _own_answer(answer) for label, answer in (stored.get("arms") or {}).items()}
    metrics = stored.get("metrics") or {}
    detail = {
        "source": source,
        "ordinal": ordinal,
        "row": None,
        **{name: stored[name] for name in ("id", "task_type", "repo", "base_commit", "stratum")},
        "partition": fold_of(stored["repo"]),
        "gold": stored["gold"] or [],
        "gold_absent": [],
        "gold_cut": [],
        "given": stored["given"] or [],
        "query_chars": stored["query_chars"],
        "query_truncated": stored["query_truncated"],
        "status": status_of(answers),
        "arms": answers,
        "metrics": {label: metrics.get(label) or {} for label in answers},
    }
    return {**detail, "anchor_bearing": True} if stored.get("anchor_bearing") else detail


def _own_answer(stored: Mapping[str, Any]) -> dict[str, Any]:
    answer = {name: value for name, value in stored.items() if value not in ("", 0) or name == "abstained"}
    answer["ranked"] = stored["ranked"] or []
    answer["cache_state"] = stored.get("cache_state") or UNRECORDED
    if answer.get("error") == _REFUSAL:
        answer["refused"] = True
    return answer
