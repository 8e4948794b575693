"""Rows of ContextBench (arXiv 2602.05892): a problem, and the spans that people read to solve it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pytest_retrieval.datasets.arb import UNLABELED
from pytest_retrieval.datasets.problems import problem_sample
from pytest_retrieval.datasets.rows import Row, encodable, kind_of
from pytest_retrieval.model import CONTEXTBENCH, Sample, Span, path_key


def contextbench_sample(row: Row) -> Sample:
    """Read one row; what is wrong with it is noted on ``row``, and the sample is then not to be used.

    Gold are the distinct files of the spans, sorted by their bytes.
    """
    entries = row.listed("gold_context", 'write [{"file": …, "start_line": …, "end_line": …}]')
    fields = ((f"gold_context[{place}]", entry) for place, entry in enumerate(entries))
    spans = tuple(span for field, entry in fields for span in _span(row, field, entry))
    gold = tuple(sorted({span.path for span in spans}, key=path_key))
    return problem_sample(row, CONTEXTBENCH, gold, skip=UNLABELED, spans=spans)


def normalised(path: str) -> str:
    """The path of a span within its repository, exactly as ContextBench makes it.

    The prefixes are those of the containers that its spans were taken in. Else *all* leading dots and
    slashes go: ``.github/ci.yml`` becomes ``github/ci.yml``, which no tree holds; that benchmark counts so.
    """
    path = path.replace("\\", "/")
    if path.startswith("/testbed/"):
        return path.removeprefix("/testbed/")
    if path.startswith("/workspace/"):
        folder, slash, rest = path.removeprefix("/workspace/").partition("/")
        return rest if slash else folder
    return path.lstrip("/") if path.startswith("/") else path.lstrip("./")


def _span(row: Row, field: str, entry: Any) -> Iterator[Span]:
    """The span of one entry, or nothing after a fault."""
    if not isinstance(entry, dict):
        row.fault(field, f"must be an object with file, start_line and end_line, not {kind_of(entry)}")
        return
    file, start, end = (entry.get(key) for key in ("file", "start_line", "end_line"))
    path = normalised(file) if isinstance(file, str) and encodable(file) else ""
    if not path:
        row.fault(f"{field}.file", "names no file; write its path within the repository")
    elif type(start) is int and type(end) is int and 1 <= start <= end:
        yield Span(path, start, end)
    else:
        row.fault(field, "start_line and end_line must be line numbers from 1 with start_line <= end_line")
