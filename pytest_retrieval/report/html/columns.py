"""The columns of leaderboards: of rankings, and of what agents did."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pytest_retrieval.measures.names import is_own, recall_cuts
from pytest_retrieval.report.html.costs import Costs
from pytest_retrieval.report.html.figures import measure_name, milliseconds, share
from pytest_retrieval.report.html.leaderboard import Column, Group, whole
from pytest_retrieval.report.trialfigures import figure


def ranking_columns(head: Mapping[str, Any], costs: Costs) -> Iterator[Column]:
    """What a report of rankings says of an arm."""
    limit = head["limit"]
    yield Column("n", lambda _, group: group["n"], whole, hint="samples that the arm was asked about")
    if head["kind"] == "codesearch":
        yield from _lines(limit, costs)
    else:
        for cut in recall_cuts(limit):
            yield _mean(f"recall@{cut}", limit, hint="share of the gold files among the first k")
        yield _mean("mrr@k", limit, hint="1 / rank of the first gold file")
    yield _rate("hit@k", limit, "share of samples with a gold file among the first k; 95 % Wilson interval")
    for name in head.get("measures", ()):
        yield _mean(name, limit, 0 if is_own(name) else 1)
    if any(name.endswith("no_gold") for name in _groups(head)):
        yield _rate("selective_success", limit, "gold found, or silence where there is none")
    if head["kind"] != "codesearch":
        yield _mean("abstained", limit, 0, "share of samples for which the arm named no file")
    hint = "no answer, or declined; counted as misses"
    yield Column("errors", lambda _, group: group["errors"], whole, hint=hint, bad=True)
    for quantile in ("p50", "p95"):
        yield Column(quantile, _time(costs, f"{quantile}_ms"), milliseconds, -1)


def task_columns(head: Mapping[str, Any]) -> Iterator[Column]:
    """What a report of a trial says of an arm; tasks under one context are an arm."""
    names = {name for arm in head["arms"].values() for name in arm["groups"]["all"]}
    yield _figure("tasks", text=whole)
    yield _figure("success", 1, "share of tasks with a true claim; 95 % Wilson interval", interval=True)
    for name in sorted(name for name in names if name.startswith("pass@") and name != "pass@1"):
        yield _figure(name, 1, "share of tasks with a true claim in any of the attempts", interval=True)
    yield _figure("mean_f1", 1, "F1 of claims against gold", title="F1")
    hint = "share of tasks with a false claim held certain; 95 % Wilson interval"
    yield _figure("confidently_wrong_tasks", -1, hint, title="confidently wrong", interval=True)
    yield _figure("abstained", 0, "share of tasks without a claim")
    yield _figure("gold_in_context", 1, "share of contexts that hold gold")
    yield _figure("gold_as_result", 1, "share of contexts that have gold as a result")
    yield _figure("tool_used", 0, "share of tasks in which the tool was called")
    yield _figure("money_per_task", -1, text=lambda value: f"{value:.4f}")
    for name in ("errors", "not_run"):
        yield _figure(name, text=whole, bad=True)


def _lines(limit: int, costs: Costs) -> Iterator[Column]:
    """What is judged where lines are."""
    for name in ("chunk_recall@5", "chunk_recall@10", "chunk_recall@20", "chunk_mrr@20"):
        yield _mean(name, limit)
    hint = "share of queries without any answer among 20 files; lower is better"
    yield _mean("chunk_zero_miss", limit, -1, hint)
    yield Column("tokens", lambda label, _: costs.tokens.get(label), whole, -1, hint=costs.tokens_note)
    yield _mean("recall@10", limit, hint="share of the gold files among the first 10")


def _mean(name: str, limit: int, best: int = 1, hint: str = "") -> Column:
    return Column(
        measure_name(name, limit), lambda _, group: group.get(name), share, best, hint=hint, ceiling=name
    )


def _rate(name: str, limit: int, hint: str) -> Column:
    def ends(group: Group) -> tuple[float, float] | None:
        found = group["intervals"].get(name, {})
        return (found["low"], found["high"]) if "low" in found else None

    title = measure_name(name, limit)
    return Column(title, lambda _, group: group.get(name), share, 1, ends, hint, ceiling=name)


def _time(costs: Costs, quantile: str) -> Callable[[str, Group], float | None]:
    return lambda label, _: costs.times.get(label, {}).get(quantile)


def _figure(
    name: str,
    best: int = 0,
    hint: str = "",
    *,
    title: str | None = None,
    text: Callable[[float], str] = share,
    bad: bool = False,
    interval: bool = False,
) -> Column:
    def value(_: str, group: Group) -> float | None:
        found = figure(group, name)
        return None if found is None else found.value

    def ends(group: Group) -> tuple[float, float] | None:
        found = figure(group, name)
        return None if found is None or found.low is None or found.high is None else (found.low, found.high)

    shown = name.replace("_", " ") if title is None else title
    return Column(shown, value, text, best, ends if interval else None, hint, bad)


def _groups(head: Mapping[str, Any]) -> set[str]:
    """The groups that an arm was asked about."""
    return {name for arm in head["arms"].values() for name, group in arm["groups"].items() if group["n"]}
