from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_retrieval.index.lexicon import Lexicon
from pytest_retrieval.text.tokens import tokens

pieces = st.sampled_from([b"a", b"A", b"b", b"aB", b"Ba", b"9", b"_", b"foo", b"Foo", b"aa", b"-", b"\xff"])
items = st.lists(st.lists(pieces, max_size=6).map(b"".join), max_size=12)
needles = st.lists(st.sampled_from([b"a", b"b", b"9", b"foo", b"oo", b"aa"]), min_size=1, max_size=4).map(
    b"".join
)


def repeated(counts: list[int]) -> list[int]:
    return [item for item, count in enumerate(counts) for _ in range(count)]


@given(items, needles)
def test_substrings_are_counted_as_bytes_counts_them(texts: list[bytes], needle: bytes) -> None:
    expected = repeated([text.lower().count(needle) for text in texts])
    assert Lexicon(texts).holding(needle).tolist() == expected


@given(items, needles)
def test_tokens_are_found_where_splitting_finds_them(texts: list[bytes], needle: bytes) -> None:
    expected = repeated([tokens(text).count(needle) for text in texts])
    assert Lexicon(texts).holding_token(needle).tolist() == expected


@given(items)
def test_tokens_are_counted(texts: list[bytes]) -> None:
    assert Lexicon(texts).token_counts.tolist() == [len(tokens(text)) for text in texts]


@given(items, st.lists(pieces, min_size=1, max_size=3).map(b"".join))
def test_an_item_equals_only_in_its_own_case(texts: list[bytes], wanted: bytes) -> None:
    expected = [number for number, text in enumerate(texts) if re.fullmatch(re.escape(wanted), text)]
    assert Lexicon(texts).equal(wanted).tolist() == expected


@pytest.mark.parametrize("texts", [[], [b""], [b"", b""]])
def test_empty_lexicons_answer_nothing(texts: list[bytes]) -> None:
    lexicon = Lexicon(texts)
    for needle in (b"a", b"ab", b"abcdef"):
        assert lexicon.holding(needle).size == 0
        assert lexicon.holding_token(needle).size == 0
        assert lexicon.equal(needle).size == 0
    assert lexicon.token_counts.tolist() == [0] * len(texts)


def test_a_needle_longer_than_all_text() -> None:
    assert Lexicon([b"ab"]).holding(b"abababab").size == 0


def test_a_break_inside_is_no_token_though_both_ends_are() -> None:
    assert Lexicon([b"fooBar", b"foobar", b"foo_bar"]).holding_token(b"foobar").tolist() == [1]
