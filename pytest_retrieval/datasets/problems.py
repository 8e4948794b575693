"""What ContextBench, SWE-bench and Loc-Bench share: their queries are statements of a problem."""

from __future__ import annotations

from pytest_retrieval.datasets.folds import fold_of
from pytest_retrieval.datasets.rows import Row
from pytest_retrieval.datasets.titles import title_of
from pytest_retrieval.model import Sample, Span

COLUMNS = (
    "instance_id",
    "repo",
    "base_commit",
    "problem_statement",
    "gold_context",
    "patch",
    "edit_functions",
)


def problem_sample(
    row: Row,
    task: str,
    gold: tuple[str, ...],
    *,
    skip: str,
    spans: tuple[Span, ...] = (),
    symbols: tuple[str, ...] = (),
) -> Sample:
    """The sample of a row; its query text is the statement verbatim. ``skip`` is why, if it has no gold."""
    needed = f"a row of {task} needs instance_id, repo, base_commit and problem_statement"
    fields = ("instance_id", "repo", "base_commit", "problem_statement")
    name, repo, commit, statement = (row.string(field, needed) for field in fields)
    query = {"problem_statement": statement}
    return Sample(
        id=name,
        task=task,
        repo=row.repo(repo),
        commit=row.commit(commit),
        query_text=statement,
        query=query,
        gold=gold,
        fold=fold_of(repo),
        title=title_of(query),
        skip=None if gold else skip,
        gold_spans=spans,
        gold_symbols=symbols,
    )
