"""Texts bounded in bytes: case 56 of the trial's specification, with its repair."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_retrieval.text.cutting import CUT_BYTES, CUT_MARK, truncate


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("abcd", 4, ("abcd", False)),
        ("abcde", 4, ("abcd\n[TRUNCATED]", True)),
        ("", 0, ("", False)),
        ("a", 0, ("\n[TRUNCATED]", True)),
        # As found a cut fell inside a character, which a reader could not give back (section 25-12).
        ("aé", 2, ("a\n[TRUNCATED]", True)),
        ("é", 2, ("é", False)),
        ("ab😀", 5, ("ab\n[TRUNCATED]", True)),
    ],
)
def test_case_56_bytes_and_whole_characters(text: str, limit: int, expected: tuple[str, bool]) -> None:
    assert truncate(text, limit) == expected


def test_case_56_a_context_at_its_bound() -> None:
    assert CUT_BYTES == 12
    cut, _ = truncate("x" * 70_000, 65_536)
    assert len(cut.encode()) == 65_548


@given(st.text(st.characters(codec="utf-8")), st.integers(0, 200))
def test_what_is_kept_is_the_longest_beginning_that_fits(text: str, limit: int) -> None:
    found, cut = truncate(text, limit)
    assert cut == (len(text.encode()) > limit)
    kept = found.removesuffix(CUT_MARK) if cut else found
    assert text.startswith(kept)
    assert len(kept.encode()) <= limit or not cut
    assert not cut or len(text[: len(kept) + 1].encode()) > limit
