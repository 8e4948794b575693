"""One row per invocation of a trial, for data frames and spreadsheets; what nobody observed is empty."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pytest_retrieval.model import NOT_OBSERVED
from pytest_retrieval.report.exports.rows import COUNT, FLAG, NUMBER, TEXT, Row

# What a row tells beside its metrics and tokens, and as what. ``repeat`` counts from 1; ``status`` is
# ``scored``, ``error`` or ``not run``.
COLUMNS: Mapping[str, str] = {
    "id": TEXT,
    "ordinal": COUNT,
    "source": TEXT,
    "kind": TEXT,
    "repo": TEXT,
    "base_commit": TEXT,
    "cluster": TEXT,
    "control": TEXT,
    "subject": TEXT,
    "arm": TEXT,
    "repeat": COUNT,
    "status": TEXT,
    "error": TEXT,
    "block_state": TEXT,
    "block_followed": FLAG,
    "reply_truncated": FLAG,
    "context_bytes": COUNT,
    "context_truncated": FLAG,
    "context_state": TEXT,
    "context_error": TEXT,
    "prompt_bytes": COUNT,
    "wall_ms": NUMBER,
    "exit_code": COUNT,
    "tool_calls": COUNT,
    "served_calls": COUNT,
    "attempts": COUNT,
    "money": NUMBER,
    "reused_from": TEXT,
}
LISTS = ("gold", "claims")  # in Parquet alone: "KIND VALUE", "VERDICT CONFIDENCE KIND VALUE"
_CLAIM = ("verdict", "confidence", "kind", "value")
_TOKENS = "tokens."


def rows(details: Iterable[Mapping[str, Any]], labels: Sequence[str]) -> Iterator[Row]:
    """A row for each invocation of the arms ``labels``, in the report's order; None is what is not there."""
    for detail in details:
        for label in labels:
            entry = detail["arms"].get(label, {"runs": []})
            for repeat, run in enumerate(entry["runs"], start=1):
                yield _row(detail, label, entry, repeat, run)


def measures(found: Iterable[Row]) -> list[str]:
    """What the rows have beside :data:`COLUMNS`: metrics, then tokens by key, both in alphabetical order."""
    names = {name for row in found for name in row} - COLUMNS.keys() - set(LISTS)
    return sorted(names, key=lambda name: (name.startswith(_TOKENS), name))


def _row(
    detail: Mapping[str, Any], label: str, entry: Mapping[str, Any], repeat: int, run: Mapping[str, Any]
) -> Row:
    tokens = run["tokens"] if isinstance(run["tokens"], Mapping) else {}
    gold = detail["gold"] or {}
    observed = {name: value for name, value in run.items() if value != NOT_OBSERVED}
    return {
        **{name: detail.get(name) for name in COLUMNS},
        **{name: entry[name] for name in COLUMNS if name in entry},
        **{name: observed[name] for name in COLUMNS if name in observed},
        "arm": label,
        "repeat": repeat,
        "status": _status(run),
        "error": run.get("error", run.get("score_error")),
        "block_followed": bool(run.get("block_followed")),
        "attempts": run.get("attempts", 1),
        "served_calls": len(run["calls"]) if "calls" in run else None,
        "gold": [f"{kind} {value}" for kind, values in gold.items() for value in values],
        "claims": [" ".join(map(claim.__getitem__, _CLAIM)) for claim in run["claims"] or ()],
        **(run["metrics"] or {}),
        **{f"{_TOKENS}{key}": count for key, count in tokens.items()},
    }


def _status(run: Mapping[str, Any]) -> str:
    if run["metrics"] is not None:
        return "scored"
    return "error" if "error" in run or "score_error" in run else "not run"
