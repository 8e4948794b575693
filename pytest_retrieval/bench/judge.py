"""The one grading loop: a sample meets its snapshot and every arm, and each answer is graded alike.

Grep, BM25, a subprocess, a Python function: all are an ``Arm`` here, and nothing asks which one it is.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from copy import deepcopy
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any

from pytest_retrieval.arms.answers import settle
from pytest_retrieval.arms.base import Arm, Ranking
from pytest_retrieval.arms.registry import ArmSpec
from pytest_retrieval.bench.bounds import within
from pytest_retrieval.bench.costing import cost_of
from pytest_retrieval.bench.detail import describe
from pytest_retrieval.bench.explaining import completed, explain
from pytest_retrieval.bench.places import raised_at
from pytest_retrieval.bench.searching import diagnosed, search
from pytest_retrieval.bench.slots import slot
from pytest_retrieval.costs import Cost
from pytest_retrieval.errors import ArmError, RetrievalError, SnapshotError
from pytest_retrieval.measures.chosen import Chosen
from pytest_retrieval.measures.spans import DEPTH
from pytest_retrieval.model import ArmRow, Capabilities, Query, Sample
from pytest_retrieval.snapshots.base import Snapshot

_LOGGER = logging.getLogger(__name__)


Witness = Callable[[Sample, str, Arm | None, ArmRow], None]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one sample.

    ``detail`` is the sample's row of the report, ``snapshot`` the facts of its tree (None when it could
    not be opened), ``faults`` one line per arm that could not be measured. ``places`` says, in the order of
    ``faults``, where an arm raised its fault, or is empty; it is for the terminal alone.
    """

    detail: Mapping[str, Any]
    snapshot: Mapping[str, Any] | None
    faults: tuple[str, ...]
    places: tuple[str | None, ...] = ()

    def failures(self) -> list[str]:
        """The faults, each with its place where that is known."""
        pairs = zip_longest(self.faults, self.places)
        return [str(fault) if place is None else f"{fault} ({place})" for fault, place in pairs]


class Judge:
    """Runs a fixed list of arms over one sample after another; close it to close the arms.

    ``witness`` is told of every answer once its time is taken: the sample, the arm's label, the arm (None if
    it could not be built) and its row. What it raises ends the run. ``explain`` adds to every row of the
    report what explains a missed gold file. ``measures`` are asked for beside those that every sample has.
    """

    def __init__(
        self,
        specs: Sequence[ArmSpec],
        limit: int,
        witness: Witness | None = None,
        *,
        explain: bool = False,
        measures: Sequence[Chosen] = (),
    ) -> None:
        self._stations = tuple(Station(spec) for spec in specs)
        self._limit = limit
        self._witness = witness
        self._explains = explain
        self._measures = measures

    @property
    def labels(self) -> tuple[str, ...]:
        """The arms' labels in the order in which they run."""
        return tuple(station.label for station in self._stations)

    def judge(self, sample: Sample, open_snapshot: Callable[[], Snapshot]) -> Outcome:
        """Ask every arm about ``sample`` and grade the answers; a fault stays on its row."""
        try:
            snapshot = open_snapshot()
        except (RetrievalError, OSError) as error:
            return self.lost(sample, f"snapshot: {error}", status="fault")
        query = question(sample, self._limit)
        rows = {station.label: self._ask(station, sample, query, snapshot) for station in self._stations}
        try:
            detail = self._described(sample, rows, snapshot)
        except SnapshotError as error:
            return self.lost(sample, f"snapshot: {error}", status="fault")
        faults = {
            label: answer["error"]
            for label, answer in detail["arms"].items()
            if "error" in answer and not answer.get("refused")
        }
        lines = tuple(f"{label}: {fault}" for label, fault in faults.items())
        return Outcome(detail, snapshot.facts(), lines, tuple(rows[label].place for label in faults))

    def lost(self, sample: Sample, why: str, *, status: str) -> Outcome:
        """The outcome of a sample that no arm could be asked about, for the reason ``why``."""
        rows = {station.label: ArmRow(fault=why) for station in self._stations}
        detail = self._described(sample, rows, None, status)
        return Outcome(detail, None, (why,))

    def _described(
        self,
        sample: Sample,
        rows: Mapping[str, ArmRow],
        snapshot: Snapshot | None,
        status: str | None = None,
    ) -> Mapping[str, Any]:
        detail = describe(sample, rows, self._limit, snapshot, status=status, chosen=self._measures)
        return explain(detail, sample, rows, snapshot) if self._explains else detail

    def close(self) -> None:
        """Close every arm that was built, also when an interrupt ends the closing of one."""
        with ExitStack() as closing:
            for station in reversed(self._stations):
                closing.callback(station.close)

    def _ask(self, station: Station, sample: Sample, query: Query, snapshot: Snapshot) -> ArmRow:
        """The arm's row; a work tree that it left dirty is its fault, and no other arm finds it so."""
        row = self._answer(station, sample, query, snapshot)
        if self._witness is not None:
            self._witness(sample, station.label, station.arm, row)
        if self._explains:
            row = completed(row, station.arm, query, sample)
        dirt = dirt_of(snapshot) if station.uses_worktree else None
        return row if dirt is None else self._left_dirty(row, dirt, snapshot)

    def _answer(self, station: Station, sample: Sample, query: Query, snapshot: Snapshot) -> ArmRow:
        """The arm's row; lines are asked for where they are judged."""
        if sample.searched is None:
            return station.ask(query, snapshot)
        row = search(
            lambda asked: station.ask(asked, snapshot), query, lambda: station.capabilities, snapshot
        )
        return diagnosed(row, station.arm, replace(query, spans=True), sample)

    def _left_dirty(self, row: ArmRow, dirt: str, snapshot: Snapshot) -> ArmRow:
        """The row of an arm that left ``dirt`` in the work tree, which is made anew."""
        faults = [] if row.fault is None else [row.fault]
        if dirt not in faults:  # an arm may have noticed itself
            faults.append(dirt)
        try:
            snapshot.rebuild_worktree()
        except SnapshotError as error:
            faults.append(str(error))
        for station in self._stations:
            if station.uses_worktree:
                station.forget()  # what it had prepared in the tree is gone
        return ArmRow(
            fault="; ".join(faults),
            place=row.place,
            wall_ms=row.wall_ms,
            build_ms=row.build_ms,
            cache_state=row.cache_state,
        )


class Station:
    """One arm at work: built on first use, prepared once per snapshot, asked under its own limits."""

    def __init__(self, spec: ArmSpec) -> None:
        self.label = spec.label
        self.arm: Arm | None = None
        self._spec = spec
        self._ready_for: Snapshot | None = None
        self._build_ms: float | None = None

    @property
    def uses_worktree(self) -> bool:
        """Whether the arm was built and reads files from the work tree."""
        return getattr(getattr(self.arm, "capabilities", None), "worktree", False) is True

    @property
    def capabilities(self) -> Capabilities:
        """What the arm declares; nothing as long as it was not built."""
        return Capabilities() if self.arm is None else self.arm.capabilities

    def forget(self) -> None:
        """Let the arm be prepared again before its next query."""
        self._ready_for = None

    def ask(self, query: Query, snapshot: Snapshot) -> ArmRow:
        """The arm's row for ``query``; whatever the arm raises becomes the row's fault."""
        started = wall_ms = None
        try:
            arm = self._built()
            with slot(self.label, arm.capabilities.max_parallel):
                self.prepare(snapshot)
                own = replace(query, object=deepcopy(query.object))  # what it does to it reaches no other arm
                started = time.perf_counter()
                row = within(self._bound(arm), lambda: self._settled(arm.rank(own), query, snapshot))
                wall_ms = _milliseconds(started)
                if isinstance(arm, Arm):  # an object with an arm's other methods need not have this one
                    arm.inspect()
                cost = cost_of(arm) if query.spans else None
                return replace(row, wall_ms=wall_ms, build_ms=self._taken_build_ms(), cost=cost)
        except (KeyboardInterrupt, GeneratorExit):
            raise
        # An arm is anybody's code: whatever it raises, be it pytest.skip(), is a fault of its row.
        except BaseException as error:  # noqa: BLE001
            if started is not None and wall_ms is None:
                wall_ms = _milliseconds(started)
            return ArmRow(
                fault=_reason(error),
                place=None if isinstance(error, RetrievalError) else raised_at(error),
                wall_ms=wall_ms,
                build_ms=self._taken_build_ms(),
                cache_state=self._cache_state(),
                cost=self._index_cost(snapshot) if query.spans else None,
            )

    def prepare(self, snapshot: Snapshot) -> Arm:
        """The arm, built and ready for ``snapshot``; raises what the arm raises.

        What that took is told in the next row.
        """
        arm = self._built()
        if self._ready_for is not snapshot:
            self._ready_for = None
            started = time.perf_counter()
            arm.prepare(snapshot)
            self._ready_for = snapshot
            self._build_ms = _milliseconds(started)
        return arm

    def close(self) -> None:
        """Close the arm if it was built; one that fails at that harms no result, and only says so."""
        arm, self.arm = self.arm, None
        if arm is None:
            return
        try:
            arm.close()
        except (Exception, SystemExit) as error:  # noqa: BLE001
            _LOGGER.warning("arm %s: closing it failed: %s", self.label, _reason(error))

    def _built(self) -> Arm:
        if self.arm is None:
            self.arm = self._spec.create()
        return self.arm

    def _bound(self, arm: Arm) -> float | None:
        """The seconds that a query may take, unless the arm sees to that itself."""
        return None if getattr(arm, "keeps_timeout", False) else arm.capabilities.timeout

    def _settled(self, ranking: Ranking, query: Query, snapshot: Snapshot) -> ArmRow:
        return settle(ranking, query, snapshot, unlabelled=self._cache_state())

    def _cache_state(self) -> str:
        """What the arm says of its cache where its answer does not; an arm without one says nothing."""
        return str(getattr(self.arm, "cache_state", None) or Arm.cache_state)

    def _index_cost(self, snapshot: Snapshot) -> Cost | None:
        """What the index cost of an arm that got ready for ``snapshot``, and then did not answer."""
        ready = isinstance(self.arm, Arm) and self._ready_for is snapshot
        return Arm.costs(self.arm) if ready and self.arm is not None else None

    def _taken_build_ms(self) -> float | None:
        taken, self._build_ms = self._build_ms, None
        return taken


def dirt_of(snapshot: Snapshot) -> str | None:
    """One line that says what differs from the commit in the work tree, or None while it is clean."""
    changes = snapshot.worktree_changes()
    if not changes:
        return None
    return f"work tree left dirty: {'; '.join(map(str.strip, changes))[:200]}"


def question(sample: Sample, limit: int) -> Query:
    """What an arm may see of ``sample``; code search is judged to its own depth at least."""
    return Query(
        text=sample.query_text,
        object=sample.query,
        changed_file=sample.changed_file,
        given=sample.given,
        limit=limit if sample.searched is None else max(limit, DEPTH),
    )


def _milliseconds(started: float) -> float:
    return round((time.perf_counter() - started) * 1_000, 6)


def _reason(error: BaseException) -> str:
    """One line: a refusal of ours as it is, anything else with its type, for its text is often cryptic."""
    text = " ".join(str(error).split())
    if isinstance(error, ArmError):
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
