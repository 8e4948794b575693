"""Queries of each lexical arm over numpy's source, its index built: the embedded code2test questions."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pytest_retrieval.arms.registry import BUILT_IN, parse_arms
from pytest_retrieval.bench.judge import question
from pytest_retrieval.datasets.release import find_releases
from pytest_retrieval.datasets.samples import load_samples
from pytest_retrieval.model import Query
from pytest_retrieval.resources import embedded_release
from pytest_retrieval.snapshots.base import Snapshot
from pytest_retrieval.snapshots.catalog import Catalog
from tests.benchmarks.conftest import Timed

Questions = tuple[Snapshot, list[Query]]


@pytest.fixture(scope="module")
def questions(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Questions]:
    scratch = tmp_path_factory.mktemp("scratch")
    releases = {release.id: release for release in find_releases(embedded_release(), scratch)}
    numpy = releases["embedded_numpy"]
    catalog = Catalog({}, numpy.corpora, scratch)
    samples = load_samples(numpy.samples[0], allow_labels=catalog.labels).kept
    yield catalog.open(samples[0].repo, samples[0].commit), [question(sample, 20) for sample in samples]
    catalog.close()


@pytest.mark.benchmark(group="query")
@pytest.mark.parametrize("name", BUILT_IN)
def test_query(timed: Timed, questions: Questions, name: str) -> None:
    snapshot, queries = questions
    [spec] = parse_arms([name], {})
    arm = spec.create()
    arm.prepare(snapshot)
    timed(lambda: [arm.rank(query) for query in queries], len(queries), "queries")
    arm.close()
