"""The figures of a trial report: what an arm's summary has by name, for gates and comparisons.

A summary is found at ``head["arms"][LABEL]["groups"][GROUP]``. Its rates are ``{n, count, rate, low, high}``,
``{"n": 0}`` without data; its means ``{n, mean}``; its counts plain numbers, ``"NOT_OBSERVED"`` where nobody
looked. Differences of two arms are at ``head["paired"][GROUP]["A - B"][NAME]``, as in every report.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

RATES = (
    "success",
    "confidently_wrong_tasks",
    "abstained",
    "gold_in_context",
    "gold_as_result",
    "packet_top_1",
    "packet_top_3",
    "packet_top_5",
    "packet_top_10",
    "hard_gold_in_context",
    "hard_success",
    "success_retrievable",
    "tool_used",
)
MEANS = ("mean_f1", "claims_per_reply")
COUNTS = (
    "tasks",
    "errors",
    "not_run",
    "confidently_wrong_claims",
    "wrong_likely_claims",
    "wrong_unsure_claims",
    "repeated_claims",
    "subject_claims",
    "block_followed",
    "context_failed",
    "utilisation_gap",
    "reused",
    "wall_ms",
    "tool_calls",
    "explored_tasks",
    "served_calls",
    "unstable_tasks",
)
CONTROLS = ("control_failed", "control_errors", "packet_abstained")  # within "already_fixed"
MONEY = ("money", "money_per_task", "money_per_success")
PAIRED = ("success", "confidently_wrong_tasks", "abstained", "gold_in_context", "gold_as_result", "mean_f1")
NAMES = (*RATES, *MEANS, *COUNTS, *CONTROLS, *MONEY)
_PASS = re.compile(r"pass@[1-9][0-9]*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure's value, and the ends of its 95 % interval where it has one."""

    value: float
    low: float | None = None
    high: float | None = None


def is_figure(name: str) -> bool:
    """Whether a trial report can have a figure of this name; ``pass@N`` needs repetitions."""
    return name in NAMES or _PASS.fullmatch(name) is not None


def has_interval(name: str) -> bool:
    """Whether a figure has the ends ``low`` and ``high``; every paired difference has them."""
    return name in RATES or _PASS.fullmatch(name) is not None


def figure(summary: Mapping[str, Any], name: str) -> Figure | None:
    """A figure of one arm's summary of one group, or None where there is no data for it."""
    holder = summary.get("already_fixed", {}) if name in CONTROLS else summary
    found = holder.get(name)
    if isinstance(found, (int, float)):
        return Figure(found)
    if not isinstance(found, Mapping) or not found.get("n"):
        return None
    if "rate" in found:
        return Figure(found["rate"], found["low"], found["high"])
    return Figure(found["mean"]) if "mean" in found else None
