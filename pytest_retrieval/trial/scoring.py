"""One invocation is scored: from what was recorded alone, so that scoring again gives the same.

Derived members are ``score_error``, ``block_state``, ``block_followed``, ``claims``, ``metrics`` and
``money``; all others are raw and never touched. A raw ``error`` is what happened to the invocation, a
``score_error`` what its reply lacks: where the grammar is mended, the latter may go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pytest_retrieval.stats.rounding import half_away
from pytest_retrieval.text.stems import hard_stem
from pytest_retrieval.trial.claims import PRESENT, Block, extract
from pytest_retrieval.trial.placement import Context
from pytest_retrieval.trial.prices import ModelPrices, money_of
from pytest_retrieval.trial.values import (
    ANSWER,
    CERTAIN,
    CLAIM_KINDS,
    LIKELY,
    PATH_KINDS,
    UNSURE,
    normalise,
    normalise_path,
)
from pytest_retrieval.trial.verdicts import FALSE, INVALID, TRUE, UNJUDGED, judged

DERIVED = ("score_error", "block_state", "block_followed", "claims", "metrics", "money")
TOPS = (1, 3, 5, 10)

Detail = Mapping[str, Any]
Metrics = dict[str, float]


def score_detail(detail: Detail, prices: ModelPrices | None = None) -> dict[str, Any]:
    """A task's detail with every derived member of every run built anew; nothing else is changed.

    ``prices`` gives what each run with observed tokens cost; without them no run has ``money``.
    """
    task = _Task(detail)
    arms = {label: _scored_entry(entry, task, prices) for label, entry in detail["arms"].items()}
    return {**detail, "arms": arms}


def was_run(run: Mapping[str, Any]) -> bool:
    """Whether an invocation was started, or failed before: one without time and error never was."""
    return "error" in run or isinstance(run["wall_ms"], (int, float))


@dataclass(frozen=True)
class _Task:
    """What scoring takes from a task."""

    detail: Detail

    @cached_property
    def gold(self) -> Mapping[str, Sequence[str]]:
        """The gold that claims are judged by: nothing is true of a control."""
        if self.is_control:
            return dict.fromkeys(CLAIM_KINDS, ())
        return self.detail["gold"] or {}

    @cached_property
    def is_control(self) -> bool:
        return bool(self.detail.get("control"))

    @cached_property
    def subject(self) -> str | None:
        return self.detail.get("subject") or None

    @cached_property
    def gold_files(self) -> frozenset[tuple[str, str]]:
        """Kind and normalised path of all gold that is a path."""
        gold = self.detail["gold"] or {}
        return frozenset((kind, normalise(kind, path)) for kind in PATH_KINDS for path in gold.get(kind, ()))

    @cached_property
    def gold_paths(self) -> frozenset[str]:
        return frozenset(path for _, path in self.gold_files)

    @cached_property
    def hard_gold(self) -> frozenset[str]:
        """Gold that the subject's name does not give away."""
        given = hard_stem(self.subject or "")
        return frozenset(path for path in self.gold_paths if hard_stem(path) != given)


def _scored_entry(entry: Mapping[str, Any], task: _Task, prices: ModelPrices | None) -> dict[str, Any]:
    context = Context(entry["context"])
    placed = _placement(entry, task, context)
    return {**entry, "runs": [_scored(run, placed, task, context, prices) for run in entry["runs"]]}


def _scored(
    run: Mapping[str, Any], placed: Metrics, task: _Task, context: Context, prices: ModelPrices | None
) -> dict[str, Any]:
    block = extract(run["reply"])
    raw = {name: value for name, value in run.items() if name not in DERIVED}
    raw |= money_of(run, prices)
    fault = None if "error" in run else score_error(run, block)
    if fault is not None or "error" in run or not was_run(run):
        said = {} if fault is None else {"score_error": fault}
        return {**raw, **said, "block_state": "", "claims": None, "metrics": None}
    claims = [judged(claim, task.gold, context) for claim in block.claims]
    return {
        **raw,
        "block_state": block.state,
        **({"block_followed": True} if block.followed else {}),
        "claims": claims,
        "metrics": _metrics(claims, placed, task, run),
    }


def score_error(run: Mapping[str, Any], block: Block) -> str | None:
    """Why a reply without claims is no abstention, or None where it is one."""
    if block.state == PRESENT or not was_run(run):
        return None
    status = run["exit_code"]
    if isinstance(status, int) and status != 0:
        said = f" ({run['stderr']})" if run.get("stderr") else ""
        return f"exit status {status} and no claims block in the reply{said}"
    return "the reply was cut at its bound, and its claims block is lost" if run["reply_truncated"] else None


def _metrics(
    claims: Sequence[Mapping[str, Any]], placed: Metrics, task: _Task, run: Mapping[str, Any]
) -> Metrics:
    metrics = {**_committed(claims, task), **placed}
    success = metrics["success"]
    if placed.get("gold_as_result") and not success:
        metrics["utilisation_gap"] = 1
    metrics["f1"] = _f1(claims, task)
    if task.subject is not None:
        hit = {normalise(claim["kind"], claim["value"]) for claim in claims if claim["verdict"] == TRUE}
        metrics["hard_success"] = int(not hit.isdisjoint(task.hard_gold))
    if task.detail.get("gold_checked") and task.detail.get("gold_at_base"):
        metrics["success_retrievable"] = success
    if "calls" in run:
        metrics["tool_used"] = int(bool(run["calls"]))
    if task.is_control:
        answered = placed.get("packet_abstained") == 0
        metrics["control_failed"] = int(bool(metrics["confidently_wrong_task"]) or answered)
    return metrics


def _committed(claims: Sequence[Mapping[str, Any]], task: _Task) -> Metrics:
    """What the agent committed to, as counts."""

    def wrong(confidence: str) -> int:
        return sum(claim["verdict"] == FALSE and claim["confidence"] == confidence for claim in claims)

    valid = [claim for claim in claims if claim["verdict"] != INVALID]
    said = [(claim["kind"], normalise(claim["kind"], claim["value"])) for claim in valid]
    subject = normalise_path(task.subject) if task.subject else None
    confidently = wrong(CERTAIN)
    return {
        "success": int(any(claim["verdict"] == TRUE for claim in claims)),
        "confidently_wrong": confidently,
        "confidently_wrong_task": int(confidently > 0),
        "wrong_likely": wrong(LIKELY),
        "wrong_unsure": wrong(UNSURE),
        "unjudged": sum(claim["verdict"] == UNJUDGED for claim in claims),
        "invalid": len(claims) - len(valid),
        "abstained": int(not valid),
        "valid_claims": len(valid),
        "repeated": len(said) - len(set(said)),
        "subject_claims": sum(kind != ANSWER and value == subject for kind, value in said),
    }


def _placement(entry: Mapping[str, Any], task: _Task, context: Context) -> Metrics:
    """Where gold stands in the context; without a context there is nothing to say but that it failed."""
    if entry.get("context_error"):
        return {"context_failed": 1}
    ranked = context.ranked(task.subject)
    gold = [(kind, value) for kind, values in task.gold.items() for value in values]
    in_context = any(context.says(value) if kind == ANSWER else context.holds(value) for kind, value in gold)
    metrics: Metrics = {
        "gold_in_context": int(in_context),
        "gold_as_result": int(any(normalise(kind, value) in context.results for kind, value in gold)),
    }
    metrics |= {f"packet_top_{k}": int(not task.gold_paths.isdisjoint(ranked[:k])) for k in TOPS}
    if task.subject is not None:
        metrics["hard_gold_in_context"] = int(not task.hard_gold.isdisjoint(ranked))
    if task.is_control and entry.get("context_state"):
        metrics["packet_abstained"] = int(context.abstained)
    return metrics


def _f1(claims: Sequence[Mapping[str, Any]], task: _Task) -> float:
    """F1 of the distinct claims against the gold that is a path; a kind and a value make a claim."""
    claimed = {
        (claim["kind"], normalise(claim["kind"], claim["value"]))
        for claim in claims
        if claim["verdict"] != INVALID
    }
    return f1(len(claimed & task.gold_files), len(claimed), len(task.gold_files))


def f1(correct: int, claimed: int, gold: int) -> float:
    """``2PR / (P + R)`` with ``P = correct / claimed`` and ``R = correct / gold``; 0 if any of them is 0."""
    if not (correct and claimed and gold):
        return 0.0
    precision, recall = correct / claimed, correct / gold
    return half_away(2 * precision * recall / (precision + recall))
