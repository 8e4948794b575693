"""What the samples of a run can be judged by, before the first of them: gates, and a baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_retrieval.errors import GateError
from pytest_retrieval.plugin.plan import SEARCHES

if TYPE_CHECKING:
    from pytest_retrieval.gates.baseline import Baseline
    from pytest_retrieval.gates.rules import Rule
    from pytest_retrieval.plugin.plan import Plan
    from pytest_retrieval.plugin.session import BenchSession


def fitting_gates(bench: BenchSession, plan: Plan) -> list[Rule]:
    """The gates that samples of ``plan`` can be judged by."""
    found = []
    for rule in bench.settings.gates:
        try:
            check_gate(bench, rule, plan)
        except GateError:
            continue
        found.append(rule)
    return found


def check_gate(bench: BenchSession, rule: Rule, plan: Plan) -> None:
    """Raise GateError for a gate that does not speak of samples of ``plan``."""
    from pytest_retrieval.gates.names import check
    from pytest_retrieval.plugin.searching import search_groups
    from pytest_retrieval.report.summaries import known_groups

    settings = bench.settings
    searched = search_groups(plan, bench.corpora) if SEARCHES in plan.kinds() else ()
    check(
        rule.gate,
        arms=[arm.label for arm in settings.arms],
        groups=(*known_groups(sorted(plan.tasks)), *searched),
        limit=settings.limit,
        own=tuple(measure.name for measure in settings.measures),
    )


def check_baseline(bench: BenchSession, plan: Plan) -> None:
    """Refuse a baseline that the samples of its kind cannot be compared with; raises UsageError, one line."""
    if not bench.settings.gates or bench.baseline is None:
        return
    kinds = plan.kinds()
    for kind in kinds:
        if len(kinds) == 1 or kind == bench.baseline.head["kind"]:
            check_run(bench.baseline, plan.part(kind), bench.settings.limit)


def check_run(baseline: Baseline, plan: Plan, limit: int) -> None:
    """Refuse a baseline that the samples of ``plan``, which are of one kind, cannot be compared with.

    Trees of snapshots are compared with those of the finished report. Raises UsageError, one line.
    """
    from pytest_retrieval.gates.baseline import align, check_comparable, plan_samples

    head = {"limit": limit, "protocol": "house", "sources": plan.ordered_sources()}
    check_comparable(baseline, {**head, "kind": plan.kinds()[0]} if plan.entries else head)
    keys = [(entry.source, entry.id, entry.ordinal) for entry in plan.entries.values()]
    align(baseline, plan_samples(keys), chosen_of_more=len(keys) < plan.of.total(), facts=False)
