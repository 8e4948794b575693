"""What a run is judged by, as its options say: gates, a baseline, further measures, tolerated faults."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_retrieval.errors import GateError, UsageError, closest
from pytest_retrieval.plugin import options
from pytest_retrieval.plugin.offers import offered_measures
from pytest_retrieval.plugin.option_values import base_of, optional_path

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from pytest_retrieval.gates.loading import Comparing
    from pytest_retrieval.gates.rules import Rule
    from pytest_retrieval.measures.chosen import Chosen
    from pytest_retrieval.plugin.arm_choice import ArmChoice


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How many samples with faults a run may have: a count, or a percentage of the judged samples."""

    amount: float
    percent: bool = False

    def allows(self, faulty: int, judged: int) -> bool:
        """Whether ``faulty`` of ``judged`` samples are within the tolerance."""
        return faulty <= (self.amount * judged / 100 if self.percent else self.amount)


def read_tolerance(config: pytest.Config) -> Tolerance | None:
    """The faults that are tolerated; None where each fails its item."""
    text = options.value(config, "max-errors")
    if text is None:
        return None
    found = re.fullmatch(r"(\d+)|(\d+(?:\.\d+)?)%", text.strip(), re.ASCII)
    if found is None:
        raise UsageError(
            f"--retrieval-max-errors: {text!r} is neither a number of samples (3) nor a percentage (2%)"
        )
    return Tolerance(float(found[1] or found[2]), percent=found[1] is None)


def all_gates(config: pytest.Config) -> tuple[Rule, ...]:
    """Every gate that was given, whatever it speaks of."""
    texts, path = options.values(config, "gate"), optional_path(config, "gates")
    if not texts and path is None:  # what gates can be of opens half of the house
        return ()
    from pytest_retrieval.gates.rules import read_rules, typed_rules

    return (*typed_rules(texts), *(() if path is None else read_rules(path)))


def ranking_gates(
    config: pytest.Config, rules: Sequence[Rule], chosen: ArmChoice, limit: int
) -> tuple[Rule, ...]:
    """The gates that speak of rankings; of those that speak of agents a trial knows more."""
    if not rules:
        return ()
    from pytest_retrieval.gates.names import check
    from pytest_retrieval.report.trialfigures import NAMES, is_figure

    own = tuple(f"{name}@k" for name in offered_measures(config))
    found = []
    for rule in rules:
        try:
            check(rule.gate, arms=chosen.labels, groups=None, limit=limit, own=own)
        except GateError as error:
            named = {rule.arm, rule.against}
            of_agents = is_figure(rule.measure) or not named.isdisjoint(chosen.possible_contexts)
            if not (of_agents or _is_trial(config, chosen)):
                meant = closest(rule.measure, NAMES)
                raise GateError(f"{error}; of the figures of trials{meant}") if meant else error from None
        else:
            found.append(rule)
    return tuple(found)


def _is_trial(config: pytest.Config, chosen: ArmChoice) -> bool:
    """Whether what was typed speaks of agents: then a trial says what is wrong with a gate."""
    from pytest_retrieval.plugin.trial.settings import NAMES

    return bool(chosen.contexts) or any(options.from_command_line(config, name) for name in NAMES)


def chosen_measures(config: pytest.Config, limit: int, gates: Sequence[Rule]) -> tuple[Chosen, ...]:
    """The measures that were asked for, and those that gates need."""
    texts = options.values(config, "measures")
    if not texts and not gates:
        return ()
    from pytest_retrieval.measures.chosen import choose

    own = offered_measures(config)
    try:
        asked = choose(texts, limit, own)
    except UsageError as error:
        raise UsageError(f"--retrieval-measures: {error}") from None
    needed: list[Chosen] = []
    for gate in gates:
        with suppress(UsageError):  # errors, say, is no measure
            needed += choose([gate.measure], limit, own)
    return tuple(dict.fromkeys([*asked, *needed]))


def read_comparing(config: pytest.Config, root: Path) -> Comparing:
    """The baseline as it was named, and what is done where gates cannot say yes or no.

    ``root`` is the folder of the default report.
    """
    from pytest_retrieval.gates.loading import Comparing, policy, read_overlap

    overlap = options.value(config, "baseline-overlap")
    return Comparing(
        text=options.value(config, "baseline"),
        root=root,
        base=base_of(config, "baseline"),
        overlap=None if overlap is None else read_overlap(overlap),
        missing_passes=policy("baseline-missing", options.value(config, "baseline-missing")) == "pass",
        undecided="fail" if policy("undecided", options.value(config, "undecided")) == "fail" else "warn",
    )
