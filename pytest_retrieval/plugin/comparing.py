"""A run against its baseline before the first item runs: what is not comparable ends it at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_retrieval.gates.baseline import align, check_comparable, plan_samples

if TYPE_CHECKING:
    from pytest_retrieval.gates.baseline import Baseline
    from pytest_retrieval.plugin.plan import Plan


def check_run(baseline: Baseline, plan: Plan, limit: int) -> None:
    """Refuse a baseline that the samples of ``plan``, which are of one kind, cannot be compared with.

    Trees of snapshots are compared with those of the finished report. Raises UsageError, one line.
    """
    head = {"limit": limit, "protocol": "house", "sources": plan.ordered_sources()}
    check_comparable(baseline, {**head, "kind": plan.kinds()[0]} if plan.entries else head)
    keys = [(entry.source, entry.id, entry.ordinal) for entry in plan.entries.values()]
    align(baseline, plan_samples(keys), chosen_of_more=len(keys) < plan.of.total(), facts=False)
