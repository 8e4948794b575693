"""A report written in the profile of the original bench: ``--format corvint``.

Records keep a declared order where maps are sorted, an absent list is null, one samples file and eight arms
are known. The original's known weaknesses are not reproduced: zero has no sign, and metrics are computed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pytest_retrieval.datasets.folds import FOLD_MAP_SHA256
from pytest_retrieval.errors import ReportError
from pytest_retrieval.model import UNRECORDED
from pytest_retrieval.report.build import Report
from pytest_retrieval.report.canonical import encode
from pytest_retrieval.report.corvint import ARMS, BASELINES, PROFILE
from pytest_retrieval.report.stored import NOT_RUN
from pytest_retrieval.report.summaries import BUILD, FIRST, SECOND, STRICTLY_ANCHORED
from pytest_retrieval.stats.rounding import half_away

_PAIRED = ("corvint", "context")
_PAIRED_MEASURES = ("recall@5", "recall@10", "recall@20", "mrr@k")
_NULL_ON_ERROR = ("impact", "affected")  # the arms that write null, not [], for the ranking of an error


def chunks(report: Report) -> Iterator[bytes]:
    """The bytes of ``report`` in the original's profile, in pieces, without a line end.

    Raises ReportError for an arm that this profile does not know, and for several samples files.
    """
    head = report.head
    if unknown := head["arms"].keys() - set(ARMS):
        raise ReportError(
            f"{PROFILE} has no arm {min(unknown)!r}: it knows {', '.join(ARMS)}, and knows no labels"
        )
    if len(head["sources"]) != 1:
        raise ReportError(
            f"{PROFILE} is over one samples file, and this report is over {len(head['sources'])}"
        )
    members = {
        "arms": {label: _arm(arm, head["limit"]) for label, arm in head["arms"].items()},
        "corvint": _identity(head),
        "latency": {label: _times(head["latency"].get(label, {})) for label in head["arms"]},
        "limit": head["limit"],
        "paired": _paired(head.get("paired", {})),
        "profile": PROFILE,
        "registration": _registration(head),
        "samples": len(report.packed),
        "samples_sha256": head["sources"][0]["sha256"],
        "skipped": {"no_gold_unlabeled": 0, **head["skipped"]},
    }
    separator = b"{"
    for key in sorted((*members, "details")):
        yield separator + encode(key) + b":"
        if key == "details":
            yield from _detail_chunks(report.details())
        else:
            yield encode(members[key])
        separator = b","
    yield b"}"


def _arm(arm: Mapping[str, Any], limit: int) -> dict[str, Any]:
    groups = arm["groups"]
    intervals = groups["all"]["intervals"]
    return {
        **{name: _means(group) for name, group in groups.items() if group["n"] and name != STRICTLY_ANCHORED},
        "errors": groups["all"]["errors"],
        "intervals": {
            f"hit@{limit}": _interval(intervals["hit@k"]),
            "selective_success": _interval(intervals["selective_success"]),
        },
    }


def _means(group: Mapping[str, Any]) -> dict[str, Any]:
    """``n``, ``positives`` and the means of a group, without what only this project's reports have."""
    return {
        name: value
        for name, value in group.items()
        if not isinstance(value, Mapping) and name not in ("errors", "refused")
    }


def _interval(interval: Mapping[str, Any]) -> dict[str, Any]:
    n = interval["n"]
    if not n:
        return {"n": 0}
    rate = half_away(interval["successes"] / n)
    return {"n": n, "rate": rate, "low": interval["low"], "high": interval["high"]}


def _identity(head: Mapping[str, Any]) -> dict[str, str]:
    return dict(head.get("corvint", {"sha256": NOT_RUN, "version": NOT_RUN}))


def _binary_of(head: Mapping[str, Any]) -> str:
    return str(head.get("corvint", {}).get("sha256", NOT_RUN))


def _registration(head: Mapping[str, Any]) -> dict[str, Any]:
    registered = {
        "arms": [label for label in ARMS if label in head["arms"]],
        "corvint_sha256": _binary_of(head),
        "fold_map_sha256": FOLD_MAP_SHA256,
        "samples_sha256": head["sources"][0]["sha256"],
    }
    sources = head.get("registration", {}).get("source_reports_sha256")
    return registered if sources is None else {**registered, "source_reports_sha256": sources}


def _paired(paired: Mapping[str, Any]) -> dict[str, Any]:
    """``group -> "A - B" -> measure`` as ``group -> A -> B -> measure``, for the pairs of this profile."""
    written: dict[str, Any] = {}
    for group, pairs in paired.items():
        for arm in _PAIRED:
            for baseline in BASELINES:
                found = pairs.get(f"{arm} - {baseline}", {})
                measures = {name: _difference(found[name]) for name in _PAIRED_MEASURES if name in found}
                measures = {name: difference for name, difference in measures.items() if difference}
                if measures:
                    written.setdefault(group, {}).setdefault(arm, {})[baseline] = measures
    return written


def _difference(found: Mapping[str, Any]) -> dict[str, Any]:
    """One paired difference, or nothing where no sample was paired."""
    if not found["n"]:
        return {}
    kept = {name: found[name] for name in ("n", "low", "high", "wins", "losses", "ties")}
    repos = {
        repo: {"n": part["n"], "mean_diff": part["mean"]} for repo, part in found.get("repos", {}).items()
    }
    return {**kept, "mean_diff": found["mean"], **({"repos": repos} if repos else {})}


def _times(by_label: Mapping[str, Any]) -> dict[str, Any]:
    """The times of queries; those of preparing, or by the order of calls, are none of this profile's."""
    queries = {
        label: times
        for label, times in by_label.items()
        if label != BUILD and not label.endswith((FIRST, SECOND))
    }
    return queries or {UNRECORDED: {"n": 0, "state": NOT_RUN}}


def _detail_chunks(details: Iterable[Mapping[str, Any]]) -> Iterator[bytes]:
    yield b"["
    for number_of, detail in enumerate(details):
        yield (b"," if number_of else b"") + _detail_bytes(detail)
    yield b"]"


def _detail_bytes(detail: Mapping[str, Any]) -> bytes:
    arms = [
        encode(label) + b":" + _answer_bytes(label, detail["arms"][label])
        for label in sorted(detail["arms"], key=str.encode)
    ]
    facts = ("id", "task_type", "repo", "base_commit", "stratum", "partition")
    members = [
        *((name, encode(detail[name])) for name in facts),
        ("gold", encode(detail["gold"] or None)),
        ("given", encode(detail["given"])),
        ("query_chars", encode(detail["query_chars"])),
        ("query_truncated", encode(detail["query_truncated"])),
        *([("anchor_bearing", b"true")] if detail.get("anchor_bearing") else []),
        ("arms", b"{" + b",".join(arms) + b"}"),
        ("metrics", encode(detail["metrics"])),
    ]
    return _record(members)


def _answer_bytes(label: str, answer: Mapping[str, Any]) -> bytes:
    ranked = None if label in _NULL_ON_ERROR and "error" in answer else answer["ranked"]
    cache_state = "" if answer["cache_state"] == UNRECORDED else answer["cache_state"]
    optional_names = ("state", "top_score", "packet_bytes", "error", "wall_ms")
    fields = [
        ("ranked", ranked),
        ("abstained", answer["abstained"]),
        *((name, answer.get(name)) for name in optional_names if answer.get(name)),
        *([("cache_state", cache_state)] if cache_state else []),
        *([("cold_wall_ms", answer["cold_wall_ms"])] if answer.get("cold_wall_ms") else []),
    ]
    return _record([(name, encode(value)) for name, value in fields])


def _record(members: Sequence[tuple[str, bytes]]) -> bytes:
    """An object whose keys stay in their declared order."""
    return b"{" + b",".join(encode(name) + b":" + value for name, value in members) + b"}"
