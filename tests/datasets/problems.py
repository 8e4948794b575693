"""Rows of the sets of problems, for the tests of this room."""

from __future__ import annotations

import json
from typing import Any

from tests.datasets.rows import COMMIT

PATCH = "diff --git a/ring.c b/ring.c\n--- a/ring.c\n+++ b/ring.c\n@@ -1 +1 @@\n-a\n+b\n"


def context_row(*spans: tuple[str, int, int], **fields: Any) -> dict[str, Any]:
    """A row of ContextBench's shape with ``spans`` (file, start, end) for gold, ``fields`` put over it."""
    gold = [{"file": file, "start_line": start, "end_line": end} for file, start, end in spans]
    row: dict[str, Any] = {
        "instance_id": "acme__ring-7",
        "repo": "acme/ring",
        "base_commit": COMMIT,
        "problem_statement": "The ring\n  loses its tail.",
        "gold_context": json.dumps(gold),
    }
    return row | fields


def patch_row(**fields: Any) -> dict[str, Any]:
    """A row of SWE-bench's shape, with ``fields`` put over it."""
    row = context_row(**{"patch": PATCH, **fields})
    del row["gold_context"]
    return row
