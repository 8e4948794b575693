"""Whether gates hold, read from a report and nothing else: a stored report is judged by the same code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pytest_retrieval.gates.grammar import ERRORS, Gate, check
from pytest_retrieval.measures.names import SELECTIVE
from pytest_retrieval.report.canonical import number_text

Status = Literal["passed", "failed", "undecided", "undecidable"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a gate.

    ``n`` counts the samples that ``got`` speaks of; the run judged ``chosen`` of ``of`` samples. Undecidable
    is a gate without data, with ``reason``; only a passed or undecided gate lets the run pass.
    """

    gate: str
    status: Status
    expected: str
    n: int
    chosen: int
    of: int
    got: float | None = None
    reason: str | None = None

    @property
    def holds(self) -> bool:
        """Whether the run may pass."""
        return self.status in ("passed", "undecided")

    def record(self) -> dict[str, Any]:
        """The verdict as the report keeps it; what does not apply is left out."""
        fields = {name: getattr(self, name) for name in self.__slots__}
        return {name: value for name, value in fields.items() if value is not None}

    def __str__(self) -> str:
        return verdict_line(self.record())


def judge(report: Mapping[str, Any], gates: Sequence[Gate]) -> list[Verdict]:
    """One verdict per gate, in order. ``report`` needs no details.

    A group that the report does not have, a figure without samples, an arm whose every sample is an error,
    and any lost sample make a gate undecidable. Raises GateError for an arm or a measure that the report does
    not have.
    """
    return [_judge(report, gate) for gate in gates]


def verdict_line(record: Mapping[str, Any]) -> str:
    """One line for people: ``FAILED bm25:all: recall@10 >= 0.4: got 0.312 (n 83, on 83 of 83)``."""
    found = record.get("reason") or f"got {number_text(record['got'])}"
    scope = f"n {record['n']}, on {record['chosen']} of {record['of']}"
    return f"{record['status'].upper()} {record['gate']}: {found} ({scope})"


def _judge(report: Mapping[str, Any], gate: Gate) -> Verdict:
    gate = check(gate, arms=report["arms"], groups=None, limit=report["limit"])
    group = report["arms"][gate.arm]["groups"].get(gate.group)
    n = 0 if group is None else _sample_count(group, gate.measure)
    got = None if group is None else _figure(group, gate)
    reason = _undecidable(report["selection"], group, gate, n)
    status: Status = "undecidable"
    if reason is None and got is None:
        reason = f"the report has no {gate.measure} here"
    elif reason is None and got is not None:
        status = "passed" if gate.holds(got) else "failed"
    selection = report["selection"]
    return Verdict(
        str(gate), status, gate.expected, n, selection["chosen"], selection["of"], got=got, reason=reason
    )


def _sample_count(group: Mapping[str, Any], measure: str) -> int:
    counted: int = group["n" if measure in (*SELECTIVE, ERRORS) else "positives"]
    return counted


def _figure(group: Mapping[str, Any], gate: Gate) -> float | None:
    found: float | None = (group["intervals"][gate.measure] if gate.end else group).get(
        gate.end or gate.measure
    )
    return found


def _undecidable(
    selection: Mapping[str, Any], group: Mapping[str, Any] | None, gate: Gate, n: int
) -> str | None:
    """Why nothing can be said, or None."""
    missing = max(len(selection["lost"]), selection["chosen"] - selection["judged"])
    if missing:
        return f"{missing} of {selection['chosen']} chosen samples were lost"
    if group is None:
        return f"no sample is in {gate.group}"
    if n == 0:
        return "no sample has this figure"
    if gate.measure != ERRORS and group["errors"] == group["n"]:
        return f"all {group['n']} samples are errors"
    return None
