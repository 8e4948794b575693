"""What an arm's invocations say together: rates with intervals, means, counts and sums, per group of tasks.

With one attempt per task the figures are those of the original tool. With more, repetitions are nested in the
task: a rate is the mean over tasks of each one's rate, and its interval counts tasks (``stats.nested``).
Controls, to which silence is the right reply, are counted apart, under ``already_fixed``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import fsum
from typing import Any

from pytest_retrieval.model import NOT_OBSERVED
from pytest_retrieval.stats.attempts import pass_at
from pytest_retrieval.stats.nested import nested_wilson
from pytest_retrieval.stats.rounding import half_away
from pytest_retrieval.trial.attempts import Attempts, Run

# A figure of a summary by the metric of an invocation that it sums up.
RATES = {
    "success": "success",
    "confidently_wrong_tasks": "confidently_wrong_task",
    "abstained": "abstained",
    "gold_in_context": "gold_in_context",
    "gold_as_result": "gold_as_result",
    "packet_top_1": "packet_top_1",
    "packet_top_3": "packet_top_3",
    "packet_top_5": "packet_top_5",
    "packet_top_10": "packet_top_10",
    "hard_gold_in_context": "hard_gold_in_context",
    "hard_success": "hard_success",
    "success_retrievable": "success_retrievable",
}
MEANS = {"mean_f1": "f1", "claims_per_reply": "valid_claims"}
SUMS = {
    "confidently_wrong_claims": "confidently_wrong",
    "wrong_likely_claims": "wrong_likely",
    "wrong_unsure_claims": "wrong_unsure",
    "repeated_claims": "repeated",
    "subject_claims": "subject_claims",
    "context_failed": "context_failed",
    "utilisation_gap": "utilisation_gap",
}
_PASSES = 10  # pass@1 to pass@10 are told, and pass@N
USE = {"tool_used": "tool_used"}  # only where a tool could be called


def groups_of(detail: Mapping[str, Any]) -> tuple[str, ...]:
    """The groups that a task belongs to."""
    return "all", f"kind:{detail['kind']}", *([f"repo:{detail['repo']}"] if detail["repo"] else ())


def summarise(attempts: Iterable[Attempts], repeats: int = 1) -> dict[str, Any]:
    """The summary of one arm over some tasks.

    ``tasks`` counts those with an invocation, ``errors`` invocations. With ``repeats`` above 1 rates and
    means also have ``runs``, the number of invocations behind them, and there are ``runs``, ``pass@1`` to
    ``pass@10``, ``pass@N`` and ``unstable_tasks``: how many tasks were solved in some attempts, not in all.
    """
    everything = list(attempts)
    tasks = [task for task in everything if not task.is_control and task.runs]
    runs = [run for task in tasks for run in task.runs]
    return {
        "tasks": len(tasks),
        "errors": sum(run.errored for run in runs),
        **_missing([task for task in everything if not task.is_control]),
        **{name: _rate(tasks, metric, repeats) for name, metric in RATES.items()},
        **{name: _mean(tasks, metric, repeats) for name, metric in MEANS.items()},
        **{name: _sum(runs, metric) for name, metric in SUMS.items()},
        "block_followed": sum(run.followed for run in runs),
        "reused": sum(run.reused for run in runs),
        "wall_ms": _whole(fsum(run.wall_ms for run in runs if run.wall_ms is not None)),
        **_tokens(runs),
        **_tool_calls(runs),
        **_served(tasks, runs, repeats),
        **_money(tasks, runs),
        **(_repeated(tasks, runs, repeats) if repeats > 1 else {}),
        **_controls([task for task in everything if task.is_control], repeats),
    }


def unstable(attempts: Iterable[Attempts]) -> list[dict[str, Any]]:
    """The tasks that were solved in some attempts and not in others: ``{id, runs, success}``."""
    found = []
    for task in attempts:
        values = task.values("success")
        if not task.is_control and len(set(values)) > 1:
            found.append({"id": task.task, "runs": len(values), "success": int(fsum(values))})
    return found


def _missing(tasks: Sequence[Attempts]) -> dict[str, int]:
    missing = sum(task.missing for task in tasks)
    return {"not_run": missing} if missing else {}


def _rate(tasks: Sequence[Attempts], metric: str, repeats: int) -> dict[str, Any]:
    """A rate with its interval; only ``n`` where no task has the metric."""
    values = [found for task in tasks if (found := task.values(metric))]
    if not values:
        return {"n": 0}
    means = [fsum(found) / len(found) for found in values]
    trials = sum(map(len, values))
    count = _whole(fsum(value for found in values for value in found))
    return {**_figures(means, trials, count), **({"runs": trials} if repeats > 1 else {})}


def _figures(means: Sequence[float], trials: int, count: float) -> dict[str, Any]:
    low, high = nested_wilson(means, trials)
    return {
        "n": len(means),
        "count": count,
        "rate": half_away(fsum(means) / len(means)),
        "low": half_away(low),
        "high": half_away(high),
    }


def _mean(tasks: Sequence[Attempts], metric: str, repeats: int) -> dict[str, Any]:
    means = [mean for task in tasks if (mean := task.mean(metric)) is not None]
    if not means:
        return {"n": 0}
    trials = {"runs": sum(len(task.values(metric)) for task in tasks)} if repeats > 1 else {}
    return {"n": len(means), "mean": half_away(fsum(means) / len(means)), **trials}


def _sum(runs: Iterable[Run], metric: str) -> float:
    return _whole(fsum(run.metrics.get(metric, 0) for run in runs if run.metrics is not None))


def _whole(value: float) -> float:
    return int(value) if value == int(value) else half_away(value)


def _tokens(runs: Sequence[Run]) -> dict[str, Any]:
    """Sums by key: over all invocations or not at all; and over those whose tokens were seen."""
    observed = [run.tokens for run in runs if run.tokens is not None]
    sums = {
        key: _whole(fsum(tokens.get(key, 0) for tokens in observed))
        for key in sorted({key for tokens in observed for key in tokens})
    }
    complete = len(observed) == len(runs) and any(run.metrics is not None for run in runs)
    return {
        "tokens": sums if complete else NOT_OBSERVED,
        "tokens_observed": {"records": len(observed), "of": len(runs), "sums": sums},
    }


def _tool_calls(runs: Sequence[Run]) -> dict[str, Any]:
    working = [run.tool_calls for run in runs if not run.errored]
    observed = [calls for calls in working if calls is not None]
    if not any(run.metrics is not None for run in runs) or len(observed) < len(working):
        return {"tool_calls": NOT_OBSERVED, "explored_tasks": NOT_OBSERVED}
    return {"tool_calls": _whole(fsum(observed)), "explored_tasks": sum(calls > 0 for calls in observed)}


def _served(tasks: Sequence[Attempts], runs: Sequence[Run], repeats: int) -> dict[str, Any]:
    """How a tool was used, where the agent had one to call."""
    served = [run.calls for run in runs if run.calls is not None]
    if not served:
        return {}
    rates = {name: _rate(tasks, metric, repeats) for name, metric in USE.items()}
    return {**rates, "served_calls": sum(served)}


def _money(tasks: Sequence[Attempts], runs: Sequence[Run]) -> dict[str, Any]:
    """What the invocations with a known price cost together, per task and per success among them.

    Per task is one attempt at it: the mean over tasks of the mean over its attempts.
    """
    priced = [run for run in runs if run.money is not None]
    if not priced:
        return {}
    per_task = _means_by_task(tasks, lambda run: run.money)
    successes = sum(run.metrics["success"] for run in priced if run.metrics is not None)
    total = fsum(run.money for run in priced if run.money is not None)
    return {
        "money": half_away(total),
        "money_observed": {"records": len(priced), "of": len(runs)},
        "money_per_task": half_away(fsum(per_task) / len(per_task)),
        **({"money_per_success": half_away(total / successes)} if successes else {}),
    }


def _means_by_task(tasks: Iterable[Attempts], value_of: Callable[[Run], float | None]) -> list[float]:
    means = []
    for task in tasks:
        values = [value for run in task.runs if (value := value_of(run)) is not None]
        if values:
            means.append(fsum(values) / len(values))
    return means


def _repeated(tasks: Sequence[Attempts], runs: Sequence[Run], repeats: int) -> dict[str, Any]:
    passes = {f"pass@{k}": _pass(tasks, k) for k in (*range(1, min(repeats, _PASSES + 1)), repeats)}
    return {"runs": len(runs), **passes, "unstable_tasks": len(unstable(tasks))}


def _pass(tasks: Iterable[Attempts], k: int) -> dict[str, Any]:
    """pass@k over the tasks with at least ``k`` scored attempts; its interval counts tasks alone."""
    solved = [values for task in tasks if len(values := task.values("success")) >= k]
    if not solved:
        return {"n": 0}
    means = [pass_at(k, len(values), int(fsum(values))) for values in solved]
    return _figures(means, len(means), half_away(fsum(means)))


def _controls(controls: Sequence[Attempts], repeats: int) -> dict[str, Any]:
    """The arm's controls; nothing where none was run. With repetitions all but ``tasks`` count ``runs``."""
    runs = [run for control in controls for run in control.runs]
    if not runs:
        return {}
    trials = {"runs": sum(len(control.scored) for control in controls)} if repeats > 1 else {}
    return {"already_fixed": {**dict(_control_counts(controls, runs)), **trials}}


def _control_counts(controls: Sequence[Attempts], runs: Sequence[Run]) -> Iterator[tuple[str, float]]:
    metrics = [run.metrics for run in runs if run.metrics is not None]
    yield "tasks", sum(bool(control.scored) for control in controls)
    yield "control_failed", _sum(runs, "control_failed")
    yield "packets", sum("packet_abstained" in found for found in metrics)
    yield "packet_abstained", _sum(runs, "packet_abstained")
    yield "control_errors", sum(run.errored for run in runs)
