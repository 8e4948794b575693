"""A release archive into an empty store, on all cores; one with few commits says what starting takes."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest

from pytest_retrieval.bench.importer import import_release
from pytest_retrieval.snapshots.base import Snapshot
from pytest_retrieval.store.store import Store
from tests.benchmarks.conftest import Timed
from tests.benchmarks.made_up import write_release


@pytest.mark.benchmark(group="import")
@pytest.mark.parametrize("commits", [1, 8])
def test_import(timed: Timed, snapshot: Snapshot, tmp_path: Path, commits: int) -> None:
    archive = tmp_path / "release.tar.zst"
    size = write_release(archive, snapshot, commits)
    places = (tmp_path / f"store{number}" for number in count())

    def import_() -> None:
        store = Store(next(places))
        import_release(archive, store, lambda progress: None)
        store.close()

    timed(import_, size / 1e6, "MB", rounds=3)
