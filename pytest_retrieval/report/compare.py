"""Two reports side by side: what every arm has lost and won on the samples of both, and which moved most."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_retrieval.errors import UsageError, closest
from pytest_retrieval.gates.baseline import Alignment, Baseline, align, check_comparable
from pytest_retrieval.measures.names import recall_cuts
from pytest_retrieval.report import trialfigures
from pytest_retrieval.report.judged import Judged
from pytest_retrieval.report.paired import NO_GOLD, SELECTIVE
from pytest_retrieval.report.scores import FAULT, NOT_ASKED, Scores, read_scores
from pytest_retrieval.stats.inferiority import difference
from pytest_retrieval.stats.rounding import half_away

Floats = NDArray[np.float64]

_ANY_SHARE = 1e-9  # of common samples: a comparison says how many there are
_MEASURES = ("mrr@k", "hit@k")
_OF_LINES = ("chunk_recall@10", "chunk_mrr@20")
_GROUPS = ("all", "task:", "fold:", "corpus:", "kind:", *NO_GOLD)


@dataclass(frozen=True, slots=True)
class Row:
    """One measure of one arm in one group: both means, and their difference over its unit."""

    group: str
    measure: str
    old: float
    new: float
    difference: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Moved:
    """A sample whose first gold file moved: its rank before and now, 0 for not found, -1 for an error.

    In a trial, where nothing is ranked, they are the values of ``measure``.
    """

    repo: str
    id: str
    before: float
    now: float
    measure: str = "rank"


@dataclass(frozen=True, slots=True)
class ArmChange:
    """What became of one arm; ``moved`` has those first that moved most."""

    old: str
    new: str
    rows: Sequence[Row]
    moved: Sequence[Moved]
    changed: int

    @property
    def same(self) -> bool:
        """Whether not one sample is other than before."""
        return not self.changed and not any(
            row.difference["wins"] + row.difference["losses"] for row in self.rows
        )


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two reports; ``only_old`` and ``only_new`` count samples, the lists name arms without a counterpart."""

    old: Judged
    new: Judged
    common: int
    only_old: int
    only_new: int
    arms: Sequence[ArmChange]
    arms_only_old: Sequence[str]
    arms_only_new: Sequence[str]

    @property
    def pilot(self) -> bool:
        """Whether a side is of a pilot, whose every figure says so."""
        return any(side.head.get("pilot", False) for side in (self.old, self.new))


def compare_reports(
    old: Judged,
    new: Judged,
    *,
    renamed: Mapping[str, str] | None = None,
    measures: Sequence[str] = (),
    moved: int = 10,
) -> Comparison:
    """``new`` minus ``old``, for arms of one label or those that ``renamed`` maps, old to new.

    Only common samples count; without ``measures`` a few telling ones are shown. Raises UsageError, one line,
    for reports of another kind, limit, protocol or trees, without a common sample, or for a label that a
    report does not have.
    """
    pairs = _pairs(old, new, renamed or {})
    wanted = tuple(measures) or _default_measures(old, new)
    limit = new.head["limit"]
    before = read_scores(old.details(), {one for one, _ in pairs}, wanted, limit=limit, trial=old.trial)
    baseline = Baseline(str(old.path), old.sha256, old.head, before, _ANY_SHARE)
    check_comparable(baseline, new.head)
    after = read_scores(new.details(), {two for _, two in pairs}, wanted, limit=limit, trial=new.trial)
    rows = align(baseline, after.samples, chosen_of_more=True)
    sides = _Sides(before, after, rows, wanted, new.trial)
    arms = [_arm(sides, pair, moved) for pair in pairs]
    return Comparison(
        old,
        new,
        len(rows.new),
        rows.only_old,
        rows.only_new,
        arms,
        [label for label in old.head["arms"] if label not in {one for one, _ in pairs}],
        [label for label in new.head["arms"] if label not in {two for _, two in pairs}],
    )


@dataclass(frozen=True, slots=True)
class _Sides:
    """The samples of both reports, the places of the common ones, and the measures that are compared."""

    before: Scores
    after: Scores
    rows: Alignment
    measures: Sequence[str]
    trial: bool


def _pairs(old: Judged, new: Judged, renamed: Mapping[str, str]) -> list[tuple[str, str]]:
    for report, labels in ((old, renamed), (new, renamed.values())):
        for label in labels:
            if label not in (known := list(report.head["arms"])):
                hint = f"{closest(label, known)}; known are {', '.join(known)}"
                raise UsageError(f"--arm: {report.path} has no arm {label!r}{hint}")
    taken = set(renamed.values())
    same = [(label, label) for label in old.head["arms"] if label not in renamed and label not in taken]
    pairs = [*renamed.items(), *(pair for pair in same if pair[1] in new.head["arms"])]
    if not pairs:
        raise UsageError(f"{old.path} and {new.path} have no arm in common; match two with --arm OLD=NEW")
    return pairs


def _default_measures(old: Judged, new: Judged) -> tuple[str, ...]:
    if new.trial:
        return trialfigures.PAIRED
    searched = _OF_LINES if new.head["kind"] == "codesearch" else ()
    asked = [name for name in new.head.get("measures", ()) if name in old.head.get("measures", ())]
    recalls = [f"recall@{cut}" for cut in recall_cuts(min(10, new.head["limit"]))[-1:]]
    return (*recalls, *_MEASURES, *searched, *asked, SELECTIVE)


def _arm(sides: _Sides, pair: tuple[str, str], moved: int) -> ArmChange:
    rows = [row for group in _groups(sides) for row in _rows(sides, pair, group)]
    found = _moved_tasks(sides, pair) if sides.trial else _moved_ranks(sides, pair)
    movers = sorted(found, key=lambda item: (-item[0], item[1].id))
    return ArmChange(*pair, rows, [sample for _, sample in movers[:moved]], len(movers))


def _groups(sides: _Sides) -> Iterator[str]:
    """The groups that are shown; one that is all samples again is left out."""
    for group in sorted(sides.after.members, key=lambda name: (name != "all", name)):
        if group == "all":
            yield group
        elif group.startswith(_GROUPS) and "/" not in group:
            size = len(sides.rows.within(sides.after.rows(group)).new)
            if 0 < size < len(sides.rows.new):
                yield group


def _rows(sides: _Sides, pair: tuple[str, str], group: str) -> Iterator[Row]:
    rows = sides.rows.within(sides.after.rows(group))
    for measure in sides.measures:
        if measure == SELECTIVE and group not in NO_GOLD and len(sides.measures) > 1:
            continue
        old = sides.before.values(pair[0], measure)[rows.old]
        new = sides.after.values(pair[1], measure)[rows.new]
        here = ~(np.isnan(old) | np.isnan(new))
        if not here.any():
            continue
        places = rows.new[here]
        clusters, repositories = sides.after.clusters(places), sides.after.repositories(places)
        name = (group, pair[1], "baseline", measure)
        found = difference(new[here], old[here], clusters, repositories, name)
        yield Row(group, measure, _mean(old[here]), _mean(new[here]), found)


def _moved_ranks(sides: _Sides, pair: tuple[str, str]) -> Iterator[tuple[float, Moved]]:
    """Every sample whose first gold file moved, of those that both runs asked; how far by reciprocal rank."""
    before_asked = sides.before.states(pair[0])[sides.rows.old] != NOT_ASKED
    asked = before_asked & (sides.after.states(pair[1])[sides.rows.new] != NOT_ASKED)
    for old, new in zip(sides.rows.old[asked].tolist(), sides.rows.new[asked].tolist(), strict=True):
        before, now = _rank(sides.before, pair[0], old), _rank(sides.after, pair[1], new)
        if before != now:
            sample = sides.after.samples[new]
            yield abs(_worth(now) - _worth(before)), Moved(sample.repo, sample.key[1], before, now)


def _moved_tasks(sides: _Sides, pair: tuple[str, str]) -> Iterator[tuple[float, Moved]]:
    """Every task that succeeded more or less often than before."""
    if "success" not in sides.measures:
        return
    before = sides.before.values(pair[0], "success")[sides.rows.old].tolist()
    now = sides.after.values(pair[1], "success")[sides.rows.new].tolist()
    for place, one, two in zip(sides.rows.new.tolist(), before, now, strict=True):
        if abs(two - one) > 0:  # false where one of them is not a number
            sample = sides.after.samples[place]
            yield abs(two - one), Moved(sample.repo, sample.key[1], one, two, "success")


def _rank(scores: Scores, label: str, place: int) -> int:
    column = scores.columns[label]
    return -1 if column.states[place] == FAULT else column.ranks[place]


def _worth(rank: int) -> float:
    return 1 / rank if rank > 0 else 0.0


def _mean(values: Floats) -> float:
    return half_away(fsum(values.tolist()) / len(values))
