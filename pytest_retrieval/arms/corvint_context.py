"""``context``: the results of ``corvint context`` over the whole query text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from pytest_retrieval.arms.corvint_verb import TRACE, CorvintVerb, ranked
from pytest_retrieval.arms.observed import HIT, MISS, UNKNOWN
from pytest_retrieval.arms.packet import Packet
from pytest_retrieval.arms.program import TIMEOUT, output_of
from pytest_retrieval.model import Answer, Query
from pytest_retrieval.programs.process import Completed

WITHHELD = "unsupported-conjunction"
_OBSERVATIONS = {
    b"corvint-bench-snapshot: hit=true": HIT,
    b"corvint-bench-snapshot: hit=false": MISS,
}


class CorvintContext(CorvintVerb):
    """Ranks by ``results[].id``.

    It abstains with the state NO_CANDIDATES and with the verdict ``unsupported-conjunction``, which is
    appended to the state: that packet's rows are kept, but are the reserved ones, not an answer.
    """

    name: ClassVar[str] = "context"
    verb: ClassVar[str] = "context"

    def arguments(self, query: Query) -> Sequence[str]:
        """The whole text as the task: the program's own bound of 32,000 characters is its to apply."""
        return [self.verb, "--task", query.text, "--limit", str(query.limit)]

    def run(self, arguments: Sequence[str], query: Query) -> Completed:
        """Ask for the line that says whether the store was hit; no other verb is asked for it."""
        return self.call(arguments, **{TRACE: "1"})

    def read(self, packet: Packet, query: Query) -> Answer:
        """The ids in packet order, whatever the verdict."""
        hits = ranked(result.text("id") for result in packet.require("state", "results").rows("results"))
        state = packet.text("state")
        withheld = packet.inside("coverage").inside("answerability").text("verdict") == WITHHELD
        return Answer(
            hits=hits,
            state=f"{state}/{WITHHELD}" if withheld else state or None,
            abstained=state == "NO_CANDIDATES" or withheld or not hits,
        )

    @property
    def observation(self) -> str:
        """What the program said of its store in the latest call.

        The retained diagnostics, without the white space around them, are exactly one of two lines; whatever
        else there is makes it UNKNOWN. That the store's folder exists is no evidence of a hit.
        """
        if self.last is None or self.last.completed is None:
            return UNKNOWN
        return _OBSERVATIONS.get(self.last.completed.stderr.strip(), UNKNOWN)

    def index(self) -> None:
        """Make the store of the work tree by one ``index`` call.

        Raises:
            ArmError: it failed.
        """
        output_of(self.call(["index"]), TIMEOUT, may_refuse=False)
