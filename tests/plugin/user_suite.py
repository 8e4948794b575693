"""A user's suite, strictly typed: it asks more of the outcome than the report does."""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_type

import pytest

from pytest_retrieval import Outcome, Sample, Snapshot, Span


@pytest.mark.retrieval(samples="short.jsonl", snapshot="tree")
def test_short(
    retrieval_judge: Callable[[], Outcome], retrieval_sample: Sample, retrieval_snapshot: Snapshot
) -> None:
    outcome = retrieval_judge()
    assert outcome.faults == ()
    assert outcome.detail["id"] == assert_type(retrieval_sample.id, str)
    assert set(assert_type(retrieval_sample.gold, tuple[str, ...])) <= set(retrieval_snapshot.paths)
    assert assert_type(retrieval_sample.gold_spans, tuple[Span, ...]) == ()
    assert outcome.detail["metrics"]["shortest"]["wasted@k"] == 3
