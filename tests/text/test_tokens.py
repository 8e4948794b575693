from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_retrieval.text.tokens import fold, respell, terms, tokens, words

FRAGMENTS = [
    "foo",
    "Bar",
    "URL",
    "v2",
    "aB",
    "Ab",
    "_",
    "-",
    " ",
    ".",
    "\n",
    "\0",
    "é",
    "\u212a",
    "\u0130",
    "9",
]
texts = st.lists(st.sampled_from(FRAGMENTS) | st.characters(), max_size=30).map("".join)
contents = st.binary(max_size=60) | texts.map(lambda text: text.encode("utf-8", "surrogatepass"))


def slow_tokens(data: bytes) -> list[bytes]:
    """The specification's words, one byte at a time."""
    broken = []
    for place, byte in enumerate(data):
        if place and chr(byte) in string.ascii_uppercase and chr(data[place - 1]) in string.ascii_lowercase:
            broken.append(" ")
        broken.append(chr(byte))
    runs = [""]
    for character in broken:
        if character in string.ascii_letters + string.digits:
            runs[-1] += character
        else:
            runs.append("")
    return [run.lower().encode() for run in runs if run]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"HTTPServer2Go", [b"httpserver2go"]),
        (b"parseURL_v2", [b"parse", b"url", b"v2"]),
        (b"HTTPServer2Go parseURL_v2", [b"httpserver2go", b"parse", b"url", b"v2"]),
        (b'{"pr_body": "x\\nBar"}', [b"pr", b"body", b"x", b"n", b"bar"]),
        (b"a1B a1b AaA", [b"a1b", b"a1b", b"aa", b"a"]),
        (b"", []),
        (b"\xff\xfe__--", []),
        ("na\u00efve \u212aelvin".encode(), [b"na", b"ve", b"elvin"]),
    ],
)
def test_literal_tokens(text: bytes, expected: list[bytes]) -> None:
    assert tokens(text) == expected


@given(contents)
def test_tokens_are_those_of_the_specification(data: bytes) -> None:
    assert tokens(data) == slow_tokens(data)


@given(texts)
def test_terms_are_the_distinct_longer_tokens_sorted(text: str) -> None:
    seen = slow_tokens(text.encode("utf-8", "surrogatepass"))
    assert terms(text) == sorted({token for token in seen if len(token) >= 2})


def test_a_lone_surrogate_separates_tokens() -> None:
    assert terms("ab\ud800cd") == [b"ab", b"cd"]


@given(contents)
def test_words_are_runs_with_underscores_in_their_own_case(data: bytes) -> None:
    separated = "".join(
        chr(byte) if chr(byte) in string.ascii_letters + string.digits + "_" else "\n" for byte in data
    )
    assert words(data) == [word.encode() for word in separated.split("\n") if word]


@given(contents)
def test_respelling_replaces_exactly_the_two_code_points(data: bytes) -> None:
    decoded = data.decode("utf-8", "surrogateescape")
    expected = decoded.replace("\u212a", "k").replace("\u0130", "i")
    assert respell(data) == expected.encode("utf-8", "surrogateescape")


def test_only_two_code_points_outside_ascii_have_an_ascii_lower_case() -> None:
    lowered = {chr(point): chr(point).lower()[0] for point in range(128, 0x110000)}
    assert {letter: low for letter, low in lowered.items() if low.isascii()} == {"\u212a": "k", "\u0130": "i"}


def test_folding_lowers_ascii_and_joins_runs() -> None:
    assert fold("to\u212aEN \u0130D \u00c9".encode()) == "token id \u00c9".encode()


def test_respelling_copies_nothing_without_need() -> None:
    data = b"plain ASCII"
    assert respell(data) is data
