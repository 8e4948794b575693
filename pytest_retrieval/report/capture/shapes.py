"""What the lines of a context capture must look like, and what their fields must agree on."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_retrieval.programs.process import DIAGNOSTICS_LIMIT, OUTPUT_LIMIT
from pytest_retrieval.report.capture import lines
from pytest_retrieval.report.capture.lines import (
    COLD,
    COMPLETE,
    HIT,
    MALFORMED,
    NOT_PRODUCED,
    NOT_RUN,
    ORDINARY,
    PARSED,
    PARTIAL,
    TRUNCATED,
)
from pytest_retrieval.report.shapes import (
    MisfitError,
    Shape,
    anything,
    count,
    list_of,
    map_of,
    matching,
    one_of,
    record,
    text,
)

_digest = matching(r"[0-9a-f]{64}", "a SHA-256 in lower-case hex")


def _exactly(required: Mapping[str, Shape], further: Mapping[str, Shape] | None = None) -> Shape:
    """An object with these keys and no others."""
    inner = record(required, further)
    allowed = {*required, *(further or {})}

    def shape(value: Any) -> None:
        inner(value)
        if unknown := value.keys() - allowed:
            raise MisfitError(f"an object without {min(unknown)!a}", value)

    return shape


def _stream(*statuses: str) -> Shape:
    absent = _exactly({"status": one_of(NOT_PRODUCED)})
    kept = _exactly({"status": one_of(*statuses), "base64": text, "bytes": count, "sha256": _digest})

    def shape(value: Any) -> None:
        is_absent = isinstance(value, dict) and value.get("status") == NOT_PRODUCED
        (absent if is_absent else kept)(value)

    return shape


_descriptor = _exactly(
    {
        "sample_ordinal": count,
        "sample_id": text,
        "repo": text,
        "base_commit": text,
        "invocation_ordinal": count,
        "phase": one_of(ORDINARY, COLD, HIT),
        "task_bytes": count,
        "task_sha256": _digest,
    }
)

HEADER = _exactly(
    {
        "type": one_of("header"),
        "profile": one_of(lines.PROFILE),
        "registration": map_of(anything),
        "invocations": list_of(_descriptor),
    }
)
RECORD = _exactly(
    {
        "type": one_of("invocation"),
        "invocation": _descriptor,
        "stdout": _stream(COMPLETE),
        "stderr": _stream(COMPLETE, TRUNCATED),
        "parse_status": one_of(PARSED, MALFORMED, NOT_RUN),
    },
    {"error": text},
)
FOOTER = _exactly(
    {
        "type": one_of("footer"),
        "status": one_of(COMPLETE, PARTIAL),
        "invocations": count,
        "total_bytes": count,
        "prior_sha256": _digest,
    }
)


def check_plan(plan: Sequence[Mapping[str, Any]]) -> None:
    """Raise MisfitError unless the ``invocations`` of a header are numbered and paired as a plan's are."""
    _at("invocations", _check_plan, plan)


def _check_plan(plan: Sequence[Mapping[str, Any]]) -> None:
    if len(plan) > lines.INVOCATION_LIMIT:
        raise MisfitError(f"at most {lines.INVOCATION_LIMIT:,} invocations", len(plan))
    phases = (COLD, HIT) if any(planned["phase"] != ORDINARY for planned in plan) else (ORDINARY,)
    if len(plan) % len(phases):
        raise MisfitError("pairs of a cold and a hit invocation", len(plan))
    for place, planned in enumerate(plan):
        sample, phase = divmod(place, len(phases))
        wanted = {
            **plan[sample * len(phases)],
            "sample_ordinal": sample,
            "invocation_ordinal": place,
            "phase": phases[phase],
        }
        try:
            for name, value in planned.items():
                _at(name, _equal, value, wanted[name], "by its place in the plan")
        except MisfitError as fault:
            raise fault.inside(place) from None


def check_record(found: Mapping[str, Any]) -> None:
    """Raise MisfitError unless the payloads are what is said of them, and agree with the parse status."""
    _at("stdout", _check_payload, found["stdout"], OUTPUT_LIMIT)
    _at("stderr", _check_payload, found["stderr"], DIAGNOSTICS_LIMIT)
    produced = [found[name]["status"] != NOT_PRODUCED for name in ("stdout", "stderr")]
    if produced == [True, False]:
        raise MisfitError("produced, as stdout was", NOT_PRODUCED).inside("stderr")
    if produced[0] == (found["parse_status"] == NOT_RUN):
        wanted = f"{PARSED} or {MALFORMED}" if produced[0] else NOT_RUN
        raise MisfitError(f"{wanted}, by what stdout is", found["parse_status"]).inside("parse_status")
    if not 0 < len(found.get("error", "-").encode()) <= lines.ERROR_LIMIT:
        raise MisfitError(f"1 to {lines.ERROR_LIMIT:,} bytes", found["error"]).inside("error")


def _check_payload(stream: Mapping[str, Any], limit: int) -> None:
    if stream["status"] == NOT_PRODUCED:
        return
    try:
        payload = base64.b64decode(stream["base64"], validate=True)
    except (binascii.Error, ValueError):
        payload = None
    if payload is None or base64.b64encode(payload).decode() != stream["base64"]:
        raise MisfitError("padded base64", stream["base64"]).inside("base64")
    _at("bytes", _equal, stream["bytes"], len(payload), "the length of the payload")
    _at("sha256", _equal, stream["sha256"], hashlib.sha256(payload).hexdigest(), "the payload's")
    if len(payload) > limit or (stream["status"] == TRUNCATED and len(payload) != limit):
        raise MisfitError(f"{limit:,} at most, and if truncated just that", len(payload)).inside("bytes")


def _at(name: str, check: Any, *arguments: Any) -> None:
    """Run ``check``; its fault is one of the field ``name``."""
    try:
        check(*arguments)
    except MisfitError as fault:
        raise fault.inside(name) from None


def _equal(value: Any, wanted: Any, what: str) -> None:
    if value != wanted:
        raise MisfitError(f"{wanted!a} ({what})", value)
