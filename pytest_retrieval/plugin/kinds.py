"""What options say of kinds of items that a session does not have: a mistake, told before anything runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_retrieval.errors import GateError, UsageError

if TYPE_CHECKING:
    from pytest_retrieval.gates.rules import Rule
    from pytest_retrieval.plugin.settings import Settings
    from pytest_retrieval.plugin.trial_session import TrialSession


def check_kinds(settings: Settings, trial: TrialSession | None, *, ranks: bool) -> None:
    """Refuse arms, pairs and gates that no item of the session is about.

    ``ranks`` says that there are samples for which arms rank files; ``trial`` is None without tasks for
    agents.

    Raises:
        UsageError: there is such a thing.
    """
    if ranks and not settings.arms:
        named = ", ".join(settings.contexts)
        raise UsageError(f"--arms: {named} ranks no files: name arms for the samples of this session, too")
    if trial is None and settings.contexts:
        named = settings.contexts[0]
        raise UsageError(
            f"--arms: {named} is a context for agents and ranks no files; it is for suites/trial"
        )
    labels = {arm.label for arm in settings.arms} if ranks else set()
    known = labels if trial is None else labels | set(trial.contexts.labels)
    for pair in settings.asked_pairs:
        if not set(pair) <= known:
            raise UsageError(f"pair '{' - '.join(pair)}': this run has the arms {', '.join(sorted(known))}")
    judged = [*(settings.gates if ranks else ()), *(() if trial is None else trial.gates())]
    for rule in settings.rules:
        if rule not in judged:
            _refuse(settings, trial, rule)


def _refuse(settings: Settings, trial: TrialSession | None, rule: Rule) -> None:
    """Raise what the one kind, or else the other, has against a gate."""
    from pytest_retrieval.gates.names import check

    if trial is not None:
        trial.check_gate(rule)
    check(rule.gate, arms=[arm.label for arm in settings.arms], groups=None, limit=settings.limit)
    raise GateError(f"gate '{rule.gate}': it speaks of agents, and no task of a trial is run")
