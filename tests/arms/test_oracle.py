"""The published rankings of real samples, reproduced to the last rank."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_retrieval.arms.answers import settle
from pytest_retrieval.arms.registry import parse_arms
from pytest_retrieval.datasets.samples import load_samples
from pytest_retrieval.model import Query, Sample
from pytest_retrieval.snapshots.catalog import Catalog

ORACLE = Path(__file__).parents[2].parent / "shared" / "oracle"
UPSTREAM = os.environ.get("RETRIEVAL_UPSTREAM")

pytestmark = [
    pytest.mark.skipif(not ORACLE.is_dir(), reason="no shared/oracle beside the checkout"),
    pytest.mark.skipif(UPSTREAM is None, reason="RETRIEVAL_UPSTREAM names no folder of clones"),
]


def oracle_samples() -> tuple[Sample, ...]:
    """Samples by snapshot, so that each is read once."""
    if not ORACLE.is_dir():
        return ()
    return tuple(sorted(load_samples(ORACLE / "samples.jsonl").samples, key=lambda sample: sample.snapshot))


@pytest.fixture(scope="module")
def published() -> dict[str, Any]:
    content: dict[str, Any] = json.loads((ORACLE / "rankings.json").read_text("utf-8"))
    return content


@pytest.fixture(scope="module")
def catalog() -> Iterator[Catalog]:
    catalog = Catalog({}, [f"{UPSTREAM}?view=arb"])
    yield catalog
    catalog.close()


@pytest.mark.parametrize("sample", oracle_samples(), ids=lambda sample: str(sample.id))
def test_published_rankings_and_top_scores(
    sample: Sample, catalog: Catalog, published: dict[str, Any]
) -> None:
    expected = published[sample.id]["arms"]
    assert expected
    snapshot = catalog.open(sample.repo, sample.commit)
    query = Query(sample.query_text, sample.query, sample.changed_file, sample.given)
    for spec in parse_arms(list(expected), {}):
        arm = spec.create()
        arm.prepare(snapshot)
        row = settle(arm.rank(query), query, snapshot)
        assert list(row.ranked) == expected[spec.label]["ranked"], spec.label
        if expected[spec.label]["top_score"] is not None:
            assert row.top_score == expected[spec.label]["top_score"], spec.label
