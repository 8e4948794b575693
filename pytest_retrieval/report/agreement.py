"""What reports must have in common before their answers may stand in one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_retrieval.arms.pairs import default_pairs
from pytest_retrieval.errors import ReportError
from pytest_retrieval.report.arm_order import arranged, united
from pytest_retrieval.report.canonical import encode
from pytest_retrieval.report.stored import NOT_RUN, UNKNOWN, StoredReport

Pair = tuple[str, str]
Facts = Mapping[str, Any]


class Agreement:
    """What the reports taken so far agree on: limit, protocol, binary, arms, trees of snapshots.

    ``union`` allows reports over different samples files.
    """

    def __init__(self, first: StoredReport, *, union: bool) -> None:
        self.limit = first.limit
        self.protocol = first.protocol
        self.binary = NOT_RUN
        self.program: Mapping[str, str] | None = None
        self.snapshots: dict[str, dict[str, Any]] = {}
        self._arms: dict[str, dict[str, Any]] = {}
        self._orders: list[Sequence[str]] = []
        self._first = first
        self._union = union
        self._same_arms = True
        self._pairs: dict[Pair, None] = {}
        self._unusual_pairs: dict[Pair, None] = {}

    def take(self, report: StoredReport) -> None:
        """Take in one more report; raises ReportError, one line, where it is not comparable."""
        self._check_comparable(report)
        self.binary = self._measured(report)
        if report.program is not None:
            self.program = _fuller(self.program, report.program)
        self._take_arms(report)
        for name, facts in report.snapshots.items():
            self.snapshots[name] = self._agreed_snapshot(name, facts, report)

    @property
    def arms(self) -> dict[str, dict[str, Any]]:
        """What each arm declares, in an order that does not depend on that of the reports."""
        return arranged(self._arms, united(self._orders))

    def pairs(self) -> list[Pair]:
        """The pairs to compare: those that were, and between arms of several reports the usual ones too."""
        usual = () if self._same_arms else default_pairs(self.arms)
        chosen = self._pairs if self._same_arms else self._unusual_pairs
        return list(dict.fromkeys((*usual, *sorted(chosen))))

    def _check_comparable(self, report: StoredReport) -> None:
        for name in ("limit", "protocol"):
            theirs, ours = getattr(self, name), getattr(report, name)
            if theirs != ours:
                raise ReportError(
                    f"{report.path}: its {name} is {ours}, that of {self._first.path} is {theirs};"
                    f" reports of another {name} are not comparable"
                )
        if not self._union and report.digests != self._first.digests:
            raise ReportError(
                f"{report.path}: it is over other samples files than {self._first.path}; if their samples are"
                " to stand side by side, say --union"
            )

    def _measured(self, report: StoredReport) -> str:
        """The digest of the Corvint program that ran, if one did in any report."""
        known = {self.binary, report.binary} - {NOT_RUN}
        if len(known) > 1:
            raise ReportError(
                f"{report.path}: it measured the binary {report.binary[:12]}, the reports before it"
                f" {self.binary[:12]}: two programs would stand in one table"
            )
        return known.pop() if known else NOT_RUN

    def _take_arms(self, report: StoredReport) -> None:
        """Note the arms and their order, and which of the pairs are not the usual ones."""
        for label, facts in report.arms.items():
            self._arms[label] = self._agreed_arm(label, facts, report)
        self._orders.append(list(report.arms))
        usual = default_pairs(report.arms)
        self._pairs.update(dict.fromkeys(report.pairs))
        self._unusual_pairs.update(dict.fromkeys(pair for pair in report.pairs if pair not in usual))
        self._same_arms = self._same_arms and report.arms.keys() == self._first.arms.keys()

    def _agreed_arm(self, label: str, facts: Mapping[str, Any], report: StoredReport) -> dict[str, Any]:
        """What an arm of this label declares, as told by a report that knows its version."""
        before = self._arms.get(label)
        if before is None or UNKNOWN in (before["version"], facts["version"]):
            return dict(_fuller(before, facts))
        if facts["version"] != before["version"]:
            raise ReportError(
                f"{report.path}: the arm {label!r} has the version {facts['version']!a}, in the reports"
                f" before it {before['version']!a}: another binary or release; give one of them its own label"
            )
        return dict(_fuller(before, facts))

    def _agreed_snapshot(self, name: str, facts: Mapping[str, Any], report: StoredReport) -> dict[str, Any]:
        """The facts of a tree, of a report that could open it."""
        before = self.snapshots.get(name, {})
        trees: Sequence[str] = [side["tree"] for side in (before, facts) if "tree" in side]
        if len(set(trees)) > 1:
            raise ReportError(
                f"{report.path}: the snapshot {name!a} has another tree than in the reports before it, so"
                " their rankings are not comparable"
            )
        return dict(_fuller(before, facts))


def _fuller(one: Facts | None, other: Facts) -> Facts:
    """What tells more of the same thing; of two that tell as much the same one, whichever comes first."""

    def told(facts: Facts) -> tuple[bool, bool, int, bytes]:
        found = encode(dict(facts))
        return facts.get("version", "") != UNKNOWN, "tree" in facts, len(found), found

    return other if one is None else max(one, other, key=told)
