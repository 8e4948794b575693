"""An arm whose program tells whether it used its store: what measuring hits against misses needs of it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeGuard, runtime_checkable

from pytest_retrieval.programs.process import Completed

HIT, MISS, UNKNOWN = "OBSERVED_HIT", "OBSERVED_MISS", "UNKNOWN"
COLD_FIRST, HIT_FIRST = "cold-first", "hit-first"  # the order of matched calls without the store and with it

_LONE_SURROGATES = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Call:
    """The latest call of an arm, kept for whoever needs more of it than its answer.

    ``arguments`` are the verb and what follows it. ``completed`` is None when the program could not be
    started or was interrupted. ``parsed`` is None when there was no output to read, else whether it was a
    packet.
    """

    arguments: tuple[str, ...]
    completed: Completed | None = None
    parsed: bool | None = None

    @property
    def task(self) -> bytes | None:
        """The task as it was sent, or None for a call without one."""
        if "--task" not in self.arguments:
            return None
        return encoded(self.arguments[self.arguments.index("--task") + 1])


@runtime_checkable
class Observed(Protocol):
    """What such an arm has beside an arm's own methods; :func:`is_observed` tells."""

    last: Call | None

    @property
    def store(self) -> Path:
        """Where the program keeps its store for the arm's snapshot; it need not exist."""

    @property
    def observation(self) -> str:
        """What the program said of its store in the latest call: one of the three labels above."""

    def index(self) -> None:
        """Make the store.

        Raises:
            ArmError: the program failed.
        """


def is_observed(arm: object) -> TypeGuard[Observed]:
    """Whether ``arm`` is such an arm; it need not be prepared."""
    return hasattr(arm, "last") and all(
        hasattr(type(arm), name) for name in ("store", "observation", "index")
    )


def encoded(argument: str) -> bytes:
    """``argument`` as UTF-8 for a command line, with U+FFFD where JSON smuggled in half a character."""
    return _LONE_SURROGATES.sub("\N{REPLACEMENT CHARACTER}", argument).encode("utf-8")
