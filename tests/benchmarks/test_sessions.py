"""Whole sessions of pytest that collect, process start included; those of ten items say what that takes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.benchmarks.conftest import Timed
from tests.benchmarks.made_up import write_samples

ROOT = Path(__file__).parents[2]
SUITE = """
import pytest


@pytest.mark.retrieval(samples="samples.jsonl")
def test_sample(retrieval_judge):
    retrieval_judge()
"""


@pytest.mark.benchmark(group="collection")
@pytest.mark.parametrize("count", [10, 10_000])
def test_collection(timed: Timed, tmp_path: Path, count: int) -> None:
    write_samples(tmp_path / "samples.jsonl", count)
    (tmp_path / "test_suite.py").write_text(SUITE)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    command = [sys.executable, "-m", "pytest", "-p", "pytest_retrieval.plugin", "--collect-only", "-qq"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}

    def collect() -> None:
        subprocess.run(command, cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL, check=True)

    timed(collect, count, "items", rounds=5)
