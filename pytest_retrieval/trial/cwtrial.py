"""Reports in the profile of the original tool, ``corvint-cw-trial/0``: read, and written for ``--format``.

Records keep a declared order there where maps are sorted, one invocation per task and arm is known, and an
error that scoring found stands in the same member as one that happened. What this project knows beside that
is left out; zero has no sign.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pytest_retrieval.errors import ReportError
from pytest_retrieval.model import NOT_OBSERVED
from pytest_retrieval.report.build import Report
from pytest_retrieval.report.canonical import encode
from pytest_retrieval.report.document import Document
from pytest_retrieval.report.read import CW_TRIAL
from pytest_retrieval.report.shapes import flag, map_of, record, text
from pytest_retrieval.report.stored import require
from pytest_retrieval.trial import stored
from pytest_retrieval.trial.claims import MEMBERS as CLAIM_MEMBERS
from pytest_retrieval.trial.summary import RATES

PROFILE = CW_TRIAL
ARMS = ("none", "grep", "corvint", "aider")
ACCESS = ("read-only", "none")

_HEAD = (
    *(
        "partition",
        "source",
        "tasks_sha256",
        "tasks",
        "limit",
        "model",
        "access",
        "agent",
        "corvint",
        "aider",
    ),
    *("skeleton_sha256", "prologues"),
)
_DETAIL = ("id", "kind", "repo", "base_commit", "gold")
_DETAIL_FURTHER = ("control", "history_commits", "subject", "gold_at_base", "gold_checked")
_ENTRY = ("prompt_sha256", "prompt_bytes", "context", "context_bytes", "context_truncated")
_ENTRY_FURTHER = ("context_state", "context_error")
_RUN = ("wall_ms", "exit_code", "tokens", "tool_calls")
_CLAIM = (*CLAIM_MEMBERS, "verdict", "grounded")
_METRICS = frozenset(
    {*RATES.values(), "confidently_wrong", "wrong_likely", "unjudged", "invalid", "context_failed"}
    | {"utilisation_gap", "f1", "packet_abstained", "control_failed"}
)
_SUMMARY = (
    *RATES,
    *("tasks", "errors", "confidently_wrong_claims", "wrong_likely_claims", "context_failed"),
    *("utilisation_gap", "mean_f1", "reused", "wall_ms", "tokens", "tool_calls", "explored_tasks"),
)
_CONTROLS = ("tasks", "control_failed", "packets", "packet_abstained")

_record = record(
    {**stored.ENTRY_MEMBERS, **stored.RUN_MEMBERS}, {**stored.ENTRY_FURTHER, **stored.RUN_FURTHER}
)
_detail = record({**stored.DETAIL_MEMBERS, "arms": map_of(_record)}, stored.DETAIL_FURTHER)
_LATER: Mapping[str, Any] = {  # members that its first reports did not have
    "access": stored.READ_ONLY,
    "source": "",
    "model": "",
    "corvint": NOT_OBSERVED,
    "aider": NOT_OBSERVED,
}
_head = record(
    {name: shape for name, shape in stored.HEAD_MEMBERS.items() if name not in _LATER},
    {**stored.HEAD_MEMBERS, "access": text, "partial": flag},
)


def read(document: Document) -> stored.StoredTrial:
    """A report of the original, or one written here for it.

    A derived error, which that profile keeps among the raw ones, is known by its exit status, and goes: it is
    found again if it still holds. Raises ReportError for a malformed one.
    """
    head = document.members
    require(document, head, _head)
    tasks = {"path": "", "sha256": head["tasks_sha256"], "rows": head["tasks"], "kept": head["tasks"]}
    header = {
        **_LATER,
        **{name: head[name] for name in (*stored.HEAD_MEMBERS, "access") if name in head},
        "sources": [tasks],
        "selection": {"of": head["tasks"], "chosen": head["tasks"], "lost": []},
        "arms": {label: _facts(label) for label in head["prologues"]},
        **({"partial": True} if head.get("partial") else {}),
    }
    return stored.StoredTrial(document.path, document.sha256, head, header, lambda: _details(document))


def _facts(label: str) -> dict[str, bool]:
    """What this project's contexts of these names declare."""
    return {"none": {"memorisation": True}, "grep": {"baseline": True}}.get(label, {})


def _details(document: Document) -> Iterator[dict[str, Any]]:
    for place, detail in enumerate(document.elements()):
        require(document, detail, _detail, place=("details", place))
        known = {name: detail[name] for name in (*_DETAIL, *_DETAIL_FURTHER) if name in detail}
        yield {
            **known,
            "source": document.members["tasks_sha256"],
            "row": place,
            "ordinal": 0,
            "arms": {label: _entry(found) for label, found in detail["arms"].items()},
        }


def _entry(found: Mapping[str, Any]) -> dict[str, Any]:
    names = (*stored.RUN_MEMBERS, *stored.RUN_FURTHER)
    run = {name: found[name] for name in names if name in found}
    if isinstance(run["exit_code"], int):
        run.pop("error", None)
    return {**{name: found[name] for name in (*_ENTRY, *_ENTRY_FURTHER) if name in found}, "runs": [run]}


def chunks(report: Report) -> Iterator[bytes]:
    """The bytes of ``report`` in the original's profile, in pieces, without a line end.

    Raises ReportError for repeated invocations, and for an access mode and arms that it does not know.
    """
    head = report.head
    if head["access"] not in ACCESS:
        raise ReportError(f"{PROFILE} has no access mode {head['access']!r}: it knows {', '.join(ACCESS)}")
    if head["repeats"] > 1:
        raise ReportError(f"{PROFILE} knows one invocation per task and arm, and this report repeats them")
    if unknown := sorted(head["arms"].keys() - set(ARMS)):
        raise ReportError(f"{PROFILE} has no arm {unknown[0]!r}: it knows {', '.join(ARMS)}")
    arms = head["arms"] if report.packed else {}
    members = {
        "profile": PROFILE,
        **({"partial": True} if head.get("partial") else {}),
        "pilot": head["pilot"],
        **{name: head[name] for name in _HEAD},
        "arms": {label: _summary(arm["groups"]["all"]) for label, arm in arms.items()},
    }
    yield _ordered({name: encode(value) for name, value in members.items()})[:-1] + b',"details":['
    for place, detail in enumerate(report.details()):
        yield (b"," if place else b"") + _written_detail(detail)
    yield b"]}"


def _ordered(members: Mapping[str, bytes]) -> bytes:
    """An object whose members keep their order."""
    return b"{" + b",".join(encode(name) + b":" + value for name, value in members.items()) + b"}"


def _encoded(values: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, bytes]:
    return {name: encode(values[name]) for name in names if name in values}


def _present(values: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, bytes]:
    """The members that say something: no empty text or list, no zero, no false."""
    return {name: encode(values[name]) for name in names if values.get(name)}


def _written_detail(detail: Mapping[str, Any]) -> bytes:
    arms = {label: _written_record(entry) for label, entry in sorted(detail["arms"].items())}
    return _ordered(
        {**_encoded(detail, _DETAIL), **_present(detail, _DETAIL_FURTHER), "arms": _ordered(arms)}
    )


def _written_record(entry: Mapping[str, Any]) -> bytes:
    run = entry["runs"][0]
    if "error" in run:  # there an error beside an exit status is one that scoring found
        run = {**run, "exit_code": NOT_OBSERVED}
    error = {"error": run.get("error") or run.get("score_error", "")}
    claims = None if run["claims"] is None else [_ordered(_encoded(claim, _CLAIM)) for claim in run["claims"]]
    metrics = run["metrics"]
    kept = None if metrics is None else {name: value for name, value in metrics.items() if name in _METRICS}
    return _ordered(
        {
            **_encoded(entry, _ENTRY),
            **_present(entry, _ENTRY_FURTHER),
            **_encoded(run, _RUN),
            **_present(run, ("commands",)),
            **_encoded(run, ("reply", "reply_truncated")),
            **_present(run, ("stdout_truncated",)),
            **_present(error, ("error",)),
            **_present(run, ("reused_from",)),
            "block_state": encode(run["block_state"]),
            "claims": b"null" if claims is None else b"[" + b",".join(claims) + b"]",
            "metrics": encode(kept),
        }
    )


def _summary(group: Mapping[str, Any]) -> dict[str, Any]:
    controls = group.get("already_fixed", {"tasks": 0})
    fixed = {"already_fixed": {name: controls[name] for name in _CONTROLS}} if controls["tasks"] else {}
    return {**{name: group[name] for name in _SUMMARY}, **fixed}
