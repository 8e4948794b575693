"""A trial's task as the page's script reads it: per arm what its runs claimed, and whether that is true."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_KEPT = ("id", "repo", "base_commit", "cluster", "control", "subject")
_CONTEXT = ("context_bytes", "context_truncated", "context_state", "context_error")
_RUN = ("error", "score_error", "wall_ms", "tokens", "tool_calls", "attempts", "reused_from", "money")
_REPLY = 1_000  # characters that are shown


def task_row(detail: Mapping[str, Any], labels: Sequence[str]) -> dict[str, Any]:
    """The task ``detail``; its ``arms`` are in the order of ``labels``, None for one without it."""
    found = {name: detail[name] for name in _KEPT if detail.get(name)}
    found |= detail.get("explain", {})
    found |= {"task": detail["kind"], "stratum": "control" if detail.get("control") else "task"}
    if detail["gold"]:
        found["truth"] = [[kind, list(values)] for kind, values in detail["gold"].items()]
    control = bool(detail.get("control"))
    found["arms"] = [
        _entry(detail["arms"][label], control=control) if label in detail["arms"] else None
        for label in labels
    ]
    return found


def _entry(entry: Mapping[str, Any], *, control: bool) -> dict[str, Any]:
    kept = {name: entry[name] for name in _CONTEXT if entry.get(name)}
    outcome, text, words = _verdict(entry["runs"], control=control)
    return {
        **kept,
        "outcome": outcome,
        "text": text,
        "words": words,
        "runs": [_run(run) for run in entry["runs"]],
    }


def _verdict(runs: Sequence[Mapping[str, Any]], *, control: bool) -> tuple[str, str, str]:
    """What became of the task under an arm: the outcome by which the list filters, a badge, a sentence.

    Of a control nothing is true: it is right to claim nothing with certainty.
    """
    metrics = [run["metrics"] for run in runs if run.get("metrics")]
    if not metrics:
        reasons = [str(run.get("error") or run.get("score_error") or "not run") for run in runs]
        return "error", "error", reasons[0] if reasons else "not run"
    if control:
        failed = sum(found["control_failed"] for found in metrics)
        return (
            ("miss", "claimed", "claimed with certainty") if failed else ("hit", "silent", "claimed nothing")
        )
    right = sum(found["success"] for found in metrics)
    many = f"{right}/{len(metrics)}"
    if right:
        return "hit", "true" if len(metrics) == 1 else many, f"a true claim in {many} runs"
    if all(found["abstained"] for found in metrics):
        return "miss", "silent", "claimed nothing"
    return "miss", "false" if len(metrics) == 1 else many, "no claim is true"


def _run(run: Mapping[str, Any]) -> dict[str, Any]:
    found = {name: run[name] for name in _RUN if run.get(name)}
    reply = run.get("reply") or ""
    if reply:
        found["reply"] = reply[:_REPLY]
        found["cut"] = len(reply) > _REPLY
    found["claims"] = run.get("claims") or []
    return found
