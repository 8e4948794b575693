"""What became of each item: how often it was begun, whether it was answered, or why not."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest


class Attempts:
    """The attempts at the items ``nodeids``; an answer beats a crash.

    ``everywhere`` says that each worker runs every item, as under ``--dist each``.
    """

    def __init__(self, nodeids: Collection[str], *, everywhere: bool) -> None:
        self.workers: set[str] = set()
        self._nodeids = nodeids
        self._everywhere = everywhere
        self._answers: defaultdict[str, Counter[str]] = defaultdict(Counter)  # by item, then worker
        self._crashes: Counter[str] = Counter()
        self._unjudged: dict[str, str] = {}

    def note_worker(self, report: pytest.TestReport) -> str:
        """The worker that a report came from; empty without workers."""
        worker: str = getattr(report, "worker_id", "")
        if worker:
            self.workers.add(worker)
        return worker

    def note_answer(self, report: pytest.TestReport) -> None:
        """An item was answered."""
        self._answers[report.nodeid][self.note_worker(report)] += 1

    def note_silence(self, report: pytest.TestReport) -> None:
        """A report of an item came without an answer."""
        if str(report.when) == "???":  # xdist's report of an item whose worker died
            self._crashes[report.nodeid] += 1
        elif report.when == "call" or not report.passed:
            self._unjudged[report.nodeid] = f"{report.outcome} in {report.when}"

    @property
    def answered(self) -> Collection[str]:
        """The items with an answer, in the order of their first ones."""
        return self._answers.keys()

    @property
    def complete(self) -> bool:
        """Whether every item has an answer."""
        return len(self._answers) == len(self._nodeids)

    @property
    def idle(self) -> bool:
        """Whether not one of the items was begun."""
        return not self._answers and not self._crashes

    def total(self) -> int:
        """How many attempts there were at all items."""
        return sum(answers.total() for answers in self._answers.values()) + self._crashes.total()

    def tries(self, nodeid: str) -> int:
        """How often an item was begun; under ``--dist each`` a dead worker says nothing of the others."""
        answered = max(self._answers[nodeid].values()) if nodeid in self._answers else 0
        return answered if self._everywhere else answered + self._crashes[nodeid]

    def run_again(self) -> tuple[int, int]:
        """How many items ran again whose worker had died, and how often one of them ran at the most."""
        tries = [self.tries(nodeid) for nodeid in self._crashes]
        return sum(count > 1 for count in tries), max(tries, default=0)

    def died(self) -> list[str]:
        """The items that took their workers with them and have no answer, sorted."""
        return sorted(self._crashes.keys() - self._answers.keys())

    def lost(self) -> Iterator[tuple[str, str]]:
        """The items without an answer, each with why."""
        for nodeid in self._nodeids:
            if nodeid not in self._answers:
                crashed = nodeid in self._crashes
                yield nodeid, "worker died" if crashed else self._unjudged.get(nodeid, "not run")
