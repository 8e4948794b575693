"""What a report of rankings holds in this project's profile, field by field, as it is checked when read.

Fields that are not named here are not used, and may be anything.
"""

from __future__ import annotations

from typing import Any

from pytest_retrieval.arms.observed import COLD_FIRST, HIT_FIRST
from pytest_retrieval.costs import INDEX_STATES
from pytest_retrieval.measures.names import IN_TOKENS
from pytest_retrieval.report.shapes import (
    LONGEST_ANSWER,
    MisfitError,
    Shape,
    any_number,
    anything,
    count,
    flag,
    list_of,
    map_of,
    matching,
    measure,
    number,
    one_of,
    record,
    text,
    whole,
)

_STRATA = ("positive", "natural_no_gold", "counterfactual_no_gold")

_asked = matching(r"[a-z][a-z0-9_]*@(k|[1-9][0-9]?)", "a measure such as ndcg@10")
_digest = matching(r"[0-9a-f]{64}", "a SHA-256 in lower-case hex")
_label = matching(r"[A-Za-z0-9_.+:-]+", "the label of an arm (letters, digits and _.+:-)")
_paths = list_of(text, distinct=True)
_shares, _prices = map_of(measure), record({}, dict.fromkeys(IN_TOKENS, number))
_line = whole(1, 1 << 53)


def _measures(value: Any) -> None:
    """Measures by name: rates and counts, and prices in tokens, which have no bound."""
    _prices(value)
    _shares({name: item for name, item in value.items() if name not in IN_TOKENS})


def _span(value: Any) -> None:
    """A first and a last line."""
    list_of(_line)(value)
    if len(value) != 2:
        raise MisfitError("a first and a last line", value)


_slots = list_of(record({"path": text, "spans": list_of(_span)}, {"tokens": count}))
_gold = record({"path": text}, {"start": _line, "end": _line, "symbol": text})
_searched = record(
    {
        "query": text,
        "corpus": text,
        "lang": text,
        "difficulty": text,
        "subsystem": text,
        "tree": text,
        "gold": list_of(_gold),
    }
)

_held = record(
    {"bytes": count},
    {"binary": flag, "unsearched": flag, "holds": count, "held": list_of(text), "lacking": list_of(text)},
)
_explain = record(
    {"query": text, "terms": count}, {"title": text, "negatives": _paths, "gold": map_of(_held)}
)

_cost = record(
    {},
    {
        "index_seconds": number,
        "index_state": one_of(*INDEX_STATES),
        **dict.fromkeys(("index_bytes", "index_chunks"), count),
        **dict.fromkeys(("index_peak_rss", "index_tree_rss", "query_peak_rss"), count),
        **dict.fromkeys(("reply_tokens", "schema_tokens", "named_tokens"), count),
    },
)
_answer = record(
    {"ranked": _paths, "abstained": flag, "cache_state": text},
    {
        "state": text,
        "top_score": any_number,
        "error": text,
        "refused": flag,
        "duplicates": count,
        "unknown": count,
        "packet_bytes": count,
        "wall_ms": number,
        "build_ms": number,
        "cold_wall_ms": number,
        "matched_order": one_of(COLD_FIRST, HIT_FIRST),
        "cost": _cost,
        "nearest": text,
        "file_only": flag,
        "priced": flag,
        "slots": record({"0": _slots}, dict.fromkeys(("1", "2", "3"), _slots)),
        "beyond": record({"of": count, "ranks": map_of(_line)}),
    },
)
DETAIL = record(
    {
        "source": _digest,
        "id": text,
        "ordinal": count,
        "row": count,
        "task_type": text,
        "repo": text,
        "base_commit": text,
        "stratum": one_of(*_STRATA),
        "partition": text,
        "gold": _paths,
        "gold_absent": _paths,
        "gold_cut": _paths,
        "given": _paths,
        "query_chars": count,
        "query_truncated": flag,
        "status": one_of("measured", "fault", "crashed"),
        "arms": map_of(_answer, _label),
        "metrics": map_of(_measures, _label),
    },
    {
        "query_sha256": _digest,
        "cluster": text,
        "attempts": count,
        "ceiling": _measures,
        "anchor_bearing": flag,
        "anchors": map_of(count),
        "anchors_strict": map_of(count),
        "gold_spans": list_of(record({"path": text, "start": _line, "end": _line})),
        "gold_symbols": list_of(text),
        "lines": map_of(count),
        "negatives": _paths,
        "codesearch": _searched,
        "explain": _explain,
    },
)
_object: Shape = map_of(anything)
HEAD = record(
    {
        "kind": one_of("bench", "codesearch"),
        "protocol": one_of("house", "arb"),
        "limit": whole(1, LONGEST_ANSWER),
        "sources": list_of(
            record(
                {"path": text, "sha256": _digest, "rows": count, "kept": count},
                {"warnings": list_of(text)},
            )
        ),
        "selection": record(
            {
                "of": count,
                "chosen": count,
                "lost": list_of(record({"source": _digest, "id": text, "ordinal": count, "why": text})),
            }
        ),
        "arms": map_of(
            record({"name": text, "version": text, "capabilities": _object}, {"baseline": flag}), _label
        ),
    },
    {
        "arm_order": list_of(_label, distinct=True),
        "skipped": map_of(count),
        "snapshots": map_of(record({}, {"tree": _digest})),
        "environment": record({}, {"reports": list_of(_object)}),
        "paired": map_of(_object),
        "registration": record({}, {"corvint_sha256": text}),
        "corvint": record({"version": text, "sha256": _digest}),
        "measures": list_of(_asked, distinct=True),
    },
)
