"""semble's benchmark as code-search corpora: ``repos.json`` beside ``annotations/NAME.json``.

A task names files, some with lines, that answer it (``relevant``) or help (``secondary``); its nDCG@10 counts
both alike. Its category takes the place of a difficulty.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_retrieval.datasets.searchset import (
    SYMBOL,
    Findings,
    SearchQuery,
    category_of,
    golds_of,
    place_of,
    query_text_of,
    read_json,
)

CHECKOUTS = "~/.cache/semble-bench"  # where semble's own tools clone to
ANNOTATIONS = "annotations"
_REPO_KEYS = ("name", "language", "url", "revision", "benchmark_root")
_TASK_KEYS = ("query", "relevant", "secondary", "category", "repo", "seed", "related")


def corpus_rows(repositories: Sequence[Any], folder: Path, findings: Findings) -> Iterator[Any]:
    """The rows of a file of corpora that say the same; repositories without annotations are left out."""
    for number, entry in enumerate(repositories):
        where = f"repos[{number}]"
        if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
            findings.fault(where, "must be an object with a name")
            continue
        findings.unknown_keys(where, entry, _REPO_KEYS)
        name, revision = entry["name"], entry.get("revision", "")
        annotations = f"{ANNOTATIONS}/{name}.json"
        if not (folder / annotations).is_file():
            findings.warn(where, f"{name}: there is no {annotations}, so it is left out")
            continue
        root = entry.get("benchmark_root")
        yield {
            "name": name,
            "repo": entry.get("url", ""),
            "rev": str(revision)[:12],
            "commit": revision,
            "lang": entry.get("language", ""),
            "path": f"{CHECKOUTS}/{name}",
            "queries": annotations,
            "subdirs": [] if root is None else [root],
        }


def parse_tasks(data: bytes, findings: Findings) -> tuple[SearchQuery, ...]:
    """The tasks of one repository."""
    try:
        rows = read_json(data)
    except ValueError as error:
        findings.fault("the file", str(error))
        return ()
    if not isinstance(rows, list):
        findings.fault("the file", "must be a list of tasks")
        return ()
    return tuple(_task(place_of(number, row), row, findings) for number, row in enumerate(rows))


def _task(where: str, row: object, findings: Findings) -> SearchQuery:
    if not isinstance(row, dict):
        findings.fault(where, "must be an object")
        return SearchQuery("", SYMBOL, "", ())
    findings.unknown_keys(where, row, _TASK_KEYS)
    text, category = query_text_of(where, row, findings), row.get("category")
    targets = [*_listed(where, row, "relevant", findings), *_listed(where, row, "secondary", findings)]
    category = category if isinstance(category, str) and category else category_of(text)
    return SearchQuery(text, category, "", golds_of(where, targets, findings))


def _listed(where: str, row: Mapping[str, Any], name: str, findings: Findings) -> list[Any]:
    value = row.get(name, [])
    if not isinstance(value, list):
        findings.fault(where, f"{name}: must be a list")
        return []
    return [_target(entry) for entry in value]


def _target(entry: Any) -> Any:
    """A target as a gold of ours: lines only where it has both, as numbers or as digits."""
    if not isinstance(entry, dict):
        return entry
    lines = [_whole(entry.get(name)) for name in ("start_line", "end_line")]
    other = {name: value for name, value in entry.items() if name not in ("start_line", "end_line")}
    return other if None in lines else {**other, "start": lines[0], "end": lines[1]}


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, str) and value.isascii() and value.isdigit() else value
