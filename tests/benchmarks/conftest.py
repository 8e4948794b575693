"""Benchmarks run when they are asked for, with ``--benchmark-only``, and are skipped otherwise."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_retrieval.snapshots.base import Snapshot
from tests.benchmarks.made_up import numpy_snapshot

RATES: pytest.StashKey[list[str]] = pytest.StashKey()
HERE = Path(__file__).parent

#: The arguments of one call, by place and by name.
Arguments = tuple[tuple[Any, ...], dict[str, Any]]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("benchmark_only", default=False):
        for item in items:
            if item.path.is_relative_to(HERE):
                item.add_marker(pytest.mark.skip(reason="benchmarks run with --benchmark-only"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    for line in config.stash.get(RATES, []):
        terminalreporter.write_line(line)


class Timed:
    """Times a call and notes its median as a rate, for the end of the run."""

    def __init__(self, benchmark: Any, name: str, rates: list[str]) -> None:
        self._benchmark = benchmark
        self._name = name
        self._rates = rates

    def __call__(
        self,
        target: Callable[..., object],
        amount: float,
        unit: str,
        *,
        rounds: int = 7,
        setup: Callable[[], Arguments] | None = None,
    ) -> None:
        """``amount`` of ``unit`` is what one call of ``target`` deals with; ``setup`` takes no time."""
        self._benchmark.pedantic(target, setup=setup, rounds=rounds, warmup_rounds=1)
        seconds = self._benchmark.stats.stats.median
        each = f"{seconds / amount * 1e3:,.3f} ms each"
        self._rates.append(f"{self._name}: {seconds:.4f} s, {amount / seconds:,.1f} {unit}/s, {each}")


@pytest.fixture
def timed(request: pytest.FixtureRequest, benchmark: Any) -> Timed:
    return Timed(benchmark, request.node.name, request.config.stash.setdefault(RATES, []))


@pytest.fixture(scope="session")
def snapshot() -> Snapshot:
    """The installed source of numpy, in memory."""
    return numpy_snapshot()
