"""What the page shows of a trial: what agents claimed, task by task, under one context or another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pytest_retrieval.report.html.columns import task_columns
from pytest_retrieval.report.html.forest import forest
from pytest_retrieval.report.html.heatmap import Sums, heat_map
from pytest_retrieval.report.html.leaderboard import leaderboard
from pytest_retrieval.report.html.markup import Markup
from pytest_retrieval.report.html.packing import Packer
from pytest_retrieval.report.html.plot import Arms
from pytest_retrieval.report.html.taskrows import task_row
from pytest_retrieval.report.html.tradeoff import Point, tradeoff
from pytest_retrieval.report.html.view import View
from pytest_retrieval.report.trialfigures import PAIRED, figure

_REPOSITORY = "repo:"


def tasks(head: Mapping[str, Any], details: Iterable[Mapping[str, Any]]) -> View:
    """The view of a trial's report."""
    ordered = sorted(head["arms"])
    arms = Arms(ordered)
    every = {label: arm["groups"]["all"] for label, arm in head["arms"].items()}
    labels = sorted(every, key=lambda label: (-_value(every[label], "success"), label))
    names = {name: name.replace("_", " ") for name in PAIRED} | {"mean_f1": "F1"}
    packer, explained = Packer(), False
    for detail in details:
        packer.add(task_row(detail, ordered))
        explained = explained or "explain" in detail
    return View(
        what="agents under contexts",
        noun="task",
        board=leaderboard({label: every[label] for label in labels}, task_columns(head), arms),
        charts=[
            _prices(every, arms, labels),
            forest(head["paired"], names, ("success",)),
            heat_map(dict(_repositories(head)), "success", arms, labels),
        ],
        data=lambda facts: packer.finished({**facts, "explained": explained, "paths": []}),
    )


def _value(summary: Mapping[str, Any], name: str) -> float:
    found = figure(summary, name)
    return -1 if found is None else found.value


def _prices(every: Mapping[str, Mapping[str, Any]], arms: Arms, labels: list[str]) -> Markup | None:
    """Success against money, where prices were given."""
    points = {
        label: Point(money, success)
        for label in labels
        if (money := _value(every[label], "money_per_task")) > 0
        and (success := _value(every[label], "success")) >= 0
    }
    return tradeoff(
        "Success against money",
        points,
        arms,
        quality="success",
        cost=lambda value: f"{value:.4g}",
        note="Money per task by the prices given. Hollow: another arm is no worse in both and better in one.",
    )


def _repositories(head: Mapping[str, Any]) -> Iterator[tuple[str, Sums]]:
    """Successes by repository and arm."""
    groups = sorted({name for arm in head["arms"].values() for name in arm["groups"]})
    for group in groups:
        if not group.startswith(_REPOSITORY):
            continue
        sums: Sums = {}
        for label, arm in head["arms"].items():
            success = arm["groups"].get(group, {}).get("success", {})
            if success.get("n"):
                sums[label] = success["rate"] * success["n"], success["n"]
        if sums:
            yield group.removeprefix(_REPOSITORY), sums
