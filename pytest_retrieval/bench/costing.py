"""What asking an arm cost: what it tells of itself, and what its words cost an agent that reads them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from weakref import WeakKeyDictionary

from pytest_retrieval.costs import Cost
from pytest_retrieval.measures.spans import tokens_of
from pytest_retrieval.snapshots.base import Snapshot

# Tokens of files by path: many answers name the same ones.
_COUNTED: WeakKeyDictionary[Snapshot, dict[str, int]] = WeakKeyDictionary()


def cost_of(arm: object) -> Cost:
    """What ``arm``, which answered a query, tells of its costs; an object of one's own need tell nothing."""
    told = arm.costs() if hasattr(arm, "costs") else Cost()
    reply, schema = getattr(arm, "reply", None), getattr(arm, "tool_schema", None)
    return replace(
        told,
        reply_tokens=None if reply is None else tokens_of(reply),
        schema_tokens=None if schema is None else tokens_of(schema),
    )


def with_named(cost: Cost | None, paths: Iterable[str], snapshot: Snapshot) -> Cost:
    """``cost`` with the tokens of the whole files ``paths``, as far as the corpus holds them.

    Raises:
        SnapshotError: a file cannot be read.
    """
    known = _COUNTED.setdefault(snapshot, {})
    total = 0
    for path in paths:
        if path in snapshot:
            if path not in known:
                known[path] = tokens_of(snapshot.text(path))
            total += known[path]
    return replace(cost or Cost(), named_tokens=total)
