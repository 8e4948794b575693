"""One arm's invocations for one task: what summaries and comparisons take from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import fsum
from typing import Any

from pytest_retrieval.model import NOT_OBSERVED
from pytest_retrieval.trial.scoring import was_run

Metrics = Mapping[str, float]
Tokens = Mapping[str, float]

_REASON = 200  # characters of an error by which it is counted


@dataclass(frozen=True, slots=True)
class Run:
    """What a summary takes from one scored invocation: ``metrics`` is None where nothing was scored."""

    metrics: Metrics | None
    error: str | None
    followed: bool
    reused: bool
    wall_ms: float | None
    tokens: Tokens | None
    tool_calls: float | None
    calls: int | None
    money: float | None

    @property
    def errored(self) -> bool:
        """Whether it failed, or its reply lacks what would be scored."""
        return self.error is not None


@dataclass(frozen=True, slots=True)
class Attempts:
    """One arm's invocations for one task, without those that were never run; ``missing`` counts these.

    ``context_error`` says why the arm had no context to give.
    """

    task: str
    is_control: bool
    runs: tuple[Run, ...]
    missing: int = 0
    context_error: str | None = None

    def values(self, metric: str) -> list[float]:
        """The metric of every scored invocation that has it."""
        metrics = [run.metrics for run in self.runs if run.metrics is not None]
        return [found[metric] for found in metrics if metric in found]

    @property
    def scored(self) -> list[Run]:
        """The invocations with metrics."""
        return [run for run in self.runs if run.metrics is not None]

    def mean(self, metric: str) -> float | None:
        """The metric's mean over the invocations that have it."""
        values = self.values(metric)
        return fsum(values) / len(values) if values else None


def attempts_of(detail: Mapping[str, Any], entry: Mapping[str, Any]) -> Attempts:
    """The invocations of one arm for the task of a scored detail."""
    runs = tuple(_run(run) for run in entry["runs"] if was_run(run))
    missing = len(entry["runs"]) - len(runs)
    return Attempts(detail["id"], bool(detail.get("control")), runs, missing, entry.get("context_error"))


def error_reasons(attempts: Iterable[Attempts]) -> dict[str, int]:
    """How often each error came, by the beginning of its first line; of controls, too."""
    return _reasons(run.error for task in attempts for run in task.runs)


def context_reasons(attempts: Iterable[Attempts]) -> dict[str, int]:
    """In how many tasks the arm had no context to give, by why; controls, too."""
    return _reasons(task.context_error for task in attempts)


def _reasons(errors: Iterable[str | None]) -> dict[str, int]:
    return dict(Counter(error.partition("\n")[0][:_REASON] for error in errors if error is not None))


def _run(run: Mapping[str, Any]) -> Run:
    return Run(
        metrics=run["metrics"],
        error=run.get("error", run.get("score_error")),
        followed=bool(run.get("block_followed")),
        reused="reused_from" in run,
        wall_ms=_number(run["wall_ms"]),
        tokens=None if run["tokens"] == NOT_OBSERVED else run["tokens"],
        tool_calls=_number(run["tool_calls"]),
        calls=len(run["calls"]) if "calls" in run else None,
        money=run.get("money"),
    )


def _number(value: Any) -> float | None:
    return value if isinstance(value, (int, float)) else None
