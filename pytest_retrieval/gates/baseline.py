"""The report that a run is compared with, and whether the two are comparable at all."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pytest_retrieval.errors import GateError, UsageError, closest
from pytest_retrieval.gates.grammar import Condition
from pytest_retrieval.gates.names import check
from pytest_retrieval.gates.rules import Rule
from pytest_retrieval.report.judged import Judged
from pytest_retrieval.report.scores import Rows, Sample, Scores, read_scores
from pytest_retrieval.report.stored import Key

_SHOWN = 12  # digits of a digest


@dataclass(frozen=True, slots=True)
class Baseline:
    """What gates need of a report: who it is, what it is over, and the scores of its samples.

    ``overlap`` is the share of samples that must be common; None for all of the run's.
    """

    shown: str
    sha256: str
    head: Mapping[str, Any]
    scores: Scores
    overlap: float | None = None

    @property
    def trial(self) -> bool:
        """Whether its samples are tasks that agents did."""
        return bool(self.head["kind"] == "trial")

    def record(self, common: int) -> dict[str, Any]:
        """As a verdict names it."""
        return {
            "path": self.shown,
            "sha256": self.sha256,
            "samples": len(self.scores.samples),
            "common": common,
        }


@dataclass(frozen=True, slots=True)
class Alignment:
    """The places of the common samples in a run and in its baseline, pair by pair, and how many were left."""

    new: Rows
    old: Rows
    only_new: int
    only_old: int

    def within(self, rows: Rows) -> Alignment:
        """The part whose samples of the run are among ``rows``."""
        kept = np.isin(self.new, rows)
        return Alignment(self.new[kept], self.old[kept], self.only_new, self.only_old)


def load_baseline(
    judged: Judged, shown: str, rules: Iterable[Rule], *, overlap: float | None = None
) -> Baseline:
    """The baseline of the report ``judged`` for the ``rules`` that need one."""
    needing = [rule.gate for rule in rules if rule.gate.needs_baseline]
    labels = {label for gate in needing for label in (gate.arm, gate.against)} & judged.head["arms"].keys()
    measures = {measure for gate in needing for measure in _names(gate, judged.head)}
    scores = read_scores(judged.details(), labels, measures, limit=judged.head["limit"], trial=judged.trial)
    return Baseline(shown, judged.sha256, judged.head, scores, overlap)


def _names(gate: Condition, head: Mapping[str, Any]) -> tuple[str, ...]:
    """What the gate's measure may be called in the report; a user's own is not known without the run."""
    own, trial = tuple(head.get("measures", ())), head["kind"] == "trial"
    arms = [gate.arm, gate.against]
    try:
        return (check(gate, arms=arms, groups=None, limit=head["limit"], own=own, trial=trial).measure,)
    except GateError:  # of a measure that nobody has, the report that is judged says so
        name = gate.measure.removesuffix("@k")
        return () if "@" in name else (name, f"{name}@k")


def check_comparable(baseline: Baseline, head: Mapping[str, Any]) -> None:
    """Refuse a baseline of another kind, limit, protocol, trees or samples files than ``head`` has.

    Of ``head`` what is not known yet may be absent. Raises UsageError, one line that names the difference.
    """
    for name in ("kind", "limit", "protocol", "access", "skeleton_sha256"):
        ours, theirs = head.get(name), baseline.head.get(name)
        if ours is not None and theirs is not None and ours != theirs:
            what = "samples are of the kind" if name == "kind" else f"{name} is"
            raise UsageError(f"baseline {baseline.shown}: its {what} {theirs}, here {ours}; not comparable")
    if baseline.overlap is None and (sources := head.get("sources")) is not None:
        known = {source["sha256"] for source in baseline.head["sources"]}
        for source in sources:
            if source["sha256"] not in known:
                file = source.get("path", "this samples file")
                raise UsageError(
                    f"baseline {baseline.shown}: it is not over {file} as that is now;"
                    " --retrieval-baseline-overlap 0.9 compares the samples that both have"
                )
    snapshots = head.get("snapshots", {})
    for name, facts in sorted(baseline.head.get("snapshots", {}).items()):
        ours, theirs = snapshots.get(name, {}).get("tree"), facts.get("tree")
        if ours and theirs and ours != theirs:
            raise UsageError(
                f"baseline {baseline.shown}: the snapshot {name} had the tree {theirs[:_SHOWN]}, here"
                f" {ours[:_SHOWN]}; not comparable"
            )


def check_arms(baseline: Baseline, rules: Iterable[Rule]) -> None:
    """Refuse a baseline without an arm that a gate compares; raises UsageError with the closest label."""
    known = list(baseline.head["arms"])
    for rule in rules:
        for label in filter(None, (rule.arm, rule.against)) if rule.gate.needs_baseline else ():
            if label not in known:
                raise UsageError(
                    f"baseline {baseline.shown}: it has no arm {label!r}{closest(label, known)}; known are"
                    f" {', '.join(known)}"
                )


def align(
    baseline: Baseline, samples: Sequence[Sample], *, chosen_of_more: bool, facts: bool = True
) -> Alignment:
    """The samples that the run and the baseline have in common.

    All of the run's must be in the baseline; with an overlap, that share of the larger of the two, and files
    may then be others as long as id and facts of a sample are the same. ``chosen_of_more`` says that the run
    chose among its samples, so that the baseline may hold more. ``facts`` says that those are known. Raises
    UsageError, one line that counts the difference.
    """
    theirs = baseline.scores.samples
    exact = {sample.key: place for place, sample in enumerate(theirs)}
    loose = {sample.key[1:]: place for place, sample in enumerate(theirs)} if baseline.overlap else {}
    new, old = [], []
    for place, sample in enumerate(samples):
        found = exact.get(sample.key, loose.get(sample.key[1:]))
        if found is not None and (not facts or theirs[found].is_same(sample)):
            new.append(place)
            old.append(found)
    held = len(baseline.scores.samples)
    alignment = Alignment(
        np.array(new, np.intp), np.array(old, np.intp), len(samples) - len(new), held - len(old)
    )
    _check_share(baseline, samples, alignment, chosen_of_more=chosen_of_more)
    return alignment


def _check_share(
    baseline: Baseline, samples: Sequence[Sample], alignment: Alignment, *, chosen_of_more: bool
) -> None:
    common = len(alignment.new)
    if baseline.overlap is None:
        if alignment.only_new:
            here = set(alignment.new.tolist())
            first = next(sample.key[1] for place, sample in enumerate(samples) if place not in here)
            raise UsageError(
                f"baseline {baseline.shown}: it lacks {alignment.only_new} of {len(samples)} samples as they"
                f" are here (first {first!a:.60});"
                " --retrieval-baseline-overlap 0.9 compares those that both have"
            )
        return
    larger = len(samples) if chosen_of_more else max(len(samples), len(baseline.scores.samples))
    if not common:
        raise UsageError(f"baseline {baseline.shown}: no sample is in both, with the same gold and commit")
    if common / larger < baseline.overlap:
        raise UsageError(
            f"baseline {baseline.shown}: {common} of {larger} samples are common, less than the share of"
            f" {baseline.overlap:g} that --retrieval-baseline-overlap asks for"
        )


def plan_samples(keys: Collection[Key]) -> list[Sample]:
    """Samples of which no more is known than their keys."""
    return [Sample(key, "", None, ()) for key in keys]
