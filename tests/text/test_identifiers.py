from __future__ import annotations

import string
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_retrieval.text.identifiers import identifiers

EXTENSIONS = ["go", "py", "rs", "ts", "tsx", "js", "java", "kt", "rb", "cs", "cpp", "c", "h"]
LETTERS = string.ascii_letters
WORD = LETTERS + string.digits + "_"
FRAGMENTS = ["foo", "Bar", "snake_case", "_", "__", "-", ".", ".py", ".ts", ".tsx", ".c", ".cpp", ".go", ".h"]
texts = st.lists(
    st.sampled_from([*FRAGMENTS, " ", "x", "9", "é", "\u212a"]) | st.characters(), max_size=14
).map("".join)
queries = st.recursive(
    texts | st.none() | st.integers() | st.booleans() | st.floats(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=8,
)


def slow_names(text: str) -> Iterator[str]:
    place = 0
    while place < len(text):
        end = place
        if text[place] in LETTERS + "_":
            while end < len(text) and text[end] in WORD:
                end += 1
            yield text[place:end]
        place = max(end, place + 1)


def slow_stems(text: str) -> Iterator[str]:
    place = 0
    while place < len(text):
        end = place
        while end < len(text) and text[end] in WORD + "-":
            end += 1
        after = end + 1
        fitting = [
            extension
            for extension in EXTENSIONS
            if text[end:after] == "." and text.startswith(extension, after)
            if text[after + len(extension) : after + len(extension) + 1] not in set(WORD)
        ]
        if end > place and fitting:
            yield text[place:end]
            place = after + len(fitting[0])
        else:
            place += 1


def slow_identifiers(query: Any) -> set[str]:
    if isinstance(query, str):
        telling = {
            name
            for name in slow_names(query)
            if "_" in name.strip("_")
            or any(a in string.ascii_lowercase and b in string.ascii_uppercase for a, b in pairwise(name))
        }
        return {name for name in telling | set(slow_stems(query)) if len(name) >= 4}
    children = query.values() if isinstance(query, dict) else query if isinstance(query, list) else ()
    return set().union(*map(slow_identifiers, children))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("call parse_url and getName, not plain or _private__", ["getName", "parse_url"]),
        ("aB a_b abC", []),  # shorter than four characters
        ("__init__ __a_b__", ["__a_b__"]),
        ("HTTPServer", []),  # two capitals make no boundary
        ("see my-file.test.tsx, util.py and it.go", ["test", "util"]),
        ("src/error-page.tsx:10", ["error-page"]),
        ("main.python main.py2 main.ts_", []),
        ("main.c++ Main.h.in", ["Main", "main"]),
        ("conf.h.py", ["conf"]),
        ("conf.xx.rs.long.py", ["long"]),
        ("9lives_left", ["lives_left"]),
        ("9lives_left.kt", ["9lives_left", "lives_left"]),
        ("name\u00e9_abc.py", ["_abc"]),
    ],
)
def test_literal_identifiers(text: str, expected: list[str]) -> None:
    assert identifiers(text) == expected


@given(queries)
def test_identifiers_are_those_of_the_specification(query: Any) -> None:
    assert identifiers({"query": query}) == sorted(slow_identifiers(query))


def test_keys_are_never_identifiers() -> None:
    assert identifiers({"changed_file": "lib/url_parse.py", "deep": [{"pr_body": ["use readAll", 7]}]}) == [
        "readAll",
        "url_parse",
    ]


def test_a_query_nested_deeper_than_python_recurses() -> None:
    query: Any = "deep_name"
    for _ in range(100_000):
        query = [query]
    assert identifiers(query) == ["deep_name"]


def test_a_long_run_takes_linear_time() -> None:
    assert identifiers("a" * 1_000_000 + "-" + "b" * 1_000_000) == []
