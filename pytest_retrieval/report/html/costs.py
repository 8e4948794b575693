"""What the arms cost, as the charts of quality against cost need it: one number per arm."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import fsum
from typing import Any

from pytest_retrieval.measures.spans import TOKEN_ESTIMATOR, TOKEN_SLOTS
from pytest_retrieval.report.summaries import BUILD


@dataclass(frozen=True, slots=True)
class Costs:
    """``times`` is the distribution of each arm's times under the cache label with most of them.

    ``tokens`` is the mean price of an answer with one span per file, where an arm tells.
    """

    times: Mapping[str, Mapping[str, float]]
    tokens: Mapping[str, float]
    tokens_note: str = f"mean tokens of the first {TOKEN_SLOTS} files with one span each ({TOKEN_ESTIMATOR})"


def costs_of(head: Mapping[str, Any]) -> Costs:
    """The costs in the head of a report."""
    return Costs({label: _times(found) for label, found in head["latency"].items()}, dict(_tokens(head)))


def _times(latency: Mapping[str, Mapping[str, Any]]) -> Mapping[str, float]:
    queries = [(label, times) for label, times in latency.items() if label != BUILD]
    return min(queries, key=lambda item: (-item[1]["n"], item[0]), default=("", {}))[1]


def _tokens(head: Mapping[str, Any]) -> list[tuple[str, float]]:
    """Over corpora, weighted by their queries."""
    rows = head.get("codesearch", {}).get("rows", ())
    told: dict[str, list[tuple[int, float]]] = {}
    for row in rows:
        if (tokens := row.get("wide_tokens", {}).get("1")) is not None:
            told.setdefault(row["engine"], []).append((row["file"]["queries"], tokens))
    return [
        (label, fsum(count * tokens for count, tokens in found) / sum(count for count, _ in found))
        for label, found in told.items()
    ]
