"""The short form that people write by hand: ``{"query": "…", "relevant": ["path"]}``.

Unlike a benchmark's row it may hold nothing but the keys known here: a misspelt ``relevant`` would
otherwise lose the gold without a word.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping
from itertools import islice
from typing import Any

from pytest_retrieval.datasets.arb import changed_file_of, query_text, stratum_of
from pytest_retrieval.datasets.folds import fold_of
from pytest_retrieval.datasets.rows import Row, kind_of
from pytest_retrieval.datasets.titles import title_of
from pytest_retrieval.errors import closest
from pytest_retrieval.model import Sample, Span

TASK = "queryset"
MAX_UNKNOWN = 20  # a row with more foreign keys than this is no mistyped short form
KEYS = (
    "query",
    "relevant",
    "id",
    "repo",
    "base_commit",
    "given",
    "negatives",
    "no_gold",
    "organic",
    "task_type",
    "cluster",
    "changed_file",
)


def queryset_sample(row: Row, default: tuple[str, str] | None) -> Sample:
    """Read one row; ``default`` is the repository and commit of rows that name none.

    A query that is an object gets the text of a benchmark's row; a string is passed on verbatim.
    """
    _only_known(row, "", row.values, KEYS)
    query, text = _query(row)
    no_gold, organic = _flag(row, "no_gold"), _flag(row, "organic")
    gold, spans = _relevant(row, no_gold)
    repo, commit = _snapshot(row, default)
    changed = row.optional_string("changed_file") or changed_file_of(query)
    return Sample(
        id=row.optional_string("id") or derived_id(text, gold),
        task=row.optional_string("task_type") or TASK,
        repo=repo,
        commit=commit,
        query_text=text,
        query=query,
        gold=gold,
        given=row.paths("given", row.values.get("given")),
        negatives=row.paths("negatives", row.values.get("negatives")),
        changed_file=changed,
        stratum=stratum_of(no_gold, organic),
        fold=fold_of(repo),
        title=title_of(query, changed),
        cluster=row.optional_string("cluster"),
        gold_spans=spans,
    )


def derived_id(text: str, gold: Collection[str]) -> str:
    """The id of a row without one: it depends on the question and its answer, not on the row's place."""
    judged = json.dumps([text, sorted(gold)])
    return hashlib.sha256(judged.encode()).hexdigest()[:24]


def _only_known(row: Row, prefix: str, values: Mapping[str, Any], known: tuple[str, ...]) -> None:
    for key in islice((key for key in values if key not in known), MAX_UNKNOWN):
        hint = closest(key[:80], known) or f"; known are {', '.join(known)}"
        row.fault(f"{prefix}{key}", f"not a field of the short form{hint}")


def _query(row: Row) -> tuple[Mapping[str, Any], str]:
    value = row.values.get("query")
    if isinstance(value, dict) and value:
        return value, query_text(value)
    if isinstance(value, str) and value.strip():
        return {"text": value}, value
    what = "missing" if value is None else "empty" if isinstance(value, (str, dict)) else kind_of(value)
    row.fault("query", f"{what}; write the question as a string, or an object of its parts")
    return {}, ""


def _flag(row: Row, field: str) -> bool:
    value = row.values.get(field, False)
    if not isinstance(value, bool):
        row.fault(field, f"must be true or false, not {kind_of(value)}")
    return value is True


def _relevant(row: Row, no_gold: bool) -> tuple[tuple[str, ...], tuple[Span, ...]]:
    value = row.values.get("relevant")
    if no_gold:
        if value:
            row.fault("relevant", 'must be empty beside "no_gold": true; remove one of the two')
        return (), ()
    if not value:
        what = "missing" if value is None else "empty"
        row.fault("relevant", f'{what}; write the paths that answer the query, or "no_gold": true if none do')
        return (), ()
    gold = row.paths("relevant", value)
    entries = enumerate(value) if isinstance(value, list) else ()
    objects = ((f"relevant[{place}]", entry) for place, entry in entries if isinstance(entry, dict))
    return gold, tuple(span for field, entry in objects for span in _spans(row, field, entry))


def _spans(row: Row, field: str, entry: Mapping[str, Any]) -> Iterator[Span]:
    """The lines that one object of ``relevant`` names, if it names any."""
    _only_known(row, f"{field}.", entry, ("path", "start", "end"))
    if "start" not in entry and "end" not in entry:
        return
    start, end = entry.get("start"), entry.get("end")
    if type(start) is int and type(end) is int and 1 <= start <= end:
        yield Span(str(entry.get("path")), start, end)
    else:
        row.fault(field, "start and end must be line numbers from 1 with start <= end; write both or neither")


def _snapshot(row: Row, default: tuple[str, str] | None) -> tuple[str, str]:
    """Repository and commit of the row, completed from the one snapshot that was named for the file."""
    repo, commit = row.optional_string("repo"), row.optional_string("base_commit")
    advice = "write repo and base_commit, or name the snapshot: --snapshot [OWNER/NAME@COMMIT=]SOURCE"
    if default is not None and repo in (None, default[0]) and commit in (None, default[1]):
        return default
    if repo is None and default is None:
        row.fault("repo", f"missing; {advice}")
    if commit is None:
        row.fault("base_commit", f"missing; {advice}")
    return row.repo(repo or (default[0] if default else "")), row.commit(commit or "")
