"""Our scheduler for ``--dist load``: a repository stays with one worker for as long as nobody idles.

Neighbouring snapshots of a repository share nearly all of their files, so a worker that stays in one
repository counts each text once. That is a speed hint only: any worker can run any item. The class is
written from xdist's ``Scheduling`` protocol alone, because its scope schedulers hang or run an item twice
after a killed worker.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xdist.workermanage import WorkerController

    from pytest_retrieval.plugin.plan import Load

# A worker starts an item only when it knows the next one, so it must hold two. One more hides the way from
# the controller to the worker and back, and is needless beside a heavy one: what is held is out of reach for
# the others, be they idle in the end.
_LEAST = 2
_FLOOR = 3
_HEAVY = 5_000_000  # bytes of a chunk file: a tenth of a second
_CEILING = 32


class Shelf:
    """The items of one repository that were not handed out yet, and the worker that takes from it."""

    def __init__(self, key: str, indices: Sequence[int], loads: Sequence[Load]) -> None:
        self.key = key
        self.indices = deque(indices)
        self.weight = sum(loads[index].weight for index in indices)
        self.owner: WorkerController | None = None
        self._loads = loads

    def take(self) -> int:
        """The next item."""
        index = self.indices.popleft()
        self.weight -= self._loads[index].weight
        return index

    def split(self) -> Shelf:
        """A new shelf with the rear half by weight, for a worker that would idle otherwise."""
        rear: deque[int] = deque()
        half, taken = self.weight / 2, 0
        while taken < half and len(self.indices) > 1:
            rear.appendleft(self.indices.pop())
            taken += self._loads[rear[0]].weight
        self.weight -= taken
        return Shelf(self.key, rear, self._loads)


class RepositoryScheduling:
    """Hands out items repository by repository; see the module's text. Implements xdist's protocol."""

    def __init__(self, numnodes: int, loads: Sequence[Load], log: Callable[[str], None]) -> None:
        self.numnodes = numnodes
        self._log = log
        self._collection: Sequence[str] = ()
        self._loads = loads
        self._shelves: list[Shelf] = []
        self._waiting = 0
        self._sent: dict[WorkerController, deque[int]] = {}
        self._ready: set[WorkerController] = set()
        self._scheduled = False

    @property
    def nodes(self) -> list[WorkerController]:
        """The workers that are alive."""
        return list(self._sent)

    @property
    def collection_is_completed(self) -> bool:
        """Whether as many workers as were asked for have collected."""
        return self._scheduled or len(self._ready) >= self.numnodes

    @property
    def tests_finished(self) -> bool:
        """Whether nothing waits and every worker has at most the item that a shutdown releases."""
        return (
            self.collection_is_completed
            and not self._waiting
            and all(len(s) < 2 for s in self._sent.values())
        )

    @property
    def has_pending(self) -> bool:
        """Whether any item waits or runs."""
        return bool(self._waiting) or any(self._sent.values())

    def add_node(self, node: WorkerController) -> None:
        """A worker has started."""
        self._sent[node] = deque()

    def add_node_collection(self, node: WorkerController, collection: Sequence[str]) -> None:
        """A worker has collected; one that sees other items than the first gets none."""
        if not self._collection:
            self._collection = list(collection)
        if list(collection) != list(self._collection):
            self._log(f"{node.gateway.id} collected other items than the first worker; it gets none")
            if self._scheduled:
                node.shutdown()
            return
        self._ready.add(node)

    def schedule(self) -> None:
        """Start, or give a replaced worker its share."""
        if not self._scheduled:
            self._scheduled = True
            self._put_back(range(len(self._collection)))
        for node in self.nodes:
            self._feed(node)

    def mark_test_complete(self, node: WorkerController, item_index: int, duration: float = 0) -> None:
        """An item is done: its worker may take more."""
        sent = self._sent[node]
        if sent and sent[0] == item_index:
            sent.popleft()
        else:
            sent.remove(item_index)
        self._feed(node)

    def mark_test_pending(self, item: str) -> None:
        """An item is to run again, at a crash handler's request."""
        self._put_back([self._collection.index(item)])
        for node in self.nodes:
            self._feed(node)

    def remove_pending_tests_from_node(self, node: WorkerController, indices: Sequence[int]) -> None:
        """Nothing is ever stolen from a worker: what it may lose was never sent."""
        raise NotImplementedError("RepositoryScheduling sends no steal command")

    def remove_node(self, node: WorkerController) -> str | None:
        """A worker is gone: the item that it ran is returned, the others wait again."""
        sent = self._sent.pop(node)
        self._ready.discard(node)
        for shelf in self._shelves:
            if shelf.owner is node:
                shelf.owner = None
        if not sent:
            return None
        crashed = self._collection[sent.popleft()]
        self._put_back(sent)
        for other in self.nodes:
            self._feed(other)
        return crashed

    def _put_back(self, indices: Sequence[int] | deque[int] | range) -> None:
        shelves: dict[str, list[int]] = {}
        for index in indices:
            shelves.setdefault(self._loads[index].key, []).append(index)
        self._shelves.extend(Shelf(key, found, self._loads) for key, found in shelves.items())
        self._waiting += len(indices)

    def _feed(self, node: WorkerController) -> None:
        if node.shutting_down or node not in self._ready:
            return
        sent = self._sent[node]
        missing = self._floor(sent) - len(sent)
        if self._waiting and missing > 0:
            share = self._waiting // (len(self._ready) * 8)
            batch = self._take(node, min(_CEILING, max(missing, share)))
            try:
                node.send_runtest_some(batch)
            except OSError:  # it has died, and xdist is about to hear of it
                self._ready.discard(node)
                self._put_back(batch)
                return
            sent.extend(batch)
        if not self._waiting:
            # Lets the worker run the item that it holds back until it knows the next one.
            node.shutdown()

    def _floor(self, sent: Sequence[int]) -> int:
        """How many items a worker must hold that has been ``sent`` these."""
        return _LEAST if any(self._loads[index].weight > _HEAVY for index in sent) else _FLOOR

    def _take(self, node: WorkerController, count: int) -> list[int]:
        batch: list[int] = []
        while self._waiting and len(batch) < count:
            shelf = self._shelf_for(node)
            batch.append(shelf.take())
            self._waiting -= 1
            if not shelf.indices:
                self._shelves.remove(shelf)
        return batch

    def _shelf_for(self, node: WorkerController) -> Shelf:
        """The worker's own shelf, else the heaviest that is free, else half of the heaviest.

        Heavy ones first, so that what is left at the end is light and evens out.
        """
        own = next((shelf for shelf in self._shelves if shelf.owner is node), None)
        if own is not None:
            return own
        free = [shelf for shelf in self._shelves if shelf.owner is None]
        shelf = max(free or self._shelves, key=lambda shelf: shelf.weight)
        if not free and len(shelf.indices) > 1:
            shelf = shelf.split()
            self._shelves.append(shelf)
        if shelf.owner is None:
            shelf.owner = node
        return shelf
