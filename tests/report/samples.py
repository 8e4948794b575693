"""Small hand-made details and headers that the tests of the report and of the gates share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SOURCE = "ab" * 32
OTHER_SOURCE = "cd" * 32
COMMIT = "0" * 40


def answer(**fields: Any) -> dict[str, Any]:
    return {"ranked": [], "abstained": False, "cache_state": "NOT_APPLICABLE", **fields}


def detail(
    row: int,
    arms: Mapping[str, tuple[dict[str, Any], dict[str, float]]],
    **fields: Any,
) -> dict[str, Any]:
    """A sample; ``arms`` gives each label its answer and its measures."""
    return {
        "source": SOURCE,
        "id": f"s{row}",
        "ordinal": 0,
        "row": row,
        "task_type": "code2test",
        "repo": "acme/ring",
        "base_commit": COMMIT,
        "stratum": "positive",
        "partition": "unassigned",
        "gold": ["a.c"],
        "gold_absent": [],
        "gold_cut": [],
        "given": [],
        "query_chars": 10,
        "query_truncated": False,
        "status": "measured",
        "arms": {label: given for label, (given, _) in arms.items()},
        "metrics": {label: measured for label, (_, measured) in arms.items()},
        **fields,
    }


def positive(recall: float, hit: float, **more: float) -> dict[str, float]:
    return {"recall@5": recall, "hit@k": hit, "abstained": 0.0, "selective_success": hit, **more}


def no_gold(abstained: float) -> dict[str, float]:
    return {"abstained": abstained, "selective_success": abstained}


def header(*labels: str, of: int = 0, chosen: int = 0, **fields: Any) -> dict[str, Any]:
    facts = {"version": "1", "capabilities": {"spans": False, "timeout": None}}
    return {
        "sources": [
            {"path": "s.jsonl", "sha256": SOURCE, "rows": of, "kept": of},
            {"path": "other.jsonl", "sha256": OTHER_SOURCE, "rows": 0, "kept": 0},
        ],
        "limit": 20,
        "selection": {"of": of, "chosen": chosen, "lost": []},
        "arms": {label: {"name": label, **facts} for label in labels},
        **fields,
    }
