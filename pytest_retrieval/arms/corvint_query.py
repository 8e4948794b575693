"""``corvint``: the results of ``corvint query``, each by its own path."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from pytest_retrieval.arms.corvint_verb import CorvintVerb, ranked
from pytest_retrieval.arms.packet import Packet
from pytest_retrieval.model import Answer, Query

TASK_LIMIT = 2_000  # code points that the verb takes; the rest of a longer text is not sent


class CorvintQuery(CorvintVerb):
    """Ranks by ``context.results[].evidence[0].path``; the state OUT_OF_SCOPE is an abstention."""

    name: ClassVar[str] = "corvint"
    verb: ClassVar[str] = "query"

    def arguments(self, query: Query) -> Sequence[str]:
        """The first 2,000 code points of the query's text as the task."""
        return [self.verb, "--task", query.text[:TASK_LIMIT], "--limit", str(query.limit)]

    def read(self, packet: Packet, query: Query) -> Answer:
        """The first evidence of each result is the result's own path; a result without evidence has none."""
        context = packet.require("context").inside("context").require("state", "results")
        first = (evidence for result in context.rows("results") for evidence in result.rows("evidence")[:1])
        hits = ranked(evidence.text("path") for evidence in first)
        state = context.text("state")
        return Answer(hits=hits, state=state or None, abstained=state == "OUT_OF_SCOPE" or not hits)
