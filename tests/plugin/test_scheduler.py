"""The scheduler against a model of xdist's worker: every item runs, whoever is killed."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("xdist", reason="the scheduler serves pytest-xdist")

from pytest_retrieval.plugin.plan import Load
from pytest_retrieval.plugin.repository_scheduling import RepositoryScheduling


@dataclass(eq=False)
class Worker:
    """A worker as xdist runs it: an item starts only when the next one, or the end, is known."""

    name: str
    queue: deque[int] = field(default_factory=deque)
    shutting_down: bool = False
    dead: bool = False
    ran: list[int] = field(default_factory=list)

    @property
    def gateway(self) -> Any:
        return type("Gateway", (), {"id": self.name})

    def send_runtest_some(self, indices: Sequence[int]) -> None:
        assert not self.shutting_down, "items sent after the shutdown are never run"
        if self.dead:
            raise OSError("cannot send (already closed?)")
        self.queue.extend(indices)

    def shutdown(self) -> None:
        self.shutting_down = True

    @property
    def can_run(self) -> bool:
        return len(self.queue) >= 2 or (self.shutting_down and bool(self.queue))


class Run:
    """A session: starts workers, lets one after another run an item, kills some on the way."""

    def __init__(self, keys: Sequence[str], workers: int) -> None:
        self.ids = [f"item{number}" for number in range(len(keys))]
        self.scheduler = RepositoryScheduling(workers, [Load(key, 1) for key in keys], lambda line: None)
        self.alive: list[Worker] = []
        self.crashed: list[str] = []
        self.ran: list[int] = []
        self.spread: dict[str, set[str]] = {}
        self.keys = keys
        for number in range(workers):
            self.add(f"gw{number}")
        self.scheduler.schedule()

    def add(self, name: str) -> None:
        worker = Worker(name)
        self.alive.append(worker)
        self.scheduler.add_node(cast(Any, worker))
        self.scheduler.add_node_collection(cast(Any, worker), self.ids)

    def step(self, worker: Worker) -> None:
        index = worker.queue.popleft()
        self.ran.append(index)
        self.spread.setdefault(self.keys[index], set()).add(worker.name)
        self.scheduler.mark_test_complete(cast(Any, worker), index)

    def kill(self, worker: Worker, again: bool = False, late: bool = False) -> None:
        """A worker dies; ``late``: its report of an item before comes in first, and is answered in vain."""
        worker.dead = True
        if late:
            self.step(worker)
        self.alive.remove(worker)
        crashed = self.scheduler.remove_node(cast(Any, worker))
        if crashed is not None and again:  # as a handler of pytest_handlecrashitem may ask
            self.scheduler.mark_test_pending(crashed)
        elif crashed is not None:
            self.crashed.append(crashed)
        self.add(worker.name + "x")
        self.scheduler.schedule()

    def finish(self, random: Random, kills: int = 0) -> None:
        for _ in range(10 * len(self.ids) + 100):
            if self.scheduler.tests_finished:
                for worker in self.alive:
                    worker.shutdown()
            able = [worker for worker in self.alive if worker.can_run]
            if not able:
                assert self.scheduler.tests_finished, "nobody can run, yet the run is not done"
                return
            worker = random.choice(able)
            if kills and random.random() < 0.2:
                kills -= 1
                self.kill(worker, late=random.random() < 0.5)
            else:
                self.step(worker)
        raise AssertionError("the run does not end")


@given(
    st.lists(st.sampled_from("abcdef"), max_size=120),
    st.integers(1, 5),
    st.integers(0, 4),
    st.randoms(use_true_random=False),
)
def test_every_item_runs_once_or_is_the_one_that_a_killed_worker_ran(
    keys: list[str], workers: int, kills: int, random: Random
) -> None:
    run = Run(sorted(keys), workers)
    run.finish(random, kills)
    crashed = [run.ids.index(name) for name in run.crashed]
    assert sorted(run.ran + crashed) == list(range(len(keys)))
    assert len(crashed) <= kills


def test_a_repository_stays_with_one_worker_while_nobody_idles() -> None:
    run = Run(["a"] * 40 + ["b"] * 40, 2)
    turns = 0
    while turns < 30:  # both workers in step: neither idles before its repository is done
        for worker in run.alive:
            run.step(worker)
        turns += 1
    assert run.spread == {"a": {"gw0"}, "b": {"gw1"}}


def test_one_large_repository_is_split_so_that_every_worker_has_work() -> None:
    run = Run(["a"] * 90, 3)
    assert all(worker.can_run for worker in run.alive)


def test_a_worker_that_collected_other_items_gets_none() -> None:
    run = Run(["a"] * 10, 1)
    odd = Worker("odd")
    run.scheduler.add_node(cast(Any, odd))
    run.scheduler.add_node_collection(cast(Any, odd), ["item0"])
    run.scheduler.schedule()
    assert not odd.queue
    assert odd.shutting_down


def test_an_item_that_is_pending_again_runs_again() -> None:
    run = Run(["a", "a", "b"], 1)
    run.kill(run.alive[0], again=True)
    run.finish(Random(0))
    assert sorted(run.ran) == [0, 1, 2]


def test_heavy_repositories_come_first_and_are_split_by_weight() -> None:
    loads = [Load("light", 1)] * 6 + [Load("heavy", 50), Load("heavy", 20), Load("heavy", 20)]
    scheduler = RepositoryScheduling(1, loads, lambda line: None)
    scheduler._put_back(range(len(loads)))
    shelf = max(scheduler._shelves, key=lambda shelf: shelf.weight)
    assert (shelf.key, shelf.weight, list(shelf.indices)) == ("heavy", 90, [6, 7, 8])
    rear = shelf.split()
    assert (shelf.weight, list(shelf.indices)) == (50, [6])
    assert (rear.weight, list(rear.indices)) == (40, [7, 8])


@pytest.mark.parametrize(("weight", "held"), [(1, 3), (40_000_000, 2)])
def test_beside_a_heavy_item_a_worker_holds_no_more_than_it_must(weight: int, held: int) -> None:
    scheduler = RepositoryScheduling(1, [Load("a", weight)] * 9, lambda line: None)
    worker = cast(Any, Worker("gw0"))
    scheduler.add_node(worker)
    scheduler.add_node_collection(worker, [f"item{number}" for number in range(9)])
    scheduler.schedule()
    while len(worker.queue) > 3 or not worker.ran:
        worker.ran.append(worker.queue.popleft())
        scheduler.mark_test_complete(worker, worker.ran[-1])
    assert len(worker.queue) == held
