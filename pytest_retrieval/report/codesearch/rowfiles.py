"""Rows of a scoreboard as files, one per engine and corpus: the result files of codesearch-bench.

There a peak of memory that was not measured is 0; it is absent from our rows.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pytest_retrieval import __version__
from pytest_retrieval.errors import ReportError
from pytest_retrieval.regular import read_regular
from pytest_retrieval.report.canonical import PROFILE
from pytest_retrieval.report.codesearch.searches import Searches
from pytest_retrieval.report.read import read_report
from pytest_retrieval.report.shapes import (
    MisfitError,
    Shape,
    anything,
    count,
    flag,
    list_of,
    map_of,
    matching,
    number,
    optional,
    record,
    text,
)
from pytest_retrieval.report.stored import UNKNOWN, StoredReport
from pytest_retrieval.report.write import write_report

_quality = record(
    {
        "queries": count,
        "recall": record(dict.fromkeys(("5", "10", "20"), number)),
        "mrr": number,
        "zero_miss": number,
    }
)
_HOST = ("platform", "cpus", "python", "workers")
_object: Shape = map_of(anything)
_filled = matching(r"(?s).+", "a text that is not empty")
_PEAKS = ("peak_rss_mb", "tree_peak_rss_mb", "query_peak_rss_mb")
_METRICS: Mapping[str, Shape] = {
    "file": _quality,
    "chunk": _quality,
    "slots_min": count,
    "slots_mean": number,
}
_row = record(
    {
        "engine": _filled,
        "corpus": _filled,
        "cost": record(
            {"index_seconds": number, "query_seconds": number},
            {
                **dict.fromkeys(("files_per_sec", "chunks_per_sec", *_PEAKS), number),
                **dict.fromkeys(("query_p50_seconds", "query_p95_seconds", "index_bytes"), number),
                "index_state": text,
                "cold": flag,
                "answer_tokens": map_of(anything),
            },
        ),
    },
    {
        **_METRICS,
        "lang": text,
        "tier": text,
        "files": count,
        "chunks": count,
        "indexed_tree": text,
        "spanless_hits": count,
        "tokens_from_corpus": flag,
        "unequal_trees": flag,
        "file_granularity_only": flag,
        "slots_recorded": flag,
        "by_difficulty": optional(map_of(_quality)),
        "wide": optional(map_of(_quality)),
        "wide_tokens": optional(map_of(number)),
        "misses": optional(list_of(_object)),
        "ext": _object,
    },
)


def write_rows(rows: Iterable[Mapping[str, Any]], folder: Path) -> list[Path]:
    """Write each row to ``folder/ENGINE__CORPUS.json``; what was there under that name is replaced.

    Raises:
        ReportError: two rows would go to one file, or one cannot be written.
    """
    named = [(folder / _name(row), row) for row in rows]
    paths = [path for path, _ in named]
    if len(set(paths)) < len(paths):
        raise ReportError(f"{folder}: two rows would have one file name; give the arms other labels")
    folder.mkdir(parents=True, exist_ok=True)
    for path, row in named:
        whole = _outer({**row, "cost": {_PEAKS[0]: 0, **row["cost"]}})
        shown = json.dumps(whole, indent=2, sort_keys=True, ensure_ascii=False)
        write_report(path, [shown.encode("utf-8", "surrogatepass")])
    return paths


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The rows of a result file, of all of a folder, or of a report.

    Raises:
        ReportError: one of them is no result file; or there is none.
    """
    if path.is_dir():
        rows = [row for file in sorted(path.glob("*.json")) for row in read_rows(file)]
        if not rows:
            raise ReportError(f"{path}: holds no result file (ENGINE__CORPUS.json)")
        return rows
    document = _document(path)
    if isinstance(document, dict) and document.get("profile") == PROFILE:
        return _of_report(path, document)
    return [_checked(path, document)]


def _of_report(path: Path, document: Mapping[str, Any]) -> list[dict[str, Any]]:
    if "codesearch" not in document:
        raise ReportError(f"{path}: the report has no code search (suite codesearch)")
    stored = read_report(path)
    searches = Searches(stored.arms)
    for place, detail in enumerate(stored.details()):
        searches.add((0, place, 0, ""), detail)
    contended = any(environment.get("contended") is True for environment in stored.environments)
    rows = [_outer(row, contended=contended) for row in searches.rows(stored.snapshots)]
    return [{**row, "ext": {**row["ext"], **_told(stored, row["engine"])}} for row in rows]


def _told(stored: StoredReport, engine: str) -> dict[str, Any]:
    """What a report says of the engine and of the machine; of several machines, nothing."""
    told: dict[str, Any] = {"engine_version": stored.arms[engine].get("version", UNKNOWN)}
    if len(stored.environments) == 1:
        (environment,) = stored.environments
        told["host"] = {name: environment[name] for name in _HOST if name in environment}
        told |= {"started": environment["started_at"]} if "started_at" in environment else {}
    return told


def _document(path: Path) -> Any:
    try:
        return json.loads(read_regular(path))
    except OSError as error:
        raise ReportError(f"{path}: cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise ReportError(f"{path}: not JSON ({error})") from error


def _checked(path: Path, row: Any) -> dict[str, Any]:
    """The row, with empty lists for null ones, as Go writes them."""
    try:
        _row(row)
    except MisfitError as fault:
        raise ReportError(f"{path}: {fault}") from None
    failed = row.get("ext", {}).get("status") == "failed"
    if not failed and (missing := _METRICS.keys() - row.keys()):
        raise ReportError(f"{path}: the row has no {min(missing)!r}")
    nothing: dict[str, Any] = {"misses": [], "by_difficulty": {}, "wide": {}}
    filled = {name: empty for name, empty in nothing.items() if row.get(name) is None and not failed}
    cost = {name: value for name, value in row["cost"].items() if value or name not in _PEAKS}
    return {**row, **filled, "cost": cost}


def _outer(row: Mapping[str, Any], *, contended: bool = False) -> dict[str, Any]:
    """A row that stands alone: with what the report says around it."""
    ext = {"harness_version": __version__, **row.get("ext", {})}
    if contended:
        ext["contended"] = True
    return {**row, "ext": ext}


def _name(row: Mapping[str, Any]) -> str:
    return "__".join(re.sub(r"[^A-Za-z0-9._-]", "_", row[part]) for part in ("engine", "corpus")) + ".json"
