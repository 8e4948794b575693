from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pytest_retrieval.index.growing import GrowingLexicon, Lexicons
from pytest_retrieval.index.lexicon import Lexicon
from pytest_retrieval.index.vocabulary import Integers, Vocabulary

WORDS = st.text("abB_", min_size=1, max_size=4).map(str.encode)


def covered(lexicon: GrowingLexicon, vocabulary: Vocabulary, words: list[bytes]) -> tuple[Lexicons, Integers]:
    numbers = vocabulary.number(words)
    used = np.zeros(len(vocabulary), bool)
    used[numbers] = True
    found, items = lexicon.covering(vocabulary, used)
    return found, items[numbers]


@given(st.lists(st.lists(WORDS, unique=True), max_size=8), WORDS)
def test_every_snapshot_finds_its_words(snapshots: list[list[bytes]], needle: bytes) -> None:
    vocabulary, lexicon = Vocabulary(), GrowingLexicon()
    for words in snapshots:
        found, items = covered(lexicon, vocabulary, words)
        assert len(set(items.tolist())) == len(words)
        for ask in ("holding", "holding_token", "equal"):
            argument = needle if ask == "equal" else needle.lower().replace(b"_", b"a")
            expected = getattr(Lexicon(words), ask)(argument).tolist()
            answer = getattr(found, ask)(argument)
            assert (np.diff(answer) >= 0).all()
            known = {item: row for row, item in enumerate(items.tolist())}
            assert sorted(known[item] for item in answer.tolist() if item in known) == expected
        assert found.token_counts[items].tolist() == Lexicon(words).token_counts.tolist()


def test_a_few_new_words_leave_the_rest_alone() -> None:
    vocabulary, lexicon = Vocabulary(), GrowingLexicon()
    words = [b"word%d" % number for number in range(100)]
    first, items = covered(lexicon, vocabulary, words)
    again, same = covered(lexicon, vocabulary, words)
    assert again is first
    assert same.tolist() == items.tolist()
    grown, more = covered(lexicon, vocabulary, [*words, b"new", b"newer"])
    assert grown.size == 102
    assert more[:100].tolist() == items.tolist()


def test_many_new_words_and_much_smaller_snapshots_start_anew() -> None:
    vocabulary, lexicon = Vocabulary(), GrowingLexicon()
    words = [b"word%d" % number for number in range(100)]
    covered(lexicon, vocabulary, words)
    other = [b"other%d" % number for number in range(50)]
    assert covered(lexicon, vocabulary, other)[0].size == 50
    assert covered(lexicon, vocabulary, other[:5])[0].size == 5


def test_another_vocabulary_starts_anew() -> None:
    lexicon = GrowingLexicon()
    covered(lexicon, Vocabulary(), [b"one", b"two"])
    found, items = covered(lexicon, Vocabulary(), [b"three"])
    assert (found.size, items.tolist()) == (1, [0])
