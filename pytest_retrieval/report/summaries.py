"""What a report says of many samples: means, counts and intervals per arm and group.

Every figure is independent of the order in which samples came: sums are exact (``math.fsum``) and only then
rounded, half away from zero, to six decimals.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import fsum, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_retrieval.arms.observed import HIT, HIT_FIRST, MISS
from pytest_retrieval.model import UNRECORDED
from pytest_retrieval.report.paired import NO_GOLD
from pytest_retrieval.stats.latency import distribution
from pytest_retrieval.stats.rounding import half_away
from pytest_retrieval.stats.wilson import wilson

RATES = ("hit@k", "selective_success")  # the measures that are 0 or 1, hence have a Wilson interval
ANCHORED = "stratum:anchor-bearing"  # beside a sample's own stratum
STRICTLY_ANCHORED = "stratum:anchor-bearing-strict"  # of those, the samples with an anchor that stands alone
FIRST, SECOND = ":first", ":second"  # after a cache label: the times of calls at that place of their pair
BUILD = "BUILD"  # beside the cache labels: the times that arms took to get ready for a snapshot
POSITIVE = "hit@k"  # every positive sample has this measure, no other sample has it

Rows = NDArray[np.intp]  # places of samples in a column

_NOT_ASKED, _ANSWERED, _REFUSED, _FAULT = range(4)  # what an arm did with a sample


class Columns:
    """Measures of samples in growing columns of doubles: 8 bytes a value, NaN where a sample has none."""

    def __init__(self) -> None:
        self._columns: dict[str, array[float]] = {}
        self._length = 0

    def append(self, measures: Mapping[str, float]) -> None:
        """One more sample."""
        for name, value in measures.items():
            column = self._columns.get(name)
            if column is None:
                column = self._columns[name] = array("d", [nan]) * self._length
            column.append(value)
        self._length += 1
        for column in self._columns.values():
            if len(column) < self._length:
                column.append(nan)

    def column(self, name: str) -> NDArray[np.float64]:
        """A measure of every sample, NaN where a sample does not have it."""
        if name not in self._columns:
            return np.full(self._length, nan)
        return np.array(self._columns[name])

    def values(self, name: str, rows: Rows) -> list[float]:
        """The values of a measure at ``rows``, without the samples that do not have it."""
        if name not in self._columns:
            return []
        picked = np.frombuffer(self._columns[name])[rows]
        return list(picked[~np.isnan(picked)].tolist())

    def means(self, rows: Rows) -> dict[str, float]:
        """The mean of every measure that a sample of ``rows`` has, over the samples that have it."""
        values = {name: self.values(name, rows) for name in self._columns}
        return {name: half_away(mean(found)) for name, found in values.items() if found}

    def macro(self, repositories: Sequence[Rows]) -> dict[str, float]:
        """The mean over repositories of each one's mean, per measure over those where a sample has it."""
        collected: dict[str, list[float]] = {}
        for name in self._columns:
            for rows in repositories:
                if found := self.values(name, rows):
                    collected.setdefault(name, []).append(mean(found))
        return {name: half_away(mean(found)) for name, found in collected.items()}


class Grouping:
    """Which samples belong to which group of :func:`groups_of`, and to which repository."""

    def __init__(self) -> None:
        self._members: dict[str, array[int]] = {"all": array("q")}
        self._within_folds: dict[str, array[int]] = {}
        self.repositories: list[str] = []
        self.clusters: list[str | None] = []
        self._repositories: dict[str, int] = {}
        self._repository_of = array("q")

    def append(self, detail: Mapping[str, Any]) -> None:
        """One more sample, by its detail."""
        place = len(self._repository_of)
        for name in groups_of(detail):
            self._members.setdefault(name, array("q")).append(place)
        within = f"task:{detail['task_type']}/fold:{detail['partition']}"
        self._within_folds.setdefault(within, array("q")).append(place)
        self.repositories.append(detail["repo"])
        self.clusters.append(detail.get("cluster"))
        number = self._repositories.setdefault(detail["repo"], len(self._repositories))
        self._repository_of.append(number)

    def groups(self) -> dict[str, Rows]:
        """The samples of each group, by its name."""
        return {name: np.array(places, dtype=np.intp) for name, places in self._members.items()}

    def paired_groups(self) -> dict[str, Rows]:
        """The samples of each group in which arms are compared; tasks within folds are among them."""
        whole = {
            name: rows
            for name, rows in self.groups().items()
            if name == "all" or name.startswith(("task:", "fold:")) or name in NO_GOLD
        }
        return whole | {name: np.array(rows, dtype=np.intp) for name, rows in self._within_folds.items()}

    def by_repository(self, rows: Rows) -> list[Rows]:
        """``rows`` split by repository."""
        numbers = np.array(self._repository_of, dtype=np.intp)[rows]
        return [rows[numbers == number] for number in np.flatnonzero(np.bincount(numbers))]


class ArmColumns:
    """One arm over all samples: its measures, errors, refusals and times."""

    def __init__(self) -> None:
        self.measures = Columns()
        self._states = array("b")
        self._reasons: Counter[str] = Counter()
        self._times: dict[str, array[float]] = {}

    def append(self, answer: Mapping[str, Any] | None, measures: Mapping[str, float]) -> None:
        """One more sample; ``answer`` is None when the arm was not asked about it."""
        self.measures.append(measures)
        self._states.append(_state(answer))
        if answer is not None:
            if "error" in answer:
                self._reasons[answer["error"]] += 1
            for label, time in times_of(answer):
                self._times.setdefault(label, array("d")).extend([time] if time else [])

    def asked(self, rows: Rows) -> Rows:
        """The samples of ``rows`` that the arm was asked about."""
        return self._where(rows, _ANSWERED, _REFUSED, _FAULT)

    def answered(self, rows: Rows) -> Rows:
        """The samples of ``rows`` without an error."""
        return self._where(rows, _ANSWERED)

    def refused(self, rows: Rows) -> int:
        """How many samples of ``rows`` the arm declared that it does not serve."""
        return len(self._where(rows, _REFUSED))

    def error_reasons(self) -> dict[str, int]:
        """How often each error came."""
        return dict(self._reasons)

    def latency(self) -> dict[str, Any]:
        """The distribution of wall times per cache label, and of the times to get ready as ``BUILD``."""
        return {label: distribution(times) for label, times in self._times.items()}

    def _where(self, rows: Rows, *states: int) -> Rows:
        """The samples of ``rows`` whose state is one of ``states``."""
        found: Rows = rows[np.isin(np.array(self._states)[rows], states)]
        return found


def groups_of(detail: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of the groups that a sample belongs to; those of anchors come beside its own stratum."""
    return (
        "all",
        f"task:{detail['task_type']}",
        f"stratum:{detail['stratum']}",
        f"fold:{detail['partition']}",
        *([ANCHORED] if detail.get("anchor_bearing") else ()),
        *([STRICTLY_ANCHORED] if detail.get("anchors_strict") else ()),
        *_search_groups(detail.get("codesearch")),
    )


def _search_groups(searched: Mapping[str, Any] | None) -> Iterator[str]:
    """The groups of a code search: its corpus, and how hard it is."""
    if searched is not None:
        yield f"corpus:{searched['corpus']}"
        yield f"difficulty:{searched['difficulty']}"


def known_groups(tasks: Iterable[str]) -> tuple[str, ...]:
    """Every name that a group can have where there are samples of ``tasks``."""
    strata = ("positive", "natural_no_gold", "counterfactual_no_gold")
    return (
        "all",
        *(f"task:{task}" for task in tasks),
        *(f"stratum:{stratum}" for stratum in strata),
        ANCHORED,
        STRICTLY_ANCHORED,
        *(f"fold:{fold}" for fold in ("A", "B", "unassigned")),
    )


def mean(values: Sequence[float]) -> float:
    """The exact sum over the count, unrounded."""
    return fsum(values) / len(values)


def interval(values: Sequence[float]) -> dict[str, Any]:
    """Wilson's 95 % interval of a rate as ``{successes, n, low, high}``; without data only the counts."""
    successes = int(fsum(values))
    counts = {"successes": successes, "n": len(values)}
    if not values:
        return counts
    low, high = wilson(successes, len(values))
    return {**counts, "low": half_away(low), "high": half_away(high)}


def summarise_group(arm: ArmColumns, rows: Rows, grouping: Grouping, common: Rows) -> dict[str, Any]:
    """One arm over one group.

    ``n`` counts the samples that the arm was asked about, ``positives`` those with hit@k. ``answered`` is the
    same over the samples without an error, ``common`` over the samples that no arm of the run erred on.
    ``macro`` averages over repositories; its ``repositories`` counts those with a sample here.
    """
    asked, answered = arm.asked(rows), arm.answered(rows)
    repositories = grouping.by_repository(asked)
    return {
        **slice_means(arm.measures, asked),
        "errors": len(asked) - len(answered),
        "refused": arm.refused(rows),
        "intervals": {name: interval(arm.measures.values(name, asked)) for name in RATES},
        "answered": slice_means(arm.measures, answered),
        "common": slice_means(arm.measures, np.intersect1d(rows, common)),
        "macro": {"repositories": len(repositories), **arm.measures.macro(repositories)},
    }


def slice_means(measures: Columns, rows: Rows) -> dict[str, Any]:
    """``n``, ``positives`` and the means over the samples of ``rows``."""
    return {"n": len(rows), "positives": len(measures.values(POSITIVE, rows)), **measures.means(rows)}


def common_rows(arms: Iterable[ArmColumns], rows: Rows) -> Rows:
    """The samples of ``rows`` that every arm answered without an error."""
    for arm in arms:
        rows = arm.answered(rows)
    return rows


def times_of(answer: Mapping[str, Any]) -> Iterator[tuple[str, float | None]]:
    """The times of an answer by label; what a query took that failed says nothing of an answer's time.

    ``UNRECORDED`` is shown even where no time is known, for reports from before times. Where the order of
    matched calls alternates, each time comes again under its label and its place in the pair.
    """
    label, wall_ms = answer["cache_state"], answer.get("wall_ms")
    if "error" not in answer and (wall_ms or label == UNRECORDED):
        yield label, wall_ms
    if "cold_wall_ms" in answer:
        yield MISS, answer["cold_wall_ms"]
    if "matched_order" in answer:
        hit_first = answer["matched_order"] == HIT_FIRST
        yield HIT + (FIRST if hit_first else SECOND), wall_ms
        yield MISS + (SECOND if hit_first else FIRST), answer["cold_wall_ms"]
    if "build_ms" in answer:
        yield BUILD, answer["build_ms"]


def _state(answer: Mapping[str, Any] | None) -> int:
    if answer is None:
        return _NOT_ASKED
    if "error" not in answer:
        return _ANSWERED
    return _REFUSED if answer.get("refused") else _FAULT
