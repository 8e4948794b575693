"""Rows of Agent Retrieval Bench: code2test, comment2context, trace2code, edit2ripple, abstention.

The query's text and the choice of gold are the benchmark's own (``query_text_for_eval`` and
``target_gold_files`` of arXiv 2607.24882), so rankings compare with published ones.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pytest_retrieval.datasets.folds import fold_of
from pytest_retrieval.datasets.rows import Row, encodable
from pytest_retrieval.datasets.titles import title_of
from pytest_retrieval.model import Sample, distinct

UNLABELED = "no_gold_unlabeled"

_PREFERRED_GOLD = {
    "code2test": ("related_tests",),
    "comment2context": ("must_context_files", "context_files"),
}


def query_text(query: Mapping[str, Any]) -> str:
    """The text that arms see: the query object as the standard library prints it, keys sorted."""
    return json.dumps(query or {}, ensure_ascii=False, sort_keys=True)


def arb_sample(row: Row) -> Sample:
    """Read one row; what is wrong with it is noted on ``row``, and the sample is then not to be used."""
    needed = (
        "an Agent Retrieval Bench row needs id, task_type, repo and base_commit"
        ' (the short form is {"query": "…", "relevant": ["path"]})'
    )
    name, task, repo, commit = (row.string(f, needed) for f in ("id", "task_type", "repo", "base_commit"))
    query, gold, metadata = (row.mapping(field) for field in ("query", "gold", "metadata"))
    no_gold = row.flag("gold.no_gold", gold.get("no_gold"))
    organic = row.flag("metadata.organic", metadata.get("organic"))
    targets = () if no_gold else _gold(row, task, gold)
    return Sample(
        id=name,
        task=task,
        repo=row.repo(repo),
        commit=row.commit(commit),
        query_text=query_text(query),
        query=query,
        gold=targets,
        given=_given(row, task, query, gold),
        negatives=row.paths("gold.negative_distractors", gold.get("negative_distractors")),
        changed_file=changed_file_of(query),
        stratum=stratum_of(no_gold, organic),
        fold=fold_of(repo),
        title=title_of(query),
        cluster=row.optional_string("cluster"),
        skip=None if targets or no_gold else UNLABELED,
    )


def changed_file_of(query: Mapping[str, Any]) -> str | None:
    """``query.changed_file`` where it is text that can name a file, else None."""
    value = query.get("changed_file")
    return value if isinstance(value, str) and value and encodable(value) else None


def stratum_of(no_gold: bool, organic: bool) -> str:
    """``positive``, or which kind of question without an answer this is."""
    if not no_gold:
        return "positive"
    return "natural_no_gold" if organic else "counterfactual_no_gold"


def _gold(row: Row, task: str, gold: Mapping[str, Any]) -> tuple[str, ...]:
    """The first of the task's gold fields that holds a path."""
    preferred = _PREFERRED_GOLD.get(task, ())
    for field in distinct(("files", *preferred, "root_cause_files", "related_tests")):
        if paths := row.paths(f"gold.{field}", gold.get(field)):
            return paths
    return ()


def _given(row: Row, task: str, query: Mapping[str, Any], gold: Mapping[str, Any]) -> tuple[str, ...]:
    given = row.paths("gold.given_files", gold.get("given_files"))
    if given or task != "comment2context":
        return given
    for field in ("given_file", "path"):
        if query.get(field):
            return tuple(filter(None, [row.path(f"query.{field}", query[field])]))
    return ()
