"""What a run gives its engines: where their states live, and what trees are called."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pytest_retrieval.engines.trees import Corpus
from pytest_retrieval.snapshots.base import Snapshot

DEFAULT_LIMIT = 20
STATE_LIMIT = 4 << 30


@dataclass(frozen=True, slots=True)
class EngineHome:
    """``states`` is the folder of the engines' states, of about ``state_limit`` bytes in all.

    ``session`` names the run, the same in all of its processes; ``reindex`` empties each state once in it.
    ``limit`` is how many files are judged. ``corpora`` says by ``repo@commit`` what a tree is called where
    that is more than the name of its repository.
    """

    states: Path
    session: str
    reindex: bool = False
    limit: int = DEFAULT_LIMIT
    state_limit: int = STATE_LIMIT
    corpora: Mapping[str, Corpus] = field(default_factory=dict)

    def corpus(self, snapshot: Snapshot) -> Corpus:
        """What the tree of ``snapshot`` is called."""
        known = self.corpora.get(f"{snapshot.repo}@{snapshot.commit}")
        return Corpus(snapshot.repo.rpartition("/")[2]) if known is None else known
