"""Texts out of the corpus; case 28 of engine.md."""

from __future__ import annotations

import pytest

from pytest_retrieval.engines.texts import corpus_lines, corpus_text

DATA = b"alpha\nbeta\ngamma\n"


@pytest.mark.parametrize(
    ("start", "end", "text"), [(2, 3, "beta\ngamma"), (3, 9, "gamma"), (7, 9, ""), (1, 1, "alpha")]
)
def test_28_lines_are_clamped_to_the_file(start: int, end: int, text: str) -> None:
    assert corpus_text(DATA, start, end) == text


def test_a_last_line_needs_no_end() -> None:
    assert corpus_lines(b"a\nb") == ["a", "b"]
    assert corpus_lines(b"") == []
    assert corpus_lines(b"a\r\n\n") == ["a\r", ""]
