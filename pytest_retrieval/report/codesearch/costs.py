"""What indexing and asking cost one arm on one corpus: the object ``cost`` of a row.

The five fields of codesearch-bench are kept in their units. What was not measured is absent, but for the
rates, where a zero says so there as here. Builds of different kinds are never mixed: where an index was built
from nothing in one place and from remains in another, the former alone counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import fsum
from typing import Any

from pytest_retrieval.costs import COLD, INDEX_STATES
from pytest_retrieval.measures.spans import TOKEN_ESTIMATOR

_MIB = 1 << 20
_SIZES = {
    "peak_rss_mb": "index_peak_rss",
    "tree_peak_rss_mb": "index_tree_rss",
    "query_peak_rss_mb": "query_peak_rss",
}

Answer = Mapping[str, Any]


def cost_row(answers: Sequence[Answer], files: int) -> dict[str, Any]:
    """The costs, of the corpus's ``files``; times of queries that failed say nothing of an answer's."""
    builds, state = _builds(answers)
    told = [cost["index_seconds"] for cost in builds if "index_seconds" in cost]
    waited = [answer["build_ms"] / 1_000 for answer in answers if "build_ms" in answer]
    seconds = max(told or waited, default=0.0)
    chunks = chunks_of(answers)
    times = sorted(
        answer["wall_ms"] / 1_000 for answer in answers if "error" not in answer and "wall_ms" in answer
    )
    row: dict[str, Any] = {
        "index_seconds": seconds,
        "files_per_sec": files / seconds if seconds else 0.0,
        "chunks_per_sec": chunks / seconds if seconds else 0.0,
        "query_seconds": fsum(times) / len(times) if times else 0.0,
        "query_p50_seconds": _quantile(times, 50),
        "query_p95_seconds": _quantile(times, 95),
        **_sizes(builds),
    }
    if state is not None:
        row |= {"index_state": state.lower(), "cold": state == COLD}
    tokens = _tokens(answers)
    return {**row, "answer_tokens": tokens} if tokens else row


def chunks_of(answers: Sequence[Answer]) -> int:
    """How many pieces the index has; 0 where the arm does not tell."""
    return max(_told(_builds(answers)[0], "index_chunks"), default=0)


def _builds(answers: Sequence[Answer]) -> tuple[list[Mapping[str, Any]], str | None]:
    """The costs of the builds that count, and what those were built from: the coldest there are."""
    costs = [answer["cost"] for answer in answers if "cost" in answer]
    for state in INDEX_STATES:
        if found := [cost for cost in costs if cost.get("index_state") == state]:
            return found, state
    return costs, None


def _sizes(builds: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    sizes = {
        name: max(found) / _MIB for name, field in _SIZES.items() if (found := list(_told(builds, field)))
    }
    if found := list(_told(builds, "index_bytes")):
        sizes["index_bytes"] = max(found)
    return sizes


def _told(costs: Sequence[Mapping[str, Any]], name: str) -> Iterator[Any]:
    return (cost[name] for cost in costs if name in cost)


def _tokens(answers: Sequence[Answer]) -> dict[str, Any]:
    """What an answer costs an agent that reads it, as means over the queries that were answered.

    ``reply`` is what the tool printed and ``schema`` how the agent is told of it, both as they are;
    ``reading`` is derived: the reply with all text of each file that it names.
    """
    costs = [answer["cost"] for answer in answers if "error" not in answer and "cost" in answer]
    found: dict[str, Any] = {}
    replies = list(_told(costs, "reply_tokens"))
    if replies:
        found["reply"] = fsum(replies) / len(replies)
    if schemas := list(_told(costs, "schema_tokens")):
        found["schema"] = max(schemas)
    named = [cost["named_tokens"] + cost.get("reply_tokens", 0) for cost in costs if "named_tokens" in cost]
    if named:
        found["reading"] = fsum(named) / len(named)
        found["derived"] = ["reading"]
    return {**found, "estimator": TOKEN_ESTIMATOR} if found else {}


def _quantile(ordered: Sequence[float], percent: int) -> float:
    """The nearest rank."""
    return ordered[-(-len(ordered) * percent // 100) - 1] if ordered else 0.0
