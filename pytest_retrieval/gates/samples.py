"""The figure that a gate speaks of, worked out from the values of samples: what no summary has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import fsum

import numpy as np
from numpy.typing import NDArray

from pytest_retrieval.gates.figures import Figure, all_errors, interval_end, largest, no_sample
from pytest_retrieval.gates.grammar import Gate
from pytest_retrieval.gates.names import ERRORS, LESS_IS_BETTER
from pytest_retrieval.measures.names import IN_TOKENS
from pytest_retrieval.report import trialfigures
from pytest_retrieval.report.scores import FAULT, NOT_ASKED, REFUSED, Rows, Scores
from pytest_retrieval.report.summaries import RATES
from pytest_retrieval.stats.latency import nearest_rank
from pytest_retrieval.stats.paired import over_units
from pytest_retrieval.stats.rounding import half_away
from pytest_retrieval.stats.wilson import wilson

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Values:
    """One measure over samples, of an arm or as the difference of two; NaN where a sample has none.

    ``worst`` and ``best`` are the same with the ``faults`` samples that could not be measured counted as
    misses and as hits, and ``most`` is the largest value that a sample has, at least 1.
    """

    found: Floats
    worst: Floats
    best: Floats
    most: float
    faults: int
    clusters: Sequence[str | None]
    repositories: Sequence[str]


def arm_values(
    scores: Scores, label: str, measure: str, rows: Rows, *, trial: bool, beside: Floats | None = None
) -> Values:
    """An arm's values at ``rows``. In a trial, a task with a fault has none, elsewhere it has a miss.

    ``beside`` are the values of the same samples in the other report. Where that has one, and an error left
    this one without (measures of ContextBench are absent on an error), the sample counts as one with a fault;
    but not of what answers cost: an error is no answer of 0 tokens.
    """
    found, states = scores.values(label, measure)[rows], scores.states(label)[rows]
    faulty = states == FAULT
    if not trial:
        faulty &= ~np.isnan(found)  # a sample without gold has no hit whatever the arm does
    if beside is not None and measure not in IN_TOKENS:
        faulty |= np.isnan(found) & ~np.isnan(beside) & (states >= REFUSED)
    limit = largest(measure, scores.limit, trial=trial)
    worst, best = (limit, 0) if measure in LESS_IS_BETTER else (0, limit)
    return Values(
        found,
        np.where(faulty, worst, found),
        np.where(faulty, best, found),
        max(1.0, float(np.max(np.nan_to_num(found), initial=0))),
        int(np.count_nonzero(faulty)),
        scores.clusters(rows),
        scores.repositories(rows),
    )


def _counts(scores: Scores, label: str, rows: Rows) -> tuple[int, int]:
    """How many samples the arm was asked about, and how many of them are errors."""
    states = scores.states(label)[rows]
    return int(np.count_nonzero(states > NOT_ASKED)), int(np.count_nonzero(states >= REFUSED))


def only_errors(scores: Scores, label: str, rows: Rows) -> str | None:
    """Why an arm that answered nothing cannot be judged at all, or None if it answered."""
    asked, errors = _counts(scores, label, rows)
    return all_errors(asked) if asked and asked == errors else None


def sample_figure(
    scores: Scores, gate: Gate, rows: Rows, *, trial: bool, beside: Floats | None = None
) -> Figure:
    """The figure of ``gate`` over the samples at ``rows``; ``beside`` as in :func:`arm_values`."""
    asked, errors = _counts(scores, gate.arm, rows)
    if not len(rows) or (gate.measure == ERRORS and not asked):
        return Figure(0, None, no_sample(gate.group, scores.members))
    if gate.measure == ERRORS:
        return Figure(asked, float(errors))
    for label in filter(None, (gate.arm, gate.against)):
        if (why := only_errors(scores, label, rows)) is not None:
            return Figure(len(rows), None, f"{label}: {why}" if gate.against else why)
    values = arm_values(scores, gate.arm, gate.measure, rows, trial=trial, beside=beside)
    name = [gate.arm]
    if gate.against:
        other = arm_values(scores, gate.against, gate.measure, rows, trial=trial)
        values, name = _subtracted(values, other), sorted((gate.arm, gate.against))
    return _figure(gate, values, (gate.group, *name, gate.measure))


def _figure(gate: Gate, values: Values, stream_name: tuple[str, ...]) -> Figure:
    n = int(np.count_nonzero(~np.isnan(values.found)))
    if gate.end == "n":
        return Figure(n, float(n))
    if n == 0:
        what = f"no sample of {gate.group} was compared" if gate.against else "no sample has this figure"
        return Figure(0, None, what)
    found = _statistic(gate, values.found, values, stream_name)
    if not values.faults or found.value is None:
        return found
    others = [_statistic(gate, column, values, stream_name) for column in (values.worst, values.best)]
    extremes = [value for other in others for value in (other.value, *other.extremes) if value is not None]
    return replace(found, extremes=(*found.extremes, *extremes), faults=values.faults)


def _subtracted(one: Values, two: Values) -> Values:
    return Values(
        one.found - two.found,
        one.worst - two.best,
        one.best - two.worst,
        max(one.most, two.most),
        one.faults + two.faults,
        one.clusters,
        one.repositories,
    )


def _statistic(gate: Gate, column: Floats, values: Values, stream_name: tuple[str, ...]) -> Figure:
    here = np.flatnonzero(~np.isnan(column)).tolist()
    kept = column[here]
    n = len(kept)
    if not gate.end:
        return Figure(n, half_away(fsum(kept.tolist()) / n))
    if gate.end in ("p50", "p95"):
        return Figure(n, half_away(nearest_rank(sorted(kept.tolist()), int(gate.end[1:]))))
    if (
        gate.measure in (*RATES, *trialfigures.RATES)
        and not gate.against
        and set(kept.tolist()) <= {0.0, 1.0}
    ):
        return Figure(n, half_away(wilson(int(fsum(kept)), n)[("low", "high").index(gate.end)]))
    clusters = [values.clusters[place] for place in here]
    repositories = [values.repositories[place] for place in here]
    cluster = over_units(kept, np.zeros(n), clusters, repositories, stream_name)["cluster"]
    return interval_end(cluster, gate.end, half_away(fsum(kept.tolist()) / n), n, values.most)
