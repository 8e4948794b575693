"""Calls without a program, and captures of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pytest_retrieval.arms.observed import Call
from pytest_retrieval.model import Sample
from pytest_retrieval.programs.process import Completed
from pytest_retrieval.report.capture.lines import Descriptor, plan
from pytest_retrieval.report.capture.place import CapturePlace
from pytest_retrieval.report.capture.writer import Capture

TASK = '{"text": "wrap <ring>"}'
PACKET = b'{"state":"READY","results":[]}'
REGISTRATION = {"samples_sha256": "a" * 64, "limit": 5, "arms": ["context"]}

# Section 3.12 of the specification, where the SHA-256 of these 1,240 bytes is given, too.
GOLDEN_SHA256 = "890ee1cdf8f5007fe87246e913dbce7393357685d9fb269efe2a8f46fe9e105d"
_DESCRIPTOR = (
    '{"sample_ordinal":0,"sample_id":"ring-1","repo":"acme/ring","base_commit":'
    '"1111111111111111111111111111111111111111","invocation_ordinal":0,"phase":"ordinary","task_bytes":23,'
    '"task_sha256":"47b2e407e92860becf4829e6f69835c1fed4e1e36899f61b57d208f15541fe83"}'
)
GOLDEN = (
    '{"type":"header","profile":"corvint-retrieval-context-capture-v0","registration":{"arms":["context"],'
    '"limit":5,"samples_sha256":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"},'
    f'"invocations":[{_DESCRIPTOR}]}}\n'
    f'{{"type":"invocation","invocation":{_DESCRIPTOR},"stdout":{{"status":"COMPLETE",'
    '"base64":"eyJzdGF0ZSI6IlJFQURZIiwicmVzdWx0cyI6W119","bytes":30,'
    '"sha256":"a4b1b1acb4d1592d4662930f3a4dd44c6cf37332108b0094bb8bc7bf04e18c61"},'
    '"stderr":{"status":"COMPLETE","base64":"","bytes":0,'
    '"sha256":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},"parse_status":"PARSED"}\n'
    '{"type":"footer","status":"COMPLETE","invocations":1,"total_bytes":1240,'
    '"prior_sha256":"60421535c6a38ccd5a69bd3340a507c40bcf250f7ecad2f8c72fc2c3d86bc3e8"}\n'
).encode()


def sample(name: str = "ring-1", text: str = TASK) -> Sample:
    return Sample(name, "code2test", "acme/ring", "1" * 40, text, {}, ("ring.c",))


def planned(*texts: str, snapshot_latency: bool = False) -> tuple[Descriptor, ...]:
    """The plan of samples ``ring-1``, ``ring-2`` and so on with these texts."""
    samples = [sample(f"ring-{number}", text) for number, text in enumerate(texts, 1)]
    return plan(samples, snapshot_latency=snapshot_latency)


def completed(
    stdout: bytes = PACKET, stderr: bytes = b"", code: int = 0, *, cut: bool = False, late: bool = False
) -> Completed:
    return Completed(code, stdout, stderr, cut, False, late, 0.01)


def called(done: Completed | None = None, text: str = TASK, *, parsed: bool | None = True) -> Call:
    """A call with that task; by default it ended with an empty packet."""
    return Call(("context", "--task", text, "--limit", "5"), done or completed(), parsed)


def place(path: Path) -> CapturePlace:
    return CapturePlace.of(path, files=(), trees=())


def opened(path: Path, invocations: Sequence[Descriptor] | None = None) -> Capture:
    """A new capture; of one invocation with the task TASK unless others are given."""
    return Capture(place(path), REGISTRATION, planned(TASK) if invocations is None else invocations)


def captured(path: Path, call: Call | None, error: str | None = None) -> list[dict[str, Any]]:
    """The lines of a finished capture of one call."""
    capture = opened(path)
    capture.record(capture.invocations[0], call, error)
    capture.finish()
    return lines_of(path)


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]
