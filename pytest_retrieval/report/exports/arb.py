"""An arm's answers as Agent Retrieval Bench keeps them: ``*_details.jsonl``, a line per sample with gold.

Its reports (rank fusion, hardness, rank analysis, budget curves) read these. The measures are its own, over
the 20 files that it keeps. Two things differ: files that the query gives away are taken out of rankings here
and not there, and what it measures in tokens or chunks is left out, for no report knows it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pytest_retrieval.errors import ReportError
from pytest_retrieval.measures import ranking

DEPTH = 20
_CUTS = (5, 10, 20)


def details_lines(details: Iterable[Mapping[str, Any]], label: str) -> Iterator[bytes]:
    """The lines for the arm ``label``, in the order of the report; an error ranks nothing.

    Raises ReportError where the arm was asked about no sample with gold, and for an id that comes twice,
    which that format cannot tell apart.
    """
    seen: set[str] = set()
    for detail in details:
        if not detail["gold"] or label not in detail["arms"]:
            continue
        if detail["id"] in seen:
            raise ReportError(f"sample {detail['id']!r} comes twice; these rows name samples by id alone")
        seen.add(detail["id"])
        row = json.dumps(_row(detail, label), ensure_ascii=False, sort_keys=True)
        yield row.encode("utf-8", "surrogatepass") + b"\n"
    if not seen:
        raise ReportError(f"arm {label!r} was asked about no sample with gold, so there is nothing to export")


def _row(detail: Mapping[str, Any], label: str) -> dict[str, Any]:
    answer = detail["arms"][label]
    ranked = [] if "error" in answer else answer["ranked"][:DEPTH]
    ranks = {path: rank for rank, path in enumerate(ranked, 1)}
    return {
        "sample_id": detail["id"],
        "task_type": detail["task_type"],
        "repo": detail["repo"],
        "base_commit": detail["base_commit"],
        "candidate_filter": "all_files",
        "ranker": label,
        "gold_files": detail["gold"],
        "gold_ranks": {path: ranks.get(path) for path in detail["gold"]},
        "top_files": ranked,
        "metrics": measures(ranked, detail["gold"]),
    }


def measures(ranked: Sequence[str], gold: Sequence[str]) -> dict[str, float]:
    """Those of the benchmark's measures that a ranking of files has, under its names."""
    found = {f"Recall@{cut}": ranking.recall(ranked, gold, cut) for cut in _CUTS}
    found["MRR"] = ranking.reciprocal_rank(ranked, gold, DEPTH)
    for cut in _CUTS:
        found[f"Precision@{cut}"] = ranking.precision(ranked, gold, cut)
        found[f"F0.5@{cut}"] = ranking.f_half(ranked, gold, cut)
        found[f"irrelevant_files@{cut}"] = float(sum(path not in gold for path in ranked[:cut]))
    cuts = range(1, DEPTH + 1)
    found["coverage_auc@20"] = sum(ranking.recall(ranked, gold, cut) for cut in cuts) / DEPTH
    return found
