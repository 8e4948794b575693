"""Why a gold file was missed: what a sample's row says beyond measures, where a run is asked to explain.

Everything here is a fact of the sample, its snapshot or one arm's ranking, never of the other arms, so that
explained reports merge like others. Arms are asked without gold.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import Any, Protocol, runtime_checkable

from pytest_retrieval.arms.answers import MAX_ROWS
from pytest_retrieval.bench.detail import TRUNCATED_ABOVE
from pytest_retrieval.errors import SnapshotError
from pytest_retrieval.model import ArmRow, Query, Sample
from pytest_retrieval.snapshots.base import Snapshot, TreeFile
from pytest_retrieval.snapshots.paths import is_walked
from pytest_retrieval.text.tokens import terms, tokens

TERMS_SHOWN = (
    40  # of those that a gold file holds, and of those that it lacks: the longest, for these are rare
)

_LOGGER = logging.getLogger(__name__)


@runtime_checkable
class Ranker(Protocol):
    """An arm that can rank beyond the limit of its query."""

    def rank_all(self, query: Query) -> Iterable[str]:
        """Every file that the arm ranks for ``query``, best first."""


def completed(row: ArmRow, arm: object, query: Query, sample: Sample) -> ArmRow:
    """``row`` with the ranking beyond its limit, where gold was missed and the arm can tell.

    The arm learns nothing but the query that it was asked, and no time is taken.
    """
    if row.error is not None or row.rest or set(sample.gold) <= set(row.ranked):
        return row
    if not isinstance(arm, Ranker):
        return row
    # A courtesy, as a diagnosis is: one that fails spoils nothing.
    try:
        every = list(dict.fromkeys(islice(arm.rank_all(query), MAX_ROWS)))
    except Exception as error:  # noqa: BLE001
        _LOGGER.warning("ranking beyond the limit failed: %s: %s", type(error).__name__, error)
        return row
    shown = set(row.ranked).union(query.given)
    return replace(row, rest=tuple(path for path in every if path not in shown))


def explain(
    detail: Mapping[str, Any], sample: Sample, rows: Mapping[str, ArmRow], snapshot: Snapshot | None
) -> dict[str, Any]:
    """``detail`` with its ``explain``, and the ranks ``beyond`` the limit in the answers that know them."""
    answers = {label: _told(detail["arms"][label], row, sample) for label, row in rows.items()}
    return {**detail, "arms": answers, "explain": explanation(sample, snapshot)}


def explanation(sample: Sample, snapshot: Snapshot | None) -> dict[str, Any]:
    """The query's title and beginning, and what the snapshot knows of gold files in it.

    Without a snapshot there is no ``gold``. ``terms`` counts the distinct terms of the whole query.
    """
    sought = [term.decode() for term in terms(sample.query_text)]
    found: dict[str, Any] = {"query": sample.query_text[:TRUNCATED_ABOVE], "terms": len(sought)}
    if sample.title:
        found["title"] = sample.title
    if snapshot is not None:
        present = {file.path: file for file in snapshot.files if file.path in set(sample.gold)}
        found["gold"] = {path: _facts(file, sought, snapshot) for path, file in present.items()}
    return found


def _facts(file: TreeFile, sought: Iterable[str], snapshot: Snapshot) -> dict[str, Any]:
    """Size, kind, and the terms of the query that the file holds as tokens, of text alone."""
    facts: dict[str, Any] = {"bytes": file.size}
    if not file.text:
        return {**facts, "binary": True}
    if not is_walked(file.path):
        facts["unsearched"] = True
    with suppress(SnapshotError):  # what cannot be read any more is simply not told
        held = {token.decode() for token in tokens(snapshot.read(file.path))}
        holds = [term for term in sought if term in held]
        lacks = [term for term in sought if term not in held]
        facts |= {"holds": len(holds), "held": _longest(holds), "lacking": _longest(lacks)}
    return facts


def _longest(words: Iterable[str]) -> list[str]:
    return sorted(words, key=lambda word: (-len(word), word))[:TERMS_SHOWN]


def _told(answer: Mapping[str, Any], row: ArmRow, sample: Sample) -> dict[str, Any]:
    """``answer`` with the ranks of gold beyond the limit, and of how many files, where that is known."""
    gold = set(sample.gold)
    if not row.rest or gold <= set(row.ranked):
        return dict(answer)
    first = len(row.ranked) + 1
    ranks = {path: rank for rank, path in enumerate(row.rest, first) if path in gold}
    return {**answer, "beyond": {"of": len(row.ranked) + len(row.rest), "ranks": ranks}}
