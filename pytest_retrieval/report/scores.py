"""What single samples of a report have, in columns: values, faults, ranks; for gates and comparisons.

Only what is asked for is kept, so that 20,000 samples are a few arrays. A trial's task has the mean over its
scored runs; its controls are left out, as its summaries leave them out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum, nan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_retrieval.measures.chosen import stored as computable
from pytest_retrieval.report.stored import Key, key_of
from pytest_retrieval.report.summaries import groups_of
from pytest_retrieval.stats.attempts import pass_at

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

TIMES = ("wall_ms", "build_ms")  # of a query, of preparing for a snapshot
NO_RANK = 0  # nothing that was looked for is in the ranking
NOT_ASKED, ANSWERED, REFUSED, FAULT = range(4)
_FACTS = ("task_type", "repo", "base_commit", "stratum", "gold", "given", "query_chars")
_TRIAL_FACTS = ("kind", "repo", "base_commit", "gold")
_TRIAL_NAMES = {
    "mean_f1": "f1",
    "confidently_wrong_tasks": "confidently_wrong_task",
    "claims_per_reply": "valid_claims",
}


class Sample(NamedTuple):
    """A sample's identity, its repository, its cluster field, and what two reports must agree on."""

    key: Key
    repo: str
    cluster: str | None
    facts: tuple[Any, ...]
    query: str | None = None

    def is_same(self, other: Sample) -> bool:
        """Whether both ask the same; the digest of a query is not known of reports of before it was kept."""
        asked = {self.query, other.query} - {None}
        return self.facts == other.facts and len(asked) < 2


@dataclass(slots=True)
class Column:
    """One arm over all samples: values by measure, NaN where there is none; states; first ranks of gold."""

    values: dict[str, list[float]]
    states: list[int] = field(default_factory=list)
    ranks: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Scores:
    """The samples of a report in one order, and the columns of the arms that were asked for."""

    samples: Sequence[Sample]
    members: Mapping[str, Sequence[int]]
    columns: Mapping[str, Column]
    limit: int

    def rows(self, group: str) -> Rows:
        """The places of a group's samples; of ``all``, ``task:T/fold:F`` and ``repo:R``, too."""
        return np.array(self.members.get(group, ()), dtype=np.intp)

    def values(self, label: str, measure: str) -> Floats:
        """An arm's values of a measure, NaN where a sample has none."""
        return np.array(self.columns[label].values[measure], dtype=np.float64)

    def states(self, label: str) -> Rows:
        """What the arm did with each sample: ``NOT_ASKED``, ``ANSWERED``, ``REFUSED`` or ``FAULT``."""
        return np.array(self.columns[label].states, dtype=np.intp)

    def clusters(self, rows: Rows) -> list[str | None]:
        """The cluster fields of samples."""
        return [self.samples[row].cluster for row in rows.tolist()]

    def repositories(self, rows: Rows) -> list[str]:
        """The repositories of samples."""
        return [self.samples[row].repo for row in rows.tolist()]


def read_scores(
    details: Iterable[Mapping[str, Any]],
    labels: Collection[str],
    measures: Collection[str],
    *,
    limit: int,
    trial: bool = False,
) -> Scores:
    """The scores of ``details`` for the arms ``labels`` and the ``measures``.

    A measure of rankings that a report does not have, such as ``hit@3``, is computed.
    """
    samples: list[Sample] = []
    members: dict[str, list[int]] = {}
    columns = {label: Column({measure: [] for measure in measures}) for label in labels}
    for detail in details:
        if trial and detail.get("control"):
            continue
        for group in _groups(detail, trial=trial):
            members.setdefault(group, []).append(len(samples))
        facts = tuple(str(detail.get(name)) for name in (_TRIAL_FACTS if trial else _FACTS))
        query = detail.get("query_sha256")
        samples.append(Sample(key_of(detail), detail["repo"], detail.get("cluster"), facts, query))
        for label, column in columns.items():
            read = _trial_row if trial else _row
            _append(column, *read(detail, label, measures, limit))
    return Scores(samples, members, columns, limit)


def _append(column: Column, values: Mapping[str, float], state: int, rank: int) -> None:
    for measure, kept in column.values.items():
        kept.append(values.get(measure, nan))
    column.states.append(state)
    column.ranks.append(rank)


def _groups(detail: Mapping[str, Any], *, trial: bool) -> Iterator[str]:
    yield f"repo:{detail['repo']}"
    if trial:
        yield from ("all", f"kind:{detail['kind']}")
        return
    yield from groups_of(detail)
    yield f"task:{detail['task_type']}/fold:{detail['partition']}"


def _row(
    detail: Mapping[str, Any], label: str, measures: Collection[str], limit: int
) -> tuple[Mapping[str, float], int, int]:
    answer = detail["arms"].get(label)
    if answer is None:
        return {}, NOT_ASKED, NO_RANK
    values = detail["metrics"].get(label, {})
    if "error" not in answer and (times := [name for name in TIMES if name in measures and name in answer]):
        values = {**values, **{name: answer[name] for name in times}}
    ranked = [] if "error" in answer else [path for path in answer["ranked"] if path not in detail["given"]]
    missing = [measure for measure in measures if measure not in values and "@" in measure]
    if missing and detail["gold"]:
        values = dict(values)
        for measure in computable(missing, limit):
            values[measure.name] = measure.grade(ranked, detail["gold"], limit)
    rank = next((place for place, path in enumerate(ranked, 1) if path in detail["gold"]), NO_RANK)
    if "error" in answer:
        return values, REFUSED if answer.get("refused") else FAULT, rank
    return values, ANSWERED, rank


def _trial_row(
    detail: Mapping[str, Any], label: str, measures: Collection[str], limit: int
) -> tuple[Mapping[str, float], int, int]:
    runs = detail["arms"].get(label, {}).get("runs", [])
    scored = [run["metrics"] for run in runs if isinstance(run.get("metrics"), Mapping)]
    values = {}
    for measure in measures:
        family, _, attempts = measure.partition("@")
        name = "success" if family == "pass" else _TRIAL_NAMES.get(measure, measure)
        found = [float(metrics[name]) for metrics in scored if isinstance(metrics.get(name), (int, float))]
        if family == "pass" and int(attempts) <= len(found):
            values[measure] = pass_at(int(attempts), len(found), round(fsum(found)))
        elif family != "pass" and found:
            values[measure] = fsum(found) / len(found)
    state = ANSWERED if scored else FAULT if runs else NOT_ASKED
    return values, state, NO_RANK
