"""Making a report of many outcomes, and the resampling that its intervals take."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_retrieval.report.build import build
from pytest_retrieval.stats.bootstrap import RESAMPLES, resampled_means
from pytest_retrieval.stats.streams import Stream
from tests.benchmarks.conftest import Timed
from tests.benchmarks.made_up import ARMS, details
from tests.report.samples import header

SAMPLES = 10_000


@pytest.mark.benchmark(group="report")
def test_report_of_10_000_samples_under_6_arms(timed: Timed) -> None:
    found = list(details(SAMPLES))
    head = header(*ARMS, of=SAMPLES, chosen=SAMPLES)
    timed(lambda: sum(map(len, build(head, found).chunks())), SAMPLES, "samples", rounds=3)


@pytest.mark.benchmark(group="report")
def test_bootstrap_of_10_000_differences(timed: Timed) -> None:
    differences = np.random.default_rng(0).normal(size=SAMPLES)
    draws = RESAMPLES * SAMPLES / 1e6
    timed(lambda: resampled_means(differences, Stream("benchmark")), draws, "million draws")
