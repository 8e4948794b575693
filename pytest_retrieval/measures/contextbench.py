"""ContextBench's final-context measures (arXiv 2602.05892), of files and of lines.

Coverage is shared over gold, 1 where the gold is empty; precision is shared over predicted, 1 where nothing
is predicted. An answer here names files, and a file predicts all of its lines, so line precision is a lower
bound for an arm that would show less of each. Symbols are not measured.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from pytest_retrieval.model import Span

Intervals = dict[str, list[tuple[int, int]]]  # by path; first and last line of each


def file_coverage(ranked: Sequence[str], gold: Collection[str]) -> float:
    """Share of the gold files that are ranked."""
    return _share(len(set(ranked).intersection(gold)), len(set(gold)))


def file_precision(ranked: Sequence[str], gold: Collection[str]) -> float:
    """Share of the ranked files that are gold."""
    return _share(len(set(ranked).intersection(gold)), len(set(ranked)))


def line_coverage(ranked: Sequence[str], spans: Iterable[Span], lines: Mapping[str, int]) -> float:
    """Share of the gold lines that ranked files have; ``lines`` gives the length of each file that exists."""
    merged = merged_intervals(spans)
    return _share(_shared_lines(ranked, merged, lines), _length(merged))


def line_precision(ranked: Sequence[str], spans: Iterable[Span], lines: Mapping[str, int]) -> float:
    """Share of the ranked files' lines that are gold; ``lines`` gives the length of each file that exists."""
    predicted = sum(lines.get(path, 0) for path in set(ranked))
    return _share(_shared_lines(ranked, merged_intervals(spans), lines), predicted)


def merged_intervals(spans: Iterable[Span]) -> Intervals:
    """The lines of ``spans`` as intervals that neither overlap nor touch, in order."""
    merged: Intervals = {}
    for span in sorted(spans, key=lambda span: span.start):
        intervals = merged.setdefault(span.path, [])
        if intervals and span.start <= intervals[-1][1] + 1:
            intervals[-1] = (intervals[-1][0], max(intervals[-1][1], span.end))
        else:
            intervals.append((span.start, span.end))
    return merged


def _shared_lines(ranked: Sequence[str], merged: Intervals, lines: Mapping[str, int]) -> int:
    """How many gold lines lie within the ranked files; a span may reach beyond the end of its file."""
    return sum(
        max(0, min(end, lines.get(path, 0)) - start + 1)
        for path in set(ranked)
        for start, end in merged.get(path, ())
    )


def _length(merged: Intervals) -> int:
    return sum(end - start + 1 for intervals in merged.values() for start, end in intervals)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0
