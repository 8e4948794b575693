"""``--dist load`` as it is served: by xdist where nothing is ours, else repository by repository."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from xdist.scheduler import LoadScheduling
from xdist.workermanage import parse_tx_spec_config

if TYPE_CHECKING:
    import pytest
    from xdist.remote import Producer
    from xdist.scheduler import Scheduling
    from xdist.workermanage import WorkerController

    from pytest_retrieval.plugin.plan import Load

Loads = Callable[[Sequence[str]], "list[Load] | None"]


class LoadOrRepository:
    """``--dist load`` as long as it is unknown what was collected, then the scheduler that fits.

    A run without bench items must see xdist's own scheduler, whatever else is installed.
    """

    def __init__(self, config: pytest.Config, log: Producer, loads: Loads) -> None:
        self.config = config  # where pytest-rerunfailures looks for it, as in xdist's own schedulers
        self._log = log
        self._loads = loads
        self._numnodes = len(parse_tx_spec_config(config))
        self._nodes: list[WorkerController] = []
        self._collections: dict[WorkerController, Sequence[str]] = {}
        self._chosen: Scheduling | None = None

    @property
    def nodes(self) -> list[WorkerController]:
        """The workers that are alive."""
        return self._chosen.nodes if self._chosen else list(self._nodes)

    @property
    def collection_is_completed(self) -> bool:
        """Whether as many workers as were asked for have collected."""
        if self._chosen:
            return bool(self._chosen.collection_is_completed)
        return len(self._collections) >= self._numnodes

    @property
    def tests_finished(self) -> bool:
        """Whether every item is done."""
        return bool(self._chosen and self._chosen.tests_finished)

    @property
    def has_pending(self) -> bool:
        """Whether any item waits or runs."""
        return bool(self._chosen and self._chosen.has_pending)

    def add_node(self, node: WorkerController) -> None:
        """A worker has started."""
        if self._chosen:
            self._chosen.add_node(node)
        else:
            self._nodes.append(node)

    def add_node_collection(self, node: WorkerController, collection: Sequence[str]) -> None:
        """A worker has collected."""
        if self._chosen:
            self._chosen.add_node_collection(node, collection)
        else:
            self._collections[node] = collection

    def schedule(self) -> None:
        """Choose, at the first call, and hand on."""
        if self._chosen is None:
            self._chosen = self._choose()
            for node in self._nodes:
                self._chosen.add_node(node)
            for node, collection in self._collections.items():
                self._chosen.add_node_collection(node, collection)
        self._chosen.schedule()

    def mark_test_complete(self, node: WorkerController, item_index: int, duration: float = 0) -> None:
        """An item is done."""
        self._running().mark_test_complete(node, item_index, duration)

    def mark_test_pending(self, item: str) -> None:
        """An item is to run again."""
        self._running().mark_test_pending(item)

    def remove_pending_tests_from_node(self, node: WorkerController, indices: Sequence[int]) -> None:
        """Items were taken from a worker."""
        self._running().remove_pending_tests_from_node(node, indices)

    def remove_node(self, node: WorkerController) -> str | None:
        """A worker is gone."""
        if self._chosen:
            crashed: str | None = self._chosen.remove_node(node)
            return crashed
        if node not in self._nodes:
            raise KeyError(node)  # what the protocol says of a worker that died before it was ready
        self._nodes.remove(node)
        self._collections.pop(node, None)
        return None

    def _running(self) -> Scheduling:
        assert self._chosen is not None, "no item completes before the first schedule()"
        return self._chosen

    def _choose(self) -> Scheduling:
        loads = self._loads(next(iter(self._collections.values())))
        if loads is None:
            return LoadScheduling(self.config, self._log)
        from pytest_retrieval.plugin.repository_scheduling import RepositoryScheduling

        return RepositoryScheduling(self._numnodes, loads, self._log)
