"""What options say of kinds of items that a session does not have: a mistake, told before anything runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_retrieval.errors import GateError, UsageError
from pytest_retrieval.plugin.comparing import check_gate, fitting_gates

if TYPE_CHECKING:
    from pytest_retrieval.gates.rules import Rule
    from pytest_retrieval.plugin.plan import Plan
    from pytest_retrieval.plugin.session import BenchSession
    from pytest_retrieval.plugin.trial.session import TrialSession


def check_kinds(bench: BenchSession, trial: TrialSession | None, plan: Plan) -> None:
    """Refuse arms, pairs and gates that no item of the session is about.

    ``trial`` is None without tasks for agents.

    Raises:
        UsageError: there is such a thing.
    """
    settings, ranks = bench.settings, bool(plan.entries)
    if ranks and not settings.arms:
        named = ", ".join(settings.contexts)
        raise UsageError(f"--arms: {named} ranks no files: name arms for the samples of this session, too")
    if trial is None and settings.contexts:
        named = settings.contexts[0]
        raise UsageError(
            f"--arms: {named} is a context for agents and ranks no files: it is for suites/trial"
        )
    labels = {arm.label for arm in settings.arms} if ranks else set()
    known = labels if trial is None else labels | set(trial.contexts.labels)
    for pair in settings.asked_pairs:
        if not set(pair) <= known:
            raise UsageError(f"pair '{' - '.join(pair)}': this run has the arms {', '.join(sorted(known))}")
    judged = [rule for kind in plan.kinds() for rule in fitting_gates(bench, plan.part(kind))]
    judged += [] if trial is None else trial.gates()
    for rule in settings.rules:
        if rule not in judged:
            _refuse(bench, trial, plan, rule)


def _refuse(bench: BenchSession, trial: TrialSession | None, plan: Plan, rule: Rule) -> None:
    """Raise what is wrong with a gate that speaks of no item of the session."""
    if trial is not None and (not plan.entries or rule not in bench.settings.gates):
        trial.check_gate(rule)
    check_gate(bench, rule, plan)
    raise GateError(f"gate '{rule.gate}': it speaks of agents, and no task of a trial is run")
