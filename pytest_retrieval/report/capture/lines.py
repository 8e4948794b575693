"""The lines of a context capture: JSON with its keys in a fixed order, each line within its bound.

A header with the registration and the plan, a record per invocation, and a footer that binds them. The
original's profile, to the byte.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pytest_retrieval.arms.observed import Call, encoded
from pytest_retrieval.errors import ReportError, UsageError
from pytest_retrieval.model import Sample
from pytest_retrieval.programs.process import DIAGNOSTICS_LIMIT, OUTPUT_LIMIT
from pytest_retrieval.report.escaped import escaped_json

PROFILE = "corvint-retrieval-context-capture-v0"

INVOCATION_LIMIT = 1_024
HEADER_LIMIT = 1 << 20  # bytes of the line
RECORD_LIMIT = 64 << 10  # bytes of the line without what was retained
FILE_LIMIT = 64 << 20
FOOTER_ROOM = 1_024
ERROR_LIMIT = 4_096

ORDINARY, COLD, HIT = "ordinary", "cold", "hit"
COMPLETE, PARTIAL = "COMPLETE", "PARTIAL"
TRUNCATED, NOT_PRODUCED = "TRUNCATED", "NOT_PRODUCED"
PARSED, MALFORMED, NOT_RUN = "PARSED", "MALFORMED", "NOT_RUN"


@dataclass(frozen=True, slots=True)
class Descriptor:
    """An invocation as planned; ``task_bytes`` and ``task_sha256`` are of the UTF-8 that is sent."""

    sample_ordinal: int
    sample_id: str
    repo: str
    base_commit: str
    invocation_ordinal: int
    phase: str
    task_bytes: int
    task_sha256: str


@dataclass(frozen=True, slots=True)
class Stream:
    """What is kept of one stream of a call; nothing at all of one that was NOT_PRODUCED."""

    status: str
    data: bytes = b""

    def record(self, *, payload: bool) -> dict[str, Any]:
        """The stream as a JSON object, with or without its payload."""
        if self.status == NOT_PRODUCED:
            return {"status": self.status}
        kept = {"base64": base64.b64encode(self.data).decode("ascii")} if payload else {}
        digest = hashlib.sha256(self.data).hexdigest()
        return {"status": self.status, **kept, "bytes": len(self.data), "sha256": digest}


@dataclass(frozen=True, slots=True)
class Observation:
    """What became of one invocation."""

    stdout: Stream
    stderr: Stream
    parse_status: str


def plan(samples: Sequence[Sample], *, snapshot_latency: bool) -> tuple[Descriptor, ...]:
    """The invocations of a run over ``samples``, in the order in which they will be asked.

    One for each sample, or a cold one and then a hit one.

    Raises:
        UsageError: more than 1,024.
    """
    phases = (COLD, HIT) if snapshot_latency else (ORDINARY,)
    count = len(samples) * len(phases)
    if count > INVOCATION_LIMIT:
        raise UsageError(
            f"--retrieval-context-packets: {count:,} calls of the context arm are planned, and a capture"
            f" holds {INVOCATION_LIMIT:,}; choose fewer samples, with --max-samples or -k"
        )
    return tuple(_planned(samples, phases))


def _planned(samples: Sequence[Sample], phases: Sequence[str]) -> Iterator[Descriptor]:
    for ordinal, sample in enumerate(samples):
        task = encoded(sample.query_text)
        digest = hashlib.sha256(task).hexdigest()
        for place, phase in enumerate(phases, ordinal * len(phases)):
            yield Descriptor(ordinal, sample.id, sample.repo, sample.commit, place, phase, len(task), digest)


def observe(call: Call | None) -> Observation:
    """What is retained of ``call``, which is None where none was made.

    Standard output is kept only of a call that ended with status 0 and said no more than the bound:
    the beginning of a failure must never look like an answer.
    """
    done = None if call is None else call.completed
    if call is None or done is None:
        return Observation(Stream(NOT_PRODUCED), Stream(NOT_PRODUCED), NOT_RUN)
    cut = done.stderr_truncated or len(done.stderr) > DIAGNOSTICS_LIMIT
    stderr = Stream(TRUNCATED if cut else COMPLETE, done.stderr[:DIAGNOSTICS_LIMIT])
    too_long = done.stdout_truncated or len(done.stdout) > OUTPUT_LIMIT
    if done.returncode != 0 or done.timed_out or too_long:
        return Observation(Stream(NOT_PRODUCED), stderr, NOT_RUN)
    return Observation(Stream(COMPLETE, done.stdout), stderr, PARSED if call.parsed else MALFORMED)


def header_line(registration: Mapping[str, Any], invocations: Sequence[Descriptor]) -> bytes:
    """The first line; asked for before a registration is written, it shows whether it will fit.

    Raises:
        ReportError: it is longer than 1 MiB.
    """
    # Only what is inside the registration is sorted: elsewhere the order of the keys is the profile's.
    inside = json.loads(escaped_json(registration, sort_keys=True))
    line = _line(
        {
            "type": "header",
            "profile": PROFILE,
            "registration": inside,
            "invocations": [asdict(descriptor) for descriptor in invocations],
        }
    )
    if len(line) > HEADER_LIMIT:
        raise ReportError(
            f"the header of the capture has {len(line):,} bytes, and {HEADER_LIMIT:,} are allowed;"
            " choose fewer samples"
        )
    return line


def record_line(descriptor: Descriptor, observation: Observation, error: str | None = None) -> bytes:
    """The line of one invocation; ``error`` is what its arm's answer has for one, cut at 4,096 bytes.

    Raises:
        ReportError: it is longer than 64 KiB without the two payloads.
    """
    bare = len(_line(_record(descriptor, observation, error, payload=False)))
    if bare > RECORD_LIMIT:
        raise ReportError(
            f"invocation {descriptor.invocation_ordinal} of the capture has {bare:,} bytes beside what was"
            f" retained, and {RECORD_LIMIT:,} are allowed"
        )
    return _line(_record(descriptor, observation, error, payload=True))


def footer_line(status: str, invocations: int, prior_bytes: int, prior_sha256: str) -> bytes:
    """The last line, which says how long the file is with it."""
    total = prior_bytes
    while True:
        line = _line(
            {
                "type": "footer",
                "status": status,
                "invocations": invocations,
                "total_bytes": total,
                "prior_sha256": prior_sha256,
            }
        )
        if prior_bytes + len(line) == total:
            return line
        total = prior_bytes + len(line)


def shortened(error: str) -> str:
    """The longest beginning of ``error`` of at most 4,096 bytes that cuts no character in two."""
    return encoded(error)[:ERROR_LIMIT].decode("utf-8", "ignore")


def _record(
    descriptor: Descriptor, observation: Observation, error: str | None, *, payload: bool
) -> dict[str, Any]:
    said = {"error": shortened(error)} if error else {}
    return {
        "type": "invocation",
        "invocation": asdict(descriptor),
        "stdout": observation.stdout.record(payload=payload),
        "stderr": observation.stderr.record(payload=payload),
        "parse_status": observation.parse_status,
        **said,
    }


def _line(value: Mapping[str, Any]) -> bytes:
    return escaped_json(value) + b"\n"
