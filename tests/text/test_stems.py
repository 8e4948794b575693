"""Stems of file names (case 38 of trial.md), and texts cut short."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_retrieval.text.cutting import CUT_MARK, truncate
from pytest_retrieval.text.stems import hard_stem, stem


@pytest.mark.parametrize(
    ("path", "expected", "hard"),
    [
        ("a/Cache.go", "cache", "cache"),
        ("cache_test.go", "cache", "cache"),
        ("test_cache.py", "cache", "cache"),
        ("x/cache.spec.ts", "cache", "cache"),
        ("cache_spec.rb", "cache", "cache"),
        ("Sources/PlayerTests.swift", "playertests", "player"),
        ("tests.py", "tests", ""),
        ("a.test.test.js", "a.test", "a.test"),
        (".env", "", ""),
        ("dir.d/README", "readme", "readme"),
    ],
)
def test_stems(path: str, expected: str, hard: str) -> None:
    assert (stem(path), hard_stem(path)) == (expected, hard)


def test_truncate() -> None:
    assert truncate("abcd", 4) == ("abcd", False)
    assert truncate("abcde", 4) == ("abcd\n[TRUNCATED]", True)
    assert len(truncate("x" * 70_000, 65_536)[0]) == 65_548
    assert truncate("a\u00e9", 2) == ("a\n[TRUNCATED]", True)  # within a character
    assert truncate("\u00e9\u00e9", 4) == ("\u00e9\u00e9", False)


@given(st.text(), st.integers(0, 30))
def test_a_cut_text_is_a_beginning(text: str, limit: int) -> None:
    shown, cut = truncate(text, limit)
    beginning = shown.removesuffix(CUT_MARK) if cut else shown
    assert text.startswith(beginning)
    assert len(beginning.encode()) <= limit
    assert cut == (len(text.encode()) > limit)
