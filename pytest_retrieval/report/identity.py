"""What two runs over the same inputs have in common, to the byte."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

# What may differ (DECISIONS 17), by where it stands; an arm may well be labelled "latency".
_TOP = ("environment", "latency", "registered_at", "source_reports_sha256")
TRIAL = "trial"
_REGISTRATION = ("registered_at", "source_reports_sha256")
_ANSWER = ("wall_ms", "build_ms", "cold_wall_ms", "cache_state", "cost")


def strip_times(report: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of a whole report, details included, without times, cache states and the environment."""
    kept = _without(report, _TOP)
    if "registration" in kept:
        kept["registration"] = _without(kept["registration"], _REGISTRATION)
    if "codesearch" in kept:
        rows = [_without(row, ("cost",)) for row in kept["codesearch"]["rows"]]
        kept["codesearch"] = {**kept["codesearch"], "rows": rows}
    if kept.get("kind") == TRIAL:
        return _strip_trial(kept)
    kept["details"] = [
        {**detail, "arms": {label: _without(answer, _ANSWER) for label, answer in detail["arms"].items()}}
        for detail in report["details"]
    ]
    return kept


def _strip_trial(report: dict[str, Any]) -> dict[str, Any]:
    """A trial's report without the times of its invocations, their sums, and those of calls of tools."""
    arms = {
        label: {
            **arm,
            "groups": {name: _without(group, ("wall_ms",)) for name, group in arm["groups"].items()},
        }
        for label, arm in report["arms"].items()
    }
    details = [
        {**detail, "arms": {label: _strip_runs(entry) for label, entry in detail["arms"].items()}}
        for detail in report["details"]
    ]
    return {**report, "arms": arms, "details": details}


def _strip_runs(entry: Mapping[str, Any]) -> dict[str, Any]:
    runs = []
    for run in entry["runs"]:
        kept = _without(run, ("wall_ms",))
        if "calls" in kept:
            kept["calls"] = [_without(call, ("ms",)) for call in kept["calls"]]
        runs.append(kept)
    return {**entry, "runs": runs}


def _without(mapping: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {key: value for key, value in mapping.items() if key not in names}
