"""``impact``: every file that ``corvint impact`` names as evidence for a changed file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from pytest_retrieval.arms.corvint_verb import CorvintVerb, changed_file, ranked
from pytest_retrieval.arms.packet import Packet
from pytest_retrieval.model import Answer, Query


class CorvintImpact(CorvintVerb):
    """Ranks by ``context.results[].evidence[].path``, without the changed file.

    The state OUT_OF_SCOPE is an abstention. A path or repository that the verb has no rule for is refused by
    the program; a sample without a changed file is refused here.
    """

    name: ClassVar[str] = "impact"
    verb: ClassVar[str] = "impact"

    def arguments(self, query: Query) -> Sequence[str]:
        """The changed file and the limit, which the program itself refuses above 50."""
        return [self.verb, changed_file(query), "--limit", str(query.limit)]

    def read(self, packet: Packet, query: Query) -> Answer:
        """All evidence of all results, in the order of the packet."""
        context = packet.require("context").inside("context").require("state", "results")
        every = (evidence for result in context.rows("results") for evidence in result.rows("evidence"))
        hits = ranked((evidence.text("path") for evidence in every), without=query.changed_file)
        state = context.text("state")
        return Answer(hits=hits, state=state or None, abstained=state == "OUT_OF_SCOPE" or not hits)
