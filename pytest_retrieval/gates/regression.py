"""No regression, and nothing lost: a run against its baseline, sample by sample."""

from __future__ import annotations

from dataclasses import replace
from math import fsum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_retrieval.gates.baseline import Alignment
from pytest_retrieval.gates.evidence import Evidence
from pytest_retrieval.gates.grammar import ALL, Lost, NoRegression
from pytest_retrieval.gates.names import LESS_IS_BETTER
from pytest_retrieval.gates.samples import Values, arm_values, only_errors
from pytest_retrieval.report.scores import FAULT, NOT_ASKED, Scores
from pytest_retrieval.stats.clusters import group_places
from pytest_retrieval.stats.inferiority import decide, difference
from pytest_retrieval.stats.rounding import half_away

Floats = NDArray[np.float64]


def judge_regression(evidence: Evidence, gate: NoRegression) -> dict[str, Any]:
    """The status of ``gate`` and the fields of its record: the difference, and the decision's reason.

    It is undecided where the samples with faults would change the decision, all missed or all hit.
    """
    assert evidence.baseline is not None
    rows = evidence.common(gate)
    new, old = _sides(evidence, gate, rows)
    here = ~(np.isnan(new.found) | np.isnan(old.found))
    n = int(np.count_nonzero(here))
    if n == 0:
        reason = _without_figure(gate, new.found, old.found)
        return {"status": "undecidable", "n": 0, "reason": reason, "baseline": evidence.baseline_record(gate)}
    if (nothing := _only_errors(evidence, gate, rows)) is not None:
        return {
            "status": "undecidable",
            "n": n,
            "reason": nothing,
            "baseline": evidence.baseline_record(gate),
        }
    found = _compared(gate, new, new.found, old.found)
    status, why = decide(_turned(gate, found), gate.margin)
    faults = new.faults + old.faults
    if faults:
        extremes = ((new.worst, old.best), (new.best, old.worst))
        others = {decide(_turned(gate, _compared(gate, new, *pair)), gate.margin)[0] for pair in extremes}
        if others - {status}:
            status, why = "undecided", errors_decide(faults)
    return {
        "status": status,
        "n": n,
        "unit": found["unit"],
        "units": found["units"],
        "repositories": len({new.repositories[place] for place in np.flatnonzero(here).tolist()}),
        "got": _mean(new.found[here]),
        "difference": found,
        "baseline": evidence.baseline_record(gate, _mean(old.found[here])),
        "faults": faults or None,
        "reason": why,
        "worst": None if status == "passed" else _worst(gate, new, old),
    }


def errors_decide(faults: int) -> str:
    """Why a gate is undecided that would turn if the samples with an error had been hit."""
    return (
        f"{faults} sample with an error decides" if faults == 1 else f"{faults} samples with an error decide"
    )


def _worst(gate: NoRegression, new: Values, old: Values) -> dict[str, Any] | None:
    """The repository in which most of what repositories lost is, if there is one and others beside it.

    Over few repositories a loss in one of them is never beyond chance, however sure it is in that one.
    """
    losses = np.nan_to_num(old.found - new.found) * (-1 if _less_is_better(gate) else 1)  # gains are below 0
    places = group_places(new.repositories)
    by_repository = [max(0.0, fsum(losses[rows].tolist())) for rows in places]
    most = max(by_repository)
    if len(places) < 2 or np.count_nonzero(losses > 0) < 2 or 2 * most <= fsum(by_repository):
        return None
    rows = places[by_repository.index(most)]
    rows = rows[~np.isnan(old.found[rows] - new.found[rows])]
    repository = new.repositories[int(rows[0])]
    alone = {"gate": str(replace(gate, group=f"repo:{repository}"))} if gate.group == ALL else {}
    ends = {"baseline": _mean(old.found[rows]), "got": _mean(new.found[rows])}
    return {"repo": repository, "n": len(rows), **ends, **alone}


def judge_lost(evidence: Evidence, gate: Lost) -> dict[str, Any]:
    """The status of ``gate`` and the fields of its record: every query that the baseline found alone."""
    assert evidence.baseline is not None
    rows, scores, before = evidence.common(gate), evidence.scores, evidence.baseline.scores
    new = scores.values(gate.arm, gate.measure)[rows.new]
    old = before.values(gate.arm, gate.measure)[rows.old]
    states = scores.states(gate.arm)[rows.new]
    asked, faulty = states != NOT_ASKED, states == FAULT  # of joined parts, not every arm is asked everything
    faulty_before = asked & (before.states(gate.arm)[rows.old] == FAULT)
    lost = asked & (old >= 1) & ~(new >= 1)
    fields = {
        "n": int(np.count_nonzero(asked & ~np.isnan(old))),
        "unit": "sample",
        "got": float(np.count_nonzero(lost)),
        "baseline": evidence.baseline_record(gate),
        "lost": [_lost(evidence, gate, *pair) for pair in zip(rows.new[lost], rows.old[lost], strict=True)],
    }
    if not fields["n"]:
        return fields | {"status": "undecidable", "reason": f"no sample of {gate.group} was compared"}
    if (reason := _only_errors(evidence, gate, rows)) is not None:
        return fields | {"status": "undecidable", "reason": reason}
    counts = [
        int(np.count_nonzero(column))
        for column in (lost, lost & ~faulty, lost | (faulty_before & ~(new >= 1)))
    ]
    outcomes = [gate.holds(count) for count in counts]
    if len(set(outcomes)) > 1:
        faults = int(np.count_nonzero(faulty | faulty_before))
        return fields | {"status": "undecided", "reason": errors_decide(faults), "faults": faults}
    if not outcomes[0] and not _deterministic(evidence, gate.arm):
        why = f"{gate.arm} does not declare that it answers the same twice, so single flips may be noise"
        return fields | {"status": "undecided", "reason": why}
    return fields | {"status": "passed" if outcomes[0] else "failed"}


def _sides(evidence: Evidence, gate: NoRegression, rows: Alignment) -> tuple[Values, Values]:
    """The values of the common samples now and in the baseline."""
    assert evidence.baseline is not None
    columns = ((evidence.scores, rows.new), (evidence.baseline.scores, rows.old))
    plain = [scores.values(gate.arm, gate.measure)[places] for scores, places in columns]
    new, old = (
        arm_values(scores, gate.arm, gate.measure, places, trial=evidence.trial, beside=beside)
        for (scores, places), beside in zip(columns, reversed(plain), strict=True)
    )
    return new, old


def _without_figure(gate: NoRegression, new: Floats, old: Floats) -> str:
    """Why there is nothing to compare at the samples that both reports have."""
    for side, found in (("report", new), ("baseline", old)):
        if len(found) and np.isnan(found).all():
            return f"no sample of the {side} has {gate.measure} of {gate.arm}"
    return f"no sample of {gate.group} was compared"


def _only_errors(evidence: Evidence, gate: NoRegression | Lost, rows: Alignment) -> str | None:
    """Why an arm that answered nothing, now or in the baseline, cannot be compared; or None."""
    assert evidence.baseline is not None
    before = only_errors(evidence.baseline.scores, gate.arm, rows.old)
    return only_errors(evidence.scores, gate.arm, rows.new) or (before and f"baseline: {before}")


def _compared(gate: NoRegression, values: Values, new: Floats, old: Floats) -> dict[str, Any]:
    here = np.flatnonzero(~(np.isnan(new) | np.isnan(old))).tolist()
    clusters = [values.clusters[place] for place in here]
    repositories = [values.repositories[place] for place in here]
    name = (gate.group, gate.arm, "baseline", gate.measure)
    return difference(new[here], old[here], clusters, repositories, name)


def _turned(gate: NoRegression, found: dict[str, Any]) -> dict[str, Any]:
    """The difference as a gain: of some measures less is better."""
    if not _less_is_better(gate):
        return found
    turned = {**found, "mean": -found["mean"], "wins": found["losses"], "losses": found["wins"]}
    return {**turned, "low": -found["high"], "high": -found["low"]} if "low" in found else turned


def _less_is_better(gate: NoRegression) -> bool:
    return gate.better == "-" or gate.measure in LESS_IS_BETTER


def _lost(evidence: Evidence, gate: Lost, new: int, old: int) -> dict[str, Any]:
    """A lost query: who it is, and the first rank of its gold in the baseline and now."""
    assert evidence.baseline is not None
    sample = evidence.scores.samples[new]
    source, name, ordinal = sample.key
    ranks = {
        "before": _rank(evidence.baseline.scores, gate.arm, old),
        "now": _rank(evidence.scores, gate.arm, new),
    }
    error = {"error": True} if evidence.scores.columns[gate.arm].states[new] == FAULT else {}
    known = {when: rank for when, rank in ranks.items() if rank}
    return {"source": source, "id": name, "ordinal": ordinal, "repo": sample.repo, **known, **error}


def _rank(scores: Scores, label: str, place: int) -> int:
    return scores.columns[label].ranks[place]


def _deterministic(evidence: Evidence, label: str) -> bool:
    capabilities = evidence.head["arms"][label].get("capabilities", {})
    return bool(capabilities.get("deterministic", not evidence.trial))


def _mean(values: Floats) -> float:
    return half_away(fsum(values.tolist()) / len(values))
