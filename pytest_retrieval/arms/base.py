"""What an arm is: anything that ranks the files of a snapshot for a query."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar

from pytest_retrieval.costs import Cost
from pytest_retrieval.model import NO_CACHE, Answer, Capabilities, Hit, Query

if TYPE_CHECKING:
    from pytest_retrieval.snapshots.base import Snapshot

Ranking = Answer | Iterable[Hit | str | tuple[str, float]]


class Arm:
    """Base class of every arm; only :meth:`rank` must be written.

    A subclass declares ``name``, ``version`` and ``capabilities``, and as a ``baseline`` that it is a control
    for other arms to be compared with. One that ``keeps_timeout`` ends its queries in time by itself, as it
    ends the program that it asks; others are interrupted. ``index_seconds`` and ``index_bytes`` are what its
    index cost in this session; None for an arm that does not tell, whose time to prepare stands for it, and
    ``index_state`` whether it was built from nothing (``COLD``), from what an earlier run left
    (``INCREMENTAL``), or not at all (``WARM``). ``reply`` is what a tool itself said in its latest answer,
    and ``tool_schema`` how it is described to an agent, for both cost tokens. ``cache_state`` labels the
    times of answers that tell none and of queries that failed; ``notices`` are lines for the end of the run.

    Its constructor takes no argument and is cheap, for the controller builds each arm once just to read what
    it declares: work belongs in :meth:`prepare`, which is timed apart. One arm object serves one snapshot at
    a time, in one process.
    """

    name: ClassVar[str] = ""
    version: str = "1"
    baseline: ClassVar[bool] = False
    keeps_timeout: ClassVar[bool] = False
    capabilities: Capabilities = Capabilities()
    cache_state: str = NO_CACHE
    index_seconds: float | None = None
    index_bytes: int | None = None
    index_state: str | None = None
    tool_schema: str | None = None
    notices: tuple[str, ...] = ()
    snapshot: Snapshot

    def prepare(self, snapshot: Snapshot) -> None:
        """Get ready for queries against ``snapshot``; called before the first query and at each change."""
        self.snapshot = snapshot

    def rank(self, query: Query) -> Ranking:
        """Rank paths for ``query``, best first: an :class:`Answer`, or an iterable of paths or hits."""
        raise NotImplementedError(f"{type(self).__name__}.rank")

    @property
    def reply(self) -> str | None:
        """What a tool itself said in answer to the latest query; None for an arm that is no tool."""
        return None

    def costs(self) -> Cost:
        """What the index cost, and what else was measured; asked for after a query whose lines are judged."""
        return Cost(self.index_seconds, self.index_state, self.index_bytes)

    def inspect(self) -> None:
        """Look, untimed, at what the latest query left behind; what is raised is a fault of that query."""

    def rank_many(self, queries: Sequence[Query]) -> Sequence[Ranking]:
        """Rank several queries against one snapshot, for who has several; override it if a batch is cheaper.

        The bench itself asks for one at a time: each query is an item of its own, and timed alone.
        """
        return [self.rank(query) for query in queries]

    def close(self) -> None:
        """Let go of whatever :meth:`prepare` took; called once, also after an interrupt."""
