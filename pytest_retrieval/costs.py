"""What an index and an answer cost, as an arm tells it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

COLD, INCREMENTAL, WARM = "COLD", "INCREMENTAL", "WARM"
INDEX_STATES = (COLD, INCREMENTAL, WARM)


@dataclass(frozen=True, slots=True)
class Cost:
    """Costs of a code search; None is what was not measured, never a zero.

    ``index_state`` says what the index was built from: nothing (``COLD``), what an earlier run had left
    (``INCREMENTAL``), or it was not built at all (``WARM``). ``index_bytes`` is its size, ``index_chunks``
    how many pieces it has. ``index_peak_rss`` is the memory of the largest process of the build, in bytes,
    ``index_tree_rss`` that of all its processes at once; ``query_peak_rss`` is the search's own process.
    ``reply_tokens`` and ``schema_tokens`` estimate what an agent is given: what the tool printed for the
    query, and the description of the tool; ``named_tokens`` all text of the files that the answer names, had
    the agent read them.
    """

    index_seconds: float | None = None
    index_state: str | None = None
    index_bytes: int | None = None
    index_chunks: int | None = None
    index_peak_rss: int | None = None
    index_tree_rss: int | None = None
    query_peak_rss: int | None = None
    reply_tokens: int | None = None
    schema_tokens: int | None = None
    named_tokens: int | None = None

    def record(self) -> Mapping[str, Any]:
        """What was measured, by name."""
        return {name: value for name, value in asdict(self).items() if value is not None}
