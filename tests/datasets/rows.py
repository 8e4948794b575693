"""Rows and files of samples for the tests of this room."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pytest_retrieval.datasets.samples import parse_samples
from pytest_retrieval.errors import SampleError
from pytest_retrieval.model import Sample

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def benchmark_row(**fields: Any) -> dict[str, Any]:
    """A code2test row of Agent Retrieval Bench's shape, with ``fields`` put over it."""
    row: dict[str, Any] = {
        "id": "8e5f31c02cbb5bd1563ea5d1",
        "task_type": "code2test",
        "repo": "acme/ring",
        "base_commit": COMMIT,
        "query": {"pr_title": "Grow the ring"},
        "gold": {"files": ["ring_test.c"]},
        "metadata": {},
    }
    return row | fields


def only(row: dict[str, Any], **options: Any) -> Sample:
    """The one sample of a file that holds just ``row``."""
    (sample,) = parse_samples(json.dumps(row).encode(), "s.jsonl", **options).samples
    return sample


def faults_of(data: bytes | dict[str, Any], **options: Any) -> tuple[str, ...]:
    """The faults for which the file ``data``, or the one-row file of a dictionary, is refused."""
    content = data if isinstance(data, bytes) else json.dumps(data).encode()
    with pytest.raises(SampleError) as refused:
        parse_samples(content, "s.jsonl", **options)
    assert all("\n" not in fault for fault in refused.value.faults)
    return refused.value.faults
