"""A detail as the page's script reads it: paths by number, and nothing that is empty."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

_KEPT = ("id", "ordinal", "repo", "base_commit", "stratum", "partition", "cluster", "query_chars", "attempts")
_ANSWER = (
    "error",
    "refused",
    "abstained",
    "state",
    "top_score",
    "wall_ms",
    "nearest",
    "unknown",
    "duplicates",
)
_MEASURES = ("recall@10", "mrr@k", "chunk_recall@10", "chunk_mrr@20")
_SPANS_SHOWN = 3  # of a ranked file


class Paths:
    """Each distinct path once, by its number."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, path: str) -> int:
        """The number of ``path``."""
        return self._numbers.setdefault(path, len(self._numbers))

    def numbers(self, paths: Iterable[str]) -> list[int]:
        """The numbers of ``paths``."""
        return [self.number(path) for path in paths]

    def listed(self) -> list[str]:
        """The paths in the order of their numbers."""
        return list(self._numbers)


def row(detail: Mapping[str, Any], labels: Sequence[str], paths: Paths) -> dict[str, Any]:
    """The sample ``detail``; its ``arms`` are in the order of ``labels``, None for one that was not asked."""
    explained: Mapping[str, Any] = detail.get("explain", {})
    searched: Mapping[str, Any] = detail.get("codesearch", {})
    fields = {
        **{name: detail[name] for name in _KEPT if detail.get(name)},
        "task": detail["task_type"],
        "query": searched.get("query", explained.get("query")),
        "title": explained.get("title"),
        "terms": explained.get("terms"),
        **{name: searched.get(name) for name in ("difficulty", "corpus", "subsystem")},
        "lines": [_gold(gold, paths) for gold in searched.get("gold", ())],
        **{name: paths.numbers(detail[name]) for name in ("gold", "gold_absent", "gold_cut", "given")},
        "negatives": paths.numbers(detail.get("negatives", explained.get("negatives", ()))),
        "facts": [[paths.number(path), facts] for path, facts in explained.get("gold", {}).items()],
    }
    found = {name: value for name, value in fields.items() if value not in (None, [], "")}
    found["arms"] = [_answer(detail, label, paths) for label in labels]
    return found


def _answer(detail: Mapping[str, Any], label: str, paths: Paths) -> dict[str, Any] | None:
    answer = detail["arms"].get(label)
    if answer is None:
        return None
    measures = detail["metrics"].get(label, {})
    found = {name: answer[name] for name in _ANSWER if answer.get(name)}
    if "wall_ms" in found:
        found["wall_ms"] = round(found["wall_ms"], 2)
    found["ranked"] = paths.numbers(answer["ranked"])
    if rank := _first_rank(detail, answer, measures):
        found["rank"] = rank
    if shown := _shown(answer, paths):
        found["shown"] = shown
    if "beyond" in answer:
        ranks = answer["beyond"]["ranks"]
        found["beyond"] = [answer["beyond"]["of"], [[paths.number(path), ranks[path]] for path in ranks]]
    found["measures"] = {name: round(measures[name], 3) for name in _MEASURES if measures.get(name)}
    return found


def _first_rank(detail: Mapping[str, Any], answer: Mapping[str, Any], measures: Mapping[str, float]) -> int:
    """The rank of the first gold file, of the first right lines where lines are judged, or 0."""
    if "error" in answer:
        return 0
    if "codesearch" in detail:
        reciprocal = measures.get("chunk_mrr@20", 0)
        return round(1 / reciprocal) if reciprocal else 0
    gold = set(detail["gold"])
    return next((rank for rank, path in enumerate(answer["ranked"], 1) if path in gold), 0)


def _shown(answer: Mapping[str, Any], paths: Paths) -> list[list[Any]]:
    """The lines that were shown of ranked files, where lines are judged."""
    slots = answer.get("slots", {}).get("0", ())
    return [[paths.number(slot["path"]), slot["spans"][:_SPANS_SHOWN]] for slot in slots if slot["spans"]]


def _gold(gold: Mapping[str, Any], paths: Paths) -> list[Any]:
    """An expected answer of a code search: the path's number, its lines (0 for a whole file), its symbol."""
    return [paths.number(gold["path"]), gold.get("start", 0), gold.get("end", 0), gold.get("symbol", "")]
