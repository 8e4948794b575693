from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import count
from typing import Any

import numpy as np
import pytest
from hypothesis import given as with_data
from hypothesis import strategies as st

from pytest_retrieval.arms import answers
from pytest_retrieval.arms.answers import settle
from pytest_retrieval.errors import ArmError
from pytest_retrieval.model import Answer, ArmRow, Hit, Query
from tests.arms.support import snapshot_of

SNAPSHOT = snapshot_of(dict.fromkeys("abcdef", b""))


def settled(ranking: Any, *, given: tuple[str, ...] = (), limit: int = 20) -> ArmRow:
    return settle(ranking, Query("", {}, given=given, limit=limit), SNAPSHOT)


def rows() -> Iterator[str]:
    yield "b"
    yield "a"


@pytest.mark.parametrize(
    "ranking",
    [
        ["b", "a"],
        ("b", "a"),
        rows(),
        [Hit("b", 2.0), Hit("a", 1)],
        [("b", 2), ("a", 1.5)],
        [Hit("b"), ("a", 1)],
        Answer(hits=(Hit("b"), Hit("a"))),
        {"b": 1, "a": 2}.keys().__iter__(),
    ],
)
def test_an_answer_is_any_ordered_iterable(ranking: Any) -> None:
    row = settled(ranking)
    assert row.ranked == ("b", "a")
    assert not row.abstained
    assert row.error is None


def test_the_order_decides_and_scores_are_informative() -> None:
    assert settled([("a", 1), ("b", 9)]).ranked == ("a", "b")


def test_first_occurrences_then_given_files_then_the_cut() -> None:
    row = settled(["a", "b", "a", "c", "b", "d", "e"], given=("a", "x"), limit=3)
    assert row.ranked == ("b", "c", "d")
    assert row.duplicates == 2


@with_data(st.lists(st.sampled_from("abcdefgh")), st.sets(st.sampled_from("abcdefgh")), st.integers(1, 9))
def test_what_is_left_is_distinct_not_given_and_in_order(
    paths: list[str], given: set[str], limit: int
) -> None:
    row = settled(paths, given=tuple(given), limit=limit)
    left = [path for place, path in enumerate(paths) if path not in paths[:place] and path not in given]
    assert list(row.ranked) == left[:limit]
    assert row.duplicates == len(paths) - len(set(paths))
    assert row.abstained is (not left)
    assert row.unknown == sum(path in "gh" for path in left[:limit])


def test_the_first_of_repeated_hits_keeps_its_score() -> None:
    assert settled([Hit("a", 5), Hit("b", 4), Hit("a", 3)]).hits == (Hit("a", 5), Hit("b", 4))


def test_unknown_paths_are_ranked_and_counted() -> None:
    row = settled(["nowhere", "a", "\udcff"])
    assert row.ranked == ("nowhere", "a", "\udcff")
    assert row.unknown == 2


def test_nothing_left_is_an_abstention() -> None:
    assert settled([]).abstained
    assert settled(["a"], given=("a",)).abstained


def test_an_arm_may_abstain_with_files_named() -> None:
    row = settled(Answer(hits=(Hit("a"),), abstained=True, state="OUT_OF_SCOPE", packet_bytes=12))
    assert row.abstained
    assert row.ranked == ("a",)
    assert (row.state, row.packet_bytes) == ("OUT_OF_SCOPE", 12)


def test_a_refusal_answers_nothing_and_is_no_abstention() -> None:
    row = settled(Answer(hits=(Hit("a"),), refusal="no changed_file\nin query", top_score=3.0))
    assert row == ArmRow(refusal="no changed_file in query")
    assert row.error == "no changed_file in query"


def test_numbers_of_other_libraries_become_plain_ones() -> None:
    half: Any = np.float32(0.5)
    one: Any = np.int64(1)
    row = settled(Answer(hits=(Hit("a", half, one, one),), top_score=one))
    assert row.hits == (Hit("a", 0.5, 1, 1),)
    values = (row.hits[0].score, row.hits[0].start, row.top_score)
    assert [type(value) for value in values] == [float, int, int]
    assert settled([("a", Fraction(1, 4))]).hits == (Hit("a", 0.25),)


def test_huge_whole_scores_become_floats() -> None:
    assert settled([("a", 2**60)]).hits[0].score == float(2**60)
    assert isinstance(settled([("a", 2**60)]).hits[0].score, float)


@pytest.mark.parametrize(
    ("ranking", "message"),
    [
        (None, "answered a NoneType: None; an arm returns"),
        ("a", "answered a str: 'a'; an arm returns"),
        (b"a", "answered a bytes"),
        (7, "answered a int: 7"),
        ({"a"}, "answered a set"),
        (frozenset("a"), "answered a frozenset"),
        ({"a": 1.0}, "answered a dict"),
        (Answer(hits="a"), "answered a str"),  # type: ignore[arg-type]
        ([None], "row 1 of the answer: is a NoneType"),
        (["a", ["b", 1]], "row 2 of the answer: is a list"),
        ([("a", 1, 2)], "row 1 of the answer: is a tuple"),
        ([b"a"], "row 1 of the answer: is a bytes"),
        (["a", ""], "row 2 of the answer: the path is a str: ''"),
        ([(7, 1)], "the path is a int: 7"),
        ([Hit(None)], "the path is a NoneType"),  # type: ignore[arg-type]
        ([("a", math.nan)], "row 1 of the answer: the score is nan"),
        ([("a", -math.inf)], "the score is -inf"),
        ([("a", 10**400)], "the score is inf"),
        ([("a", np.float64("nan"))], "the score is nan"),
        ([("a", True)], "the score is a bool: True"),
        ([("a", "1")], "the score is a str: '1'"),
        ([("a", 1j)], "the score is a complex"),
        ([Hit("a", math.nan)], "the score is nan"),
        ([Hit("a", 1, 0, 3)], "the lines are a int: 0 to a int: 3"),
        ([Hit("a", 1, 3, 2)], "the lines are a int: 3 to a int: 2"),
        ([Hit("a", 1, 3)], "the lines are a int: 3 to a NoneType: None"),
        ([Hit("a", 1, True, 2)], "the lines are a bool: True"),
        ([Hit("a", 1, 1.0, 2)], "the lines are a float: 1.0"),  # type: ignore[arg-type]
        (Answer(top_score=math.inf), "the top_score is inf"),
        (Answer(top_score="high"), "the top_score is a str"),  # type: ignore[arg-type]
        (Answer(packet_bytes=-1), "the packet_bytes is a int: -1"),
        (Answer(packet_bytes=True), "the packet_bytes is a bool"),
        (Answer(state=3), "the state is a int: 3"),  # type: ignore[arg-type]
        (Answer(refusal=" "), "the refusal is blank"),
    ],
)
def test_what_is_no_ranking_is_refused_in_one_line(ranking: Any, message: str) -> None:
    with pytest.raises(ArmError) as caught:
        settled(ranking)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 250


def test_an_endless_answer_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "MAX_ROWS", 1_000)
    assert len(settled((f"{n}" for n in range(1_000)), limit=2_000).ranked) == 1_000
    with pytest.raises(ArmError, match="more than 1,000 rows"):
        settled(f"{n}" for n in count())
    with pytest.raises(ArmError, match="more than 1,000 rows"):
        settled("a" for _ in count())


def test_what_an_arm_raises_while_it_ranks_passes_through() -> None:
    def failing() -> Iterator[str]:
        yield "a"
        raise KeyError("lost")

    with pytest.raises(KeyError, match="lost"):
        settled(failing())
