"""Lines of the corpus."""

from __future__ import annotations

from pytest_retrieval.engines.texts import corpus_lines


def test_a_last_line_needs_no_end() -> None:
    assert corpus_lines(b"a\nb") == ["a", "b"]
    assert corpus_lines(b"") == []
    assert corpus_lines(b"a\r\n\n") == ["a\r", ""]
