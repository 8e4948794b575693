"""ContextBench's measures: by hand, and against counting single lines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_retrieval.measures.contextbench import (
    file_coverage,
    file_precision,
    line_coverage,
    line_precision,
    merged_intervals,
)
from pytest_retrieval.model import Span

SPANS = (Span("a.c", 3, 5), Span("a.c", 6, 8), Span("b.c", 2, 3))
GOLD = ("a.c", "b.c")
LINES = {"a.c": 10, "n.md": 2}


def test_case_101() -> None:
    ranked = ("a.c", "n.md")
    assert file_coverage(ranked, GOLD) == 0.5
    assert file_precision(ranked, GOLD) == 0.5
    assert line_coverage(ranked, SPANS, LINES) == 6 / 8
    assert line_precision(ranked, SPANS, LINES) == 6 / 12


def test_case_101_of_an_empty_answer() -> None:
    assert (file_coverage((), GOLD), file_precision((), GOLD)) == (0.0, 1.0)
    assert (line_coverage((), SPANS, {}), line_precision((), SPANS, {})) == (0.0, 1.0)


def test_empty_gold_is_covered() -> None:
    assert (file_coverage(("x",), ()), line_coverage(("x",), (), {"x": 3})) == (1.0, 1.0)
    assert (file_precision(("x",), ()), line_precision(("x",), (), {"x": 3})) == (0.0, 0.0)


def test_a_missing_gold_file_still_counts_its_lines_and_predicts_none() -> None:
    assert line_coverage(("b.c", "a.c"), SPANS, LINES) == 6 / 8
    assert line_precision(("b.c",), SPANS, LINES) == 1.0
    assert file_coverage(("b.c", "a.c"), GOLD) == 1.0


def test_a_span_beyond_the_end_of_its_file() -> None:
    assert line_coverage(("a.c",), (Span("a.c", 9, 12), Span("a.c", 20, 21)), LINES) == 2 / 6


@pytest.mark.parametrize(
    ("spans", "merged"),
    [
        ([(1, 3), (4, 6)], [(1, 6)]),
        ([(1, 3), (5, 6)], [(1, 3), (5, 6)]),
        ([(4, 9), (1, 20), (3, 3)], [(1, 20)]),
        ([(7, 7), (7, 7)], [(7, 7)]),
    ],
)
def test_overlapping_and_touching_spans_merge(
    spans: list[tuple[int, int]], merged: list[tuple[int, int]]
) -> None:
    assert merged_intervals(Span("a", start, end) for start, end in spans) == {"a": merged}


PATHS = st.sampled_from("abcd")
SPAN = st.builds(
    lambda path, start, more: Span(path, start, start + more), PATHS, st.integers(1, 9), st.integers(0, 5)
)


@given(st.lists(SPAN, max_size=8), st.lists(PATHS, unique=True), st.dictionaries(PATHS, st.integers(0, 12)))
def test_agrees_with_counting_lines(spans: list[Span], ranked: list[str], lines: dict[str, int]) -> None:
    gold = {(span.path, line) for span in spans for line in range(span.start, span.end + 1)}
    predicted = {(path, line) for path in ranked for line in range(1, lines.get(path, 0) + 1)}
    shared = len(gold & predicted)
    assert line_coverage(ranked, spans, lines) == (shared / len(gold) if gold else 1)
    assert line_precision(ranked, spans, lines) == (shared / len(predicted) if predicted else 1)
