"""Whether gates hold, read from a report: a stored one is judged by the same code as a run's own.

Every number of a verdict stands in the report, or is worked out from the values of its samples and of those
of the baseline whose digest the verdict names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from pytest_retrieval.gates.baseline import Baseline
from pytest_retrieval.gates.evidence import Evidence
from pytest_retrieval.gates.figures import Figure
from pytest_retrieval.gates.grammar import Condition, Gate, Lost, NoRegression
from pytest_retrieval.gates.lines import verdict_line
from pytest_retrieval.gates.loading import Comparing, Undecided
from pytest_retrieval.gates.names import check
from pytest_retrieval.gates.regression import errors_decide, judge_lost, judge_regression
from pytest_retrieval.gates.rules import Rule, today

Details = Callable[[], Iterator[Mapping[str, Any]]]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a gate: its ``status``, whether that ``fails`` the run, and the ``facts`` behind it.

    ``facts`` are the further fields of its record, as the report's schema describes them.
    """

    gate: str
    status: str
    expected: str
    fails: bool
    facts: Mapping[str, Any]

    @property
    def holds(self) -> bool:
        """Whether the run may pass."""
        return not self.fails

    @property
    def reason(self) -> str | None:
        """Why it is so, where the figure alone does not tell."""
        found: str | None = self.facts.get("reason")
        return found

    def record(self) -> dict[str, Any]:
        """The verdict as the report keeps it; what does not apply is left out."""
        fields = {"gate": self.gate, "status": self.status, "expected": self.expected, "fails": self.fails}
        return fields | {name: value for name, value in self.facts.items() if value is not None}

    def __str__(self) -> str:
        return verdict_line(self.record())


def judge(
    report: Mapping[str, Any],
    rules: Sequence[Rule | Condition],
    *,
    details: Details | None = None,
    baseline: Baseline | None = None,
    comparing: Comparing | None = None,
    day: date | None = None,
) -> list[Verdict]:
    """One verdict per gate, in order.

    ``report`` is a head; ``details`` gives its samples, which are drawn only where a gate needs more than
    the summaries. A group that the report does not have, a figure without samples, an arm whose every sample
    is an error, any lost sample, and a baseline that is missing or not comparable make a gate undecidable,
    which fails. ``comparing`` holds the policies, by default that an undecided gate does not fail and a
    missing baseline does. Exceptions run out by ``day``.
    Raises GateError for an arm or a measure that the report does not have.
    """
    named = [rule if isinstance(rule, Rule) else Rule(rule) for rule in rules]
    checked = [replace(rule, gate=_checked(report, rule.gate)) for rule in named]
    policies = comparing or Comparing()
    evidence = Evidence(report, details, baseline, [rule.gate for rule in checked], policies)
    return [_judge(evidence, rule, policies.undecided, day or today()) for rule in checked]


def _checked(report: Mapping[str, Any], gate: Condition) -> Condition:
    return check(
        gate,
        arms=report["arms"],
        groups=None,
        limit=report["limit"],
        own=tuple(report.get("measures", ())),
        trial=report.get("kind") == "trial",
    )


def _judge(evidence: Evidence, rule: Rule, undecided: Undecided, day: date) -> Verdict:
    gate, selection = rule.gate, evidence.head["selection"]
    found = _found(evidence, gate)
    if (lost := _losses(selection)) is not None:
        found |= {"status": "undecidable", "reason": lost, "missing": False}
    status = found.pop("status")
    fails = status in ("failed", "undecidable") or (status == "undecided" and undecided == "fail")
    excused = None
    if found.pop("missing", False):
        excused = {"reason": "--retrieval-baseline-missing=pass"}
    elif rule.exception is not None and status in ("failed", "undecided"):
        excused = rule.exception.record(day)
    if excused is not None and not excused.get("expired"):
        fails = False
    facts = {
        "n": found.pop("n"),
        "chosen": selection["chosen"],
        "of": selection["of"],
        "label": rule.label,
        "exception": excused,
        **found,
    }
    return Verdict(str(gate), status, gate.expected, fails, facts)


def _found(evidence: Evidence, gate: Condition) -> dict[str, Any]:
    """The status of a gate and the fields of its record."""
    if gate.needs_baseline and (why := evidence.no_baseline(gate)) is not None:
        return {"status": "undecidable", "n": 0, "reason": why, "missing": evidence.may_be_missing(gate)}
    if isinstance(gate, NoRegression):
        return judge_regression(evidence, gate)
    if isinstance(gate, Lost):
        return judge_lost(evidence, gate)
    return _judge_figure(evidence, gate)


def _judge_figure(evidence: Evidence, gate: Gate) -> dict[str, Any]:
    figure, before = evidence.figures(gate)
    fields = {"n": figure.n, "unit": figure.unit, "units": figure.units, "got": figure.value}
    if figure.unit != "query":
        fields |= {"repositories": evidence.repositories(gate)}
    if before is not None:
        fields["baseline"] = evidence.baseline_record(gate, before.value)
    reason = figure.reason or (before and before.reason and f"baseline: {before.reason}")
    if reason or figure.value is None:
        return fields | {"status": "undecidable", "reason": reason}
    if figure.few or (before and before.few):
        return fields | {"status": "undecided", "reason": figure.few or f"baseline: {before and before.few}"}
    plain = gate.holds(figure.value, None if before is None else before.value)
    outcomes = {gate.holds(one, two) for one, two in _extremes(figure, before)}
    status = "passed" if plain else "failed"
    if outcomes - {plain}:
        faults = figure.faults + (before.faults if before else 0)
        if not faults:
            return fields | {"status": "undecided", "reason": figure.doubt or (before and before.doubt)}
        return fields | {"status": "undecided", "reason": errors_decide(faults), "faults": faults}
    return fields | {"status": status}


def _extremes(figure: Figure, before: Figure | None) -> Iterable[tuple[float, float | None]]:
    """The figure and the baseline's as the samples with faults may have it, each extreme with each."""
    ours = (figure.value, *figure.extremes)
    theirs = (None,) if before is None else (before.value, *before.extremes)
    return [(one, two) for one in ours if one is not None for two in theirs]


def _losses(selection: Mapping[str, Any]) -> str | None:
    judged = selection.get("judged", selection["chosen"] - len(selection["lost"]))
    missing = max(len(selection["lost"]), selection["chosen"] - judged)
    if not missing:
        return None
    return f"{missing} of {selection['chosen']} chosen samples were lost; run those again"
