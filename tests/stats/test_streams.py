from collections.abc import Iterator
from hashlib import sha256

import numpy as np
import pytest
from scipy.stats import chisquare

from pytest_retrieval.stats.streams import Stream

NAMES = ("all", "bm25:ident - grep", "recall@5")


def words_of_pcg64(*names: str) -> Iterator[int]:
    """The generator as O'Neill's paper gives it, in Python's integers."""
    digest = sha256("\0".join(names).encode()).digest()
    state = int.from_bytes(digest[:16], "big")
    increment = int.from_bytes(digest[16:], "big") | 1
    while True:
        state = (state * 0x2360ED051FC65DA44385DF649FCCF645 + increment) % 2**128
        folded, turn = (state >> 64) ^ (state % 2**64), state >> 122
        yield ((folded >> turn) | (folded << (64 - turn))) % 2**64


def test_indices_are_the_half_words_times_the_length() -> None:
    words = words_of_pcg64(*NAMES)
    halves = [half for word in (next(words) for _ in range(500)) for half in (word % 2**32, word >> 32)]
    assert Stream(*NAMES).indices(1000, 345).tolist() == [half * 345 // 2**32 for half in halves]


def test_signs_are_the_bits_of_the_words() -> None:
    words = words_of_pcg64(*NAMES)
    bits = [word >> place & 1 for word in (next(words) for _ in range(10)) for place in range(64)]
    assert Stream(*NAMES).signs(600).tolist() == [1.0 if bit else -1.0 for bit in bits[:600]]


def test_successive_calls_go_on_at_the_next_word() -> None:
    stream, words = Stream("x"), words_of_pcg64("x")
    assert stream.indices(1, 2**31).tolist() == [(next(words) % 2**32) >> 1]
    assert stream.indices(1, 2**31).tolist() == [(next(words) % 2**32) >> 1]


def test_another_name_is_another_stream() -> None:
    first, *others = (Stream(*names).indices(64, 1000).tolist() for names in (("a", "b"), ("b", "a"), ("a",)))
    assert first not in others


def test_a_name_may_hold_any_character() -> None:
    assert Stream("task:\ud800").indices(1, 10)[0] in range(10)


@pytest.mark.parametrize("below", [1, 2, 7, 1000])
def test_indices_are_uniform(below: int) -> None:
    counts = np.bincount(Stream("uniform", str(below)).indices(100_001, below).astype(int), minlength=below)
    assert counts.sum() == 100_001
    assert len(counts) == below
    assert below == 1 or chisquare(counts).pvalue > 0.001


def test_signs_are_fair() -> None:
    assert abs(Stream("fair").signs(1_000_000).sum()) < 3000  # three standard deviations
