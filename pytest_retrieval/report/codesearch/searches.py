"""The section ``codesearch``: one row per arm and corpus, in the fields of codesearch-bench's result files.

Whatever depends on the machine or the day stands under ``cost``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any

from pytest_retrieval.measures import spans
from pytest_retrieval.measures.spans import PER_FILE, Quality
from pytest_retrieval.model import Gold, Searched, Slot, distinct
from pytest_retrieval.report.codesearch.costs import chunks_of, cost_row
from pytest_retrieval.report.codesearch.notices import notices
from pytest_retrieval.report.codesearch.pairs import search_pairs
from pytest_retrieval.report.codesearch.searched import stored_query, stored_slots

FAILED = "failed"
_FIRST = 5  # so many errors from the start, and the arm does not work at all
_SHOWN = 3  # errors that are told

Place = tuple[int, int, int, str]
Ranks = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Asked:
    """One arm's answer to one query, as ranks of what was expected; ``wide`` by spans per file."""

    place: Place
    query: str
    difficulty: str
    files: Ranks
    chunks: Ranks
    wide: Mapping[int, Ranks]
    tokens: Mapping[int, int]
    slots: int
    spanless: int
    textless: int
    empty: int
    differs: bool
    miss: Mapping[str, Any] | None
    answer: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Corpus:
    """A corpus as its samples name it."""

    name: str
    language: str
    tree: str
    snapshot: str
    commit: str
    digest: str


class Searches:
    """Gathers the samples that are code searches; ``arms`` is the head's section, with the capabilities."""

    def __init__(self, arms: Mapping[str, Mapping[str, Any]]) -> None:
        self._arms = arms
        self._corpora: dict[str, _Corpus] = {}
        self._asked: dict[tuple[str, str], list[_Asked]] = {}

    def add(self, place: Place, detail: Mapping[str, Any]) -> bool:
        """Take in one sample, if it is a code search; whether it is."""
        searched = stored_query(detail)
        if searched is None:
            return False
        snapshot = f"{detail['repo']}@{detail['base_commit']}"
        self._corpora[searched.corpus] = _Corpus(
            searched.corpus,
            searched.language,
            searched.tree,
            snapshot,
            detail["base_commit"],
            detail["source"],
        )
        for label, answer in detail["arms"].items():
            capabilities = self._arms[label].get("capabilities", {})
            asked = _judged(place, detail["codesearch"], searched, answer, capabilities)
            self._asked.setdefault((searched.corpus, label), []).append(asked)
        return True

    def section(
        self, snapshots: Mapping[str, Mapping[str, Any]], pairs: Iterable[tuple[str, str]] = ()
    ) -> dict[str, Any] | None:
        """The rows, by corpus and label, and how ``pairs`` of arms compare; None without a code search."""
        rows = self.rows(snapshots)
        if not rows:
            return None
        paired = search_pairs(rows, pairs)
        for row in rows:
            del row["ext"]["per_query"]  # the details have it
        return {"rows": rows, **({"paired": paired} if paired else {})}

    def rows(self, snapshots: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
        """The rows, by corpus and label, each with what became of its queries."""
        rows = []
        for (name, label), asked in sorted(self._asked.items()):
            corpus = self._corpora[name]
            files = int(snapshots.get(corpus.snapshot, {}).get("files", 0))
            asked.sort(key=lambda one: one.place)
            capabilities = self._arms[label].get("capabilities", {})
            row = _row(label, corpus, files, asked, capabilities)
            row["ext"]["per_query"] = [_query(one, capabilities) for one in asked]
            rows.append(row)
        return rows


def _judged(
    place: Place,
    kept: Mapping[str, Any],
    searched: Searched,
    answer: Mapping[str, Any],
    capabilities: Mapping[str, Any],
) -> _Asked:
    paths = distinct(gold.path for gold in searched.golds)
    golds = searched.golds if capabilities.get("spans") else tuple(Gold(path) for path in paths)
    found = ({} if "error" in answer else stored_slots(answer)) or {0: (), 1: ()}
    first = found[0]
    files = spans.file_ranks([slot.path for slot in first], paths)
    chunks = spans.chunk_ranks(first, golds)
    wide = {count: spans.chunk_ranks(slots, golds) for count, slots in found.items() if count in PER_FILE}
    return _Asked(
        place=place,
        query=kept["query"],
        difficulty=searched.difficulty,
        files=files,
        chunks=chunks,
        wide=wide,
        tokens={count: spans.tokens_shown(slots) or 0 for count, slots in found.items() if count in PER_FILE},
        slots=len(first),
        spanless=spans.spanless(first),
        textless=sum(slot.tokens is None for slot in first[: spans.TOKEN_SLOTS]),
        empty=sum(slot.tokens == 0 and bool(slot.spans) for slot in first[: spans.TOKEN_SLOTS]),
        differs=found[1] != first,
        miss=None if any(chunks) else _miss(kept, golds, first, files, answer),
        answer=answer,
    )


def _miss(
    kept: Mapping[str, Any],
    golds: Sequence[Gold],
    slots: Sequence[Slot],
    files: Ranks,
    answer: Mapping[str, Any],
) -> dict[str, Any]:
    """A query none of whose answers is among 20; a chunk rank is 0 then, and kept as the original has it."""
    miss: dict[str, Any] = {
        "query": kept["query"],
        "difficulty": kept["difficulty"],
        "gold": kept["gold"],
        "file_rank": min(filter(None, files), default=0),
        "chunk_rank": 0,
    }
    if "nearest" in answer:
        miss["nearest_chunk"] = answer["nearest"]
    near = next(filter(None, (spans.nearest_returned(slots, gold) for gold in golds)), None)
    return miss if near is None else {**miss, "nearest_returned": near}


def _row(
    label: str, corpus: _Corpus, files: int, asked: Sequence[_Asked], capabilities: Mapping[str, Any]
) -> dict[str, Any]:
    answers = [one.answer for one in asked]
    errors = [one.answer["error"] for one in asked if "error" in one.answer]
    failed = len(errors) == len(asked) or all("error" in one.answer for one in asked[:_FIRST])
    row: dict[str, Any] = {
        "engine": label,
        "corpus": corpus.name,
        "lang": corpus.language,
        "tier": "",
        "files": files,
        "chunks": chunks_of(answers),
        "indexed_tree": corpus.tree,
        "cost": cost_row(answers, files),
        "ext": _ext(corpus, asked, errors, capabilities, failed=failed),
    }
    if not capabilities.get("spans"):
        row["file_granularity_only"] = True
    if capabilities.get("tokens_from_corpus"):
        row["tokens_from_corpus"] = True
    return row if failed else {**row, **_metrics(asked, capabilities)}


def _query(one: _Asked, capabilities: Mapping[str, Any]) -> dict[str, Any]:
    """What became of one query; ``tokens`` where the arm tells them, ``seconds`` where it answered."""
    found: dict[str, Any] = {"query": one.query, "ranks": list(one.chunks), "slots": one.slots}
    if "error" in one.answer:
        return {**found, "error": one.answer["error"]}
    if "wall_ms" in one.answer:
        found["seconds"] = one.answer["wall_ms"] / 1_000
    if capabilities.get("tokens"):
        found["tokens"] = one.tokens.get(1, 0)
    return found


def _metrics(asked: Sequence[_Asked], capabilities: Mapping[str, Any]) -> dict[str, Any]:
    slots = [one.slots for one in asked]
    found: dict[str, Any] = {
        "slots_min": min(slots),
        "slots_mean": fsum(slots) / len(slots),
        "slots_recorded": True,
        "file": _shown(spans.quality([one.files for one in asked])),
        "chunk": _shown(spans.quality([one.chunks for one in asked])),
        "by_difficulty": {
            difficulty: _shown(spans.quality([one.chunks for one in asked if one.difficulty == difficulty]))
            for difficulty in dict.fromkeys(one.difficulty for one in asked)
        },
        "misses": [one.miss for one in asked if one.miss is not None],
        "wide": _wide(asked),
    }
    if (count := sum(one.spanless for one in asked)) and capabilities.get("spans"):
        found["spanless_hits"] = count
    if capabilities.get("tokens"):
        found["wide_tokens"] = _wide_tokens(asked)
    return found


def _counts(asked: Sequence[_Asked]) -> list[int]:
    """The numbers of spans per file that were asked for; an error tells none."""
    return sorted({count for one in asked if "error" not in one.answer for count in one.wide})


def _wide(asked: Sequence[_Asked]) -> dict[str, Any]:
    return {
        str(count): _shown(spans.quality([one.wide.get(count, (0,) * len(one.chunks)) for one in asked]))
        for count in _counts(asked)
    }


def _wide_tokens(asked: Sequence[_Asked]) -> dict[str, float]:
    """The mean price of an answer; a query without results costs nothing, one that failed is left out."""
    answered = [one for one in asked if "error" not in one.answer]
    return {
        str(count): fsum(one.tokens.get(count, 0) for one in answered) / len(answered)
        for count in _counts(asked)
    }


def _ext(
    corpus: _Corpus,
    asked: Sequence[_Asked],
    errors: Sequence[str],
    capabilities: Mapping[str, Any],
    *,
    failed: bool,
) -> dict[str, Any]:
    """What codesearch-bench's rows do not have; a row that failed has no figure of quality here either."""
    found: dict[str, Any] = {
        "commit": corpus.commit,
        "corpus_sha256": corpus.digest,
        "status": FAILED if failed else "ok",
        "query_errors": len(errors),
        "errors": list(dict.fromkeys(errors))[:_SHOWN],
        "unknown_paths": sum(one.answer.get("unknown", 0) for one in asked),
        "textless_slots": sum(one.textless for one in asked) if capabilities.get("tokens") else 0,
        "empty_slots": sum(one.empty for one in asked) if capabilities.get("tokens_from_corpus") else 0,
        "noticed": notices(one.answer.get("state") for one in asked),
        "differing_queries": sum(one.differs for one in asked),
        "token_estimator": spans.TOKEN_ESTIMATOR,
        "zero_miss_is": "share of queries with no gold in the top 20",
    }
    if not failed:
        found["hit"] = {
            str(k): _share(any(0 < rank <= k for rank in one.chunks) for one in asked) for k in spans.KS
        }
        found["ndcg@10"] = _mean([spans.ndcg(one.chunks) for one in asked])
    return found


def _shown(quality: Quality) -> dict[str, Any]:
    return {
        "queries": quality.queries,
        "recall": {str(k): value for k, value in quality.recall.items()},
        "mrr": quality.mrr,
        "zero_miss": quality.zero_miss,
    }


def _share(hits: Iterable[bool]) -> float:
    return _mean([float(hit) for hit in hits])


def _mean(values: Sequence[float]) -> float:
    return fsum(values) / len(values) if values else 0.0
