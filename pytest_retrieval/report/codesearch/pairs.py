"""Two engines on the queries of one corpus: which of them finds more, and whether that can be told.

Figures and their random streams are those of the report's section ``paired``, over chunk R@10 and chunk MRR.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from pytest_retrieval.arms.pairs import pair_name
from pytest_retrieval.measures.spans import recall, reciprocal_rank
from pytest_retrieval.stats.paired import compare, leaves_out_zero

RECALL, MRR = "chunk_recall@10", "chunk_mrr@20"
_VALUE = {RECALL: lambda ranks: recall(ranks, 10), MRR: reciprocal_rank}

Row = Mapping[str, Any]
Queries = Sequence[Mapping[str, Any]]


def search_pairs(
    rows: Sequence[Row], pairs: Iterable[tuple[str, str]] | None = None
) -> dict[str, dict[str, Any]]:
    """``corpus -> "A - B" -> measure -> figures``, of rows that know their queries.

    By default each row is held against those before it, as arms are against the first. A pair whose rows do
    not answer the same question has ``{"why": …}`` instead.
    """
    asked = None if pairs is None else list(pairs)
    section: dict[str, dict[str, Any]] = {}
    for corpus in dict.fromkeys(row["corpus"] for row in rows):
        known = {row["engine"]: row for row in rows if row["corpus"] == corpus and _queries(row)}
        by_default = ((later, earlier) for earlier, later in combinations(known, 2))
        for one, other in asked if asked is not None else by_default:
            if one in known and other in known:
                name = pair_name((one, other))
                section.setdefault(corpus, {})[name] = _compared(known[one], known[other])
    return section


def differences(row: Row, other: Row) -> Iterator[str]:
    """Why two rows of one corpus cannot be held against each other."""
    if bool(row.get("file_granularity_only")) != bool(other.get("file_granularity_only")):
        yield "one of them is graded by files alone"
    if row.get("indexed_tree", "") != other.get("indexed_tree", "") or (
        row.get("unequal_trees") or other.get("unequal_trees")
    ):
        yield "they searched different trees"
    ext, more = row.get("ext", {}), other.get("ext", {})
    if ext.get("corpus_sha256") != more.get("corpus_sha256"):
        yield "their query sets differ"
    if row.get("wide_tokens") and other.get("wide_tokens") and _estimator(ext) != _estimator(more):
        yield "their tokens are estimated in different ways"


def is_separable(figures: Mapping[str, Any]) -> bool:
    """Whether the interval of a difference leaves out zero, as it is marked in every table."""
    cluster = figures.get("cluster", {})
    return "low" in cluster and leaves_out_zero(cluster, cluster["count"], figures["p"])


def interval_of(figures: Mapping[str, Any]) -> tuple[float, float] | None:
    """The interval over clusters; None where there is none."""
    cluster = figures.get("cluster", {})
    if "low" not in cluster or cluster.get("degenerate"):
        return None
    return cluster["low"], cluster["high"]


def _compared(row: Row, other: Row) -> dict[str, Any]:
    queries, others = _queries(row), _queries(other)
    why = next(differences(row, other), None)
    if why is None and [one["query"] for one in queries] != [one["query"] for one in others]:
        why = "they were asked different queries"
    if why is not None:
        return {"why": why}
    names = sorted((row["engine"], other["engine"]))
    repositories = [row["corpus"]] * len(queries)
    clusters = [None] * len(queries)
    return {
        measure: compare(
            [value(one["ranks"]) for one in queries],
            [value(one["ranks"]) for one in others],
            clusters,
            repositories,
            (f"corpus:{row['corpus']}", *names, measure),
        )
        for measure, value in _VALUE.items()
    }


def _queries(row: Row) -> Queries:
    """What is known of each query of a row; nothing where it failed."""
    ext = row.get("ext", {})
    found: Queries = () if ext.get("status") == "failed" else ext.get("per_query", ())
    return found


def _estimator(ext: Mapping[str, Any]) -> object:
    return ext.get("token_estimator")
