"""Whether gates hold, read from a report and nothing else: a stored report is judged by the same code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pytest_retrieval.arms.pairs import pair_name
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
    n, got, reason = _difference(report, gate) if gate.against else _statistic(report, gate)
    reason = _losses(report["selection"]) or reason
    status: Status = "undecidable"
    if reason is None and got is None:
        reason = f"the report has no {gate.measure} here"
    elif reason is None and got is not None:
        status = "passed" if gate.holds(got) else "failed"
    selection = report["selection"]
    return Verdict(
        str(gate), status, gate.expected, n, selection["chosen"], selection["of"], got=got, reason=reason
    )


def _statistic(report: Mapping[str, Any], gate: Gate) -> tuple[int, float | None, str | None]:
    """Of one arm's group: how many samples the figure speaks of, the figure, and why it says nothing."""
    group = report["arms"][gate.arm]["groups"].get(gate.group)
    if group is None:
        return 0, None, f"no sample is in {gate.group}"
    n = group["n" if gate.measure in (*SELECTIVE, ERRORS) else "positives"]
    found = (group["intervals"][gate.measure] if gate.end else group).get(gate.end or gate.measure)
    if n == 0:
        return n, found, "no sample has this figure"
    if gate.measure != ERRORS and group["errors"] == group["n"]:
        return n, found, f"all {group['n']} samples are errors"
    return n, found, None


def _difference(report: Mapping[str, Any], gate: Gate) -> tuple[int, float | None, str | None]:
    """The same of two arms' differences; an end of the interval is the one over the unit that it names."""
    pairs = report.get("paired", {}).get(gate.group, {})
    figures = pairs.get(pair_name((gate.arm, gate.against)), {}).get(gate.measure)
    if figures is None:
        return 0, None, f"no sample of {gate.group} was compared"
    if not gate.end:
        return figures["n"], figures["mean"], None
    cluster = figures["cluster"]
    alone = f"one {cluster['unit']} alone has no interval" if gate.end not in cluster else None
    return figures["n"], cluster.get(gate.end), alone


def _losses(selection: Mapping[str, Any]) -> str | None:
    missing = max(len(selection["lost"]), selection["chosen"] - selection["judged"])
    return f"{missing} of {selection['chosen']} chosen samples were lost" if missing else None
