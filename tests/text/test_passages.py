from __future__ import annotations

from pytest_retrieval.text.passages import passages

TEXT = b"\n".join([b"alpha", *[b"-"] * 30, b"Beta", b"alpha beta", *[b"-"] * 40, b"beta"]) + b"\n"


def test_the_lines_with_most_words_come_first() -> None:
    assert passages(TEXT, [b"alpha", b"beta"], 1) == [(32, 33)]


def test_further_passages_do_not_overlap() -> None:
    found = passages(TEXT, [b"alpha", b"beta"], 3)
    assert found[0] == (32, 33)
    assert sorted(found[1:]) == [(1, 1), (74, 74)]


def test_a_passage_is_twenty_lines_at_most() -> None:
    assert passages(b"x\n" * 50, [b"x"], 3) == [(1, 20), (21, 40), (41, 50)]


def test_without_a_word_there_is_none() -> None:
    assert passages(TEXT, [], 3) == []
    assert passages(TEXT, [b"gamma"], 3) == []
    assert passages(b"", [b"gamma"], 3) == []
