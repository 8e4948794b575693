"""Matched snapshot latency: the same question without the program's store and with it, sample by sample.

One work tree per snapshot serves all of its samples. For each sample the store is moved out of the tree (or
is not there yet), the arm is asked (*cold*), the store comes back (or is made by one index call), and then
all arms are asked as in any run: that arm's answer is the *hit*. Only what the program itself says of its
store counts as a hit or a miss. Both times are those of :class:`~pytest_retrieval.bench.judge.Station`: start
of the program, its work, reading and parsing; copies, index, moves and checks are outside of them. Neither is
a claim about a cold page cache.

Cold first favours the hit, which finds the files of the tree in the page cache. Where the order *alternates*,
every other sample begins with the store: over an even number of samples what a call gains by being the second
of its pair cancels out, and the report tells the times by their place, too.

Whatever is not as it should be voids the run: one wrong pair, and no figure of it can be trusted.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import Any, NoReturn

from pytest_retrieval.arms.observed import COLD_FIRST, HIT, HIT_FIRST, MISS, Observed, is_observed
from pytest_retrieval.arms.registry import ArmSpec
from pytest_retrieval.bench.detail import answer_row
from pytest_retrieval.bench.hiding import hidden
from pytest_retrieval.bench.judge import Judge, Outcome, Witness, dirt_of, question
from pytest_retrieval.errors import ArmError, RetrievalError, SnapshotError, VoidError
from pytest_retrieval.measures.chosen import Chosen
from pytest_retrieval.model import ArmRow, Sample
from pytest_retrieval.snapshots.base import Snapshot

_EQUAL = ("ranked", "abstained", "state", "top_score")


class LatencyJudge(Judge):
    """The grading loop of a run that measures the arm ``label`` without its store and with it.

    Cold comes first; with ``alternate`` at the first sample, the third and so on, however often one is asked.
    ``differing`` counts the pairs whose outputs are not the same bytes; that alone voids nothing.

    :meth:`judge` raises VoidError, one line that begins with the sample's id, for what voids the run.
    """

    def __init__(
        self,
        specs: Sequence[ArmSpec],
        limit: int,
        label: str,
        witness: Witness | None = None,
        *,
        alternate: bool = False,
        explain: bool = False,
        measures: Sequence[Chosen] = (),
    ) -> None:
        super().__init__(specs, limit, witness, explain=explain, measures=measures)
        self.differing = 0
        self._alternates = alternate
        self._places: dict[tuple[str, str, int], int] = {}
        self._measured = next(station for station in self._stations if station.label == label)

    def judge(self, sample: Sample, open_snapshot: Callable[[], Snapshot]) -> Outcome:
        """Ask every arm about ``sample``, and the measured one twice."""
        try:
            return self._pair(sample, open_snapshot())
        except VoidError:
            raise
        except (RetrievalError, OSError) as error:
            raise VoidError(f"{sample.id}: {error}") from error

    def _pair(self, sample: Sample, snapshot: Snapshot) -> Outcome:
        arm = self._measured.prepare(snapshot)
        if not is_observed(arm):
            raise ArmError(f"{self._measured.label} does not tell whether its store was hit")
        require_clean(snapshot)
        primed = is_there(arm.store)
        if hit_first := self._begins_with_store(sample):
            if not primed:
                prime(arm, snapshot)
            outcome, with_store = self._hit(arm, sample, snapshot)
            cold, without = self._cold(arm, sample, snapshot)
        else:
            cold, without = self._cold(arm, sample, snapshot)
            if not primed:
                prime(arm, snapshot)
            outcome, with_store = self._hit(arm, sample, snapshot)
        check_equal(answer_row(cold), outcome.detail["arms"][self._measured.label])
        require_clean(snapshot)
        order = {"matched_order": HIT_FIRST if hit_first else COLD_FIRST} if self._alternates else {}
        return self._matched(outcome, cold, order, same_output=without == with_store)

    def _begins_with_store(self, sample: Sample) -> bool:
        place = self._places.setdefault((sample.source, sample.id, sample.ordinal), len(self._places))
        return self._alternates and place % 2 == 1

    def _cold(self, arm: Observed, sample: Sample, snapshot: Snapshot) -> tuple[ArmRow, str | None]:
        """The row of a call without the store, and the digest of its output."""
        primed = is_there(arm.store)
        with hidden(arm.store, snapshot.worktree().parent) if primed else nullcontext():
            row = self._ask(self._measured, sample, question(sample, self._limit), snapshot)
            check_call(row.error, arm.observation, MISS, "without the store")
        return row, output_digest(arm)

    def _hit(self, arm: Observed, sample: Sample, snapshot: Snapshot) -> tuple[Outcome, str | None]:
        """What all arms say, the measured one with its store, and the digest of its output."""
        outcome = super().judge(sample, lambda: snapshot)
        error = outcome.detail["arms"][self._measured.label].get("error")
        check_call(error, arm.observation, HIT, "with the store")
        return outcome, output_digest(arm)

    def _matched(
        self, outcome: Outcome, cold: ArmRow, order: Mapping[str, str], *, same_output: bool
    ) -> Outcome:
        """The outcome with what is known of both calls in the answer of the measured arm."""
        label, arms = self._measured.label, outcome.detail["arms"]
        self.differing += not same_output
        further = {
            "cache_state": HIT,
            "cold_wall_ms": cold.wall_ms,
            **order,
            **({"build_ms": cold.build_ms} if cold.build_ms is not None else {}),
            **({} if same_output else {"packet_differs": True}),
        }
        matched = {**outcome.detail, "arms": {**arms, label: {**arms[label], **further}}}
        return replace(outcome, detail=matched)

    def _left_dirty(self, row: ArmRow, dirt: str, snapshot: Snapshot) -> NoReturn:
        """Here a dirty copy ends the run."""
        raise SnapshotError(dirt if row.fault is None else f"{row.fault}; {dirt}")


def is_there(store: Path) -> bool:
    """Whether the store exists.

    Raises:
        SnapshotError: that cannot be told.
    """
    try:
        store.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise SnapshotError(f"the store cannot be looked at: {error.strerror}") from error
    return True


def prime(arm: Observed, snapshot: Snapshot) -> None:
    """Make the store by one index call, which must leave the work tree clean.

    Raises:
        ArmError: it failed.
        SnapshotError: the work tree is dirty.
    """
    try:
        arm.index()
    except RetrievalError as error:
        raise ArmError(f"priming the store failed: {error}") from error
    require_clean(snapshot)


def require_clean(snapshot: Snapshot) -> None:
    """Raise SnapshotError unless the work tree is as it was committed."""
    if (dirt := dirt_of(snapshot)) is not None:
        raise SnapshotError(dirt)


def check_call(error: str | None, observation: str, wanted: str, which: str) -> None:
    """Raise ArmError unless a call succeeded and its program observed what was ``wanted``."""
    if error is not None:
        raise ArmError(f"the call {which} failed: {error}")
    if observation != wanted:
        raise ArmError(f"the call {which} is {observation}, not {wanted}")


def check_equal(cold: Mapping[str, Any], hit: Mapping[str, Any]) -> None:
    """Raise ArmError unless both answers say the same."""
    for name in _EQUAL:
        without, with_store = cold.get(name), hit.get(name)
        if without != with_store:
            what, without, with_store = _first_difference(name, without, with_store)
            shown = f"{what} is {without!r:.80} without the store and {with_store!r:.80} with it"
            raise ArmError(f"the two calls answer differently: {shown}")


def _first_difference(name: str, one: Any, other: Any) -> tuple[str, Any, Any]:
    """Of two rankings the first rank at which they part, else the two values."""
    if name != "ranked":
        return name, one, other
    ranks = enumerate(zip_longest(one, other), start=1)
    rank, pair = next((rank, pair) for rank, pair in ranks if pair[0] != pair[1])
    return f"rank {rank}", *pair


def output_digest(arm: Observed) -> str | None:
    """SHA-256 of the output of the arm's latest call, or None where there was none."""
    if arm.last is None or arm.last.completed is None:
        return None
    return hashlib.sha256(arm.last.completed.stdout).hexdigest()
