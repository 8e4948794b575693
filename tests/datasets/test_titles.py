from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_retrieval.datasets.titles import title_of


@pytest.mark.parametrize(
    ("query", "title"),
    [
        ({"pr_title": "Fix svd", "title": "no", "changed_file": "a/b.py"}, "Fix svd"),
        ({"pr_title": " \n", "title": "Second"}, "Second"),
        ({"pr_title": 3, "changed_file": "src/linalg/svd.py", "text": "long text"}, "svd"),
        ({"source": "issue", "text": "Issue title: Memory leak"}, "Issue title: Memory leak"),
        ({"text": "one\x1b[31m\ttwo\nthree\ud800"}, "one [31m two three"),
        ({"n": 3, "l": ["x"]}, ""),
        ({}, ""),
    ],
)
def test_titles(query: dict[str, Any], title: str) -> None:
    assert title_of(query) == title


def test_a_changed_file_beside_the_query() -> None:
    assert title_of({"text": "why"}, "src/ring.c") == "ring"


def test_a_long_title_ends_with_a_word() -> None:
    assert title_of({"title": "abcdefghi " * 10}) == " ".join(["abcdefghi"] * 6)
    assert title_of({"title": "x" * 100}) == "x" * 60


@given(st.dictionaries(st.sampled_from(["pr_title", "text", "changed_file"]), st.text(st.characters())))
def test_a_title_is_short_printable_text(query: dict[str, str]) -> None:
    title = title_of(query)
    assert len(title) <= 60
    assert title.isprintable()
