"""Literal cases of the specification of code-search engines (engine.md, section 18), by their numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from pytest import approx

from pytest_retrieval.engines.collapse import collapse
from pytest_retrieval.engines.output import Lines, Result
from pytest_retrieval.measures import spans
from pytest_retrieval.measures.spans import answers, chunk_ranks, file_ranks, quality
from pytest_retrieval.model import Gold, Slot, distinct

CACHE = Gold("lib/cache.py", 55, 70)
OTHERS = [Slot(f"other{number}") for number in range(20)]


def slot(path: str, *found: tuple[int, int]) -> Slot:
    return Slot(path, found)


def named(*paths: str) -> list[Slot]:
    return [Slot(path) for path in paths]


@pytest.mark.parametrize(
    ("hit", "gold", "file", "chunk"),
    [
        pytest.param(slot("lib/cache.py", (40, 62)), CACHE, True, True, id="1"),
        pytest.param(slot("lib/cache.py", (40, 54)), CACHE, True, False, id="2-adjacent"),
        pytest.param(slot("lib/cache.py", (70, 90)), CACHE, True, True, id="3-one-line"),
        pytest.param(slot("lib/cache.py", (1, 500)), CACHE, True, True, id="4"),
        pytest.param(slot("lib/cache.py"), CACHE, True, False, id="5-spanless"),
        pytest.param(slot("lib/cache.py"), Gold("lib/cache.py"), True, True, id="6-no-range"),
        pytest.param(slot("Lib/cache.py", (55, 60)), CACHE, False, False, id="7-case"),
        pytest.param(slot("lib/cache.py", (1, 10), (60, 61)), CACHE, True, True, id="8-two-spans"),
        pytest.param(slot("lib/cache.py", (1, 10)), CACHE, True, False, id="8-first-alone"),
    ],
)
def test_answers(hit: Slot, gold: Gold, file: bool, chunk: bool) -> None:
    assert (hit.path == gold.path) is file
    assert answers(hit, gold) is chunk


QUERIES: Sequence[tuple[str, list[Gold], list[Slot]]] = [
    ("easy", [Gold("a", 10, 20)], [slot("a", (12, 14)), *named("f2", "f3")]),
    ("medium", [Gold("b", 5, 9)], [*named("f1", "f2"), slot("b", (50, 60))]),
    (
        "hard",
        [Gold("c", 1, 3), Gold("d", 100, 120)],
        [*named("f1"), slot("c", (2, 2)), *named("f3", "f4", "f5", "f6"), slot("d", (90, 100))],
    ),
    ("hard", [Gold("e", 1, 10)], OTHERS),
]


def of(difficulty: str | None = None) -> list[tuple[int, ...]]:
    return [chunk_ranks(slots, golds) for name, golds, slots in QUERIES if difficulty in (None, name)]


def recalls(found: spans.Quality) -> list[float]:
    return [found.recall[k] for k in (5, 10, 20)]


def test_15_chunk_metrics() -> None:
    found = quality(of())
    assert recalls(found) == [0.375, 0.5, 0.5]
    assert (found.mrr, found.zero_miss, found.queries) == (0.375, 0.5, 4)


def test_16_file_metrics() -> None:
    ranks = [
        file_ranks([one.path for one in slots], distinct(gold.path for gold in golds))
        for _, golds, slots in QUERIES
    ]
    found = quality(ranks)
    assert recalls(found) == [0.625, 0.75, 0.75]
    assert found.mrr == approx(0.458333, abs=1e-6)
    assert found.zero_miss == 0.25


@pytest.mark.parametrize(
    ("difficulty", "expected"),
    [
        ("easy", ([1, 1, 1], 1, 0)),
        ("medium", ([0, 0, 0], 0, 1)),
        ("hard", ([0.25, 0.5, 0.5], 0.25, 0.5)),
    ],
)
def test_17_by_difficulty(difficulty: str, expected: tuple[list[float], float, float]) -> None:
    found = quality(of(difficulty))
    assert (recalls(found), found.mrr, found.zero_miss) == expected


def test_an_answer_has_a_price_at_every_width_that_was_asked_for() -> None:
    # 12 slots of 7 tokens, of which ten count; with two spans each 9; asked at three, nothing came back.
    one, two = ([Slot(f"f{n}", tokens=tokens) for n in range(12)] for tokens in (7, 9))
    found = {0: one, 1: one, 2: two, 3: []}
    assert spans.priced(found) == {"tokens@10": 70, "wide2_tokens@10": 90, "wide3_tokens@10": 0}


def test_20_depth_ends_at_twenty() -> None:
    gold = [Gold("x")]
    last = quality([chunk_ranks([*OTHERS[:19], Slot("x")], gold)])
    assert (recalls(last), last.mrr, last.zero_miss) == ([0, 0, 1], 0.05, 0)
    beyond = quality([chunk_ranks([*OTHERS, Slot("x")], gold)])
    assert (beyond.mrr, beyond.zero_miss) == (0, 1)


def test_21_and_22_several_golds_of_one_file() -> None:
    golds = [Gold("m", 5, 6), Gold("m", 80, 90)]
    narrow = chunk_ranks([slot("m", (1, 10))], golds)
    assert (spans.recall(narrow, 5), spans.reciprocal_rank(narrow)) == (0.5, 1)
    assert spans.recall(file_ranks(["m"], ["m"]), 5) == 1
    wide = chunk_ranks([slot("m", (1, 10), (85, 99))], golds)
    assert spans.recall(wide, 5) == 1


def test_24_nothing_at_all_is_a_row() -> None:
    found = quality([chunk_ranks([], golds) for _, golds, _ in QUERIES])
    assert (recalls(found), found.mrr, found.zero_miss) == ([0, 0, 0], 0, 1)


def test_no_queries() -> None:
    assert quality([]) == spans.Quality(0, {5: 0, 10: 0, 20: 0}, 0, 0)


def test_8_collapsed_to_one_span_per_file() -> None:
    results = [Result("lib/cache.py", Lines(1, 10)), Result("lib/cache.py", Lines(60, 61))]
    (one,) = collapse(results, 20, 1)
    found = Slot(one.path, tuple((lines.start, lines.end) for lines in one.lines))
    assert not answers(found, CACHE)


@pytest.mark.parametrize(("text", "tokens"), [("x" * 100, 25), ("x" * 10, 3), ("ééééé", 2), ("", 0)])
def test_26_and_27_tokens_are_a_quarter_of_the_code_points(text: str, tokens: int) -> None:
    assert spans.tokens_of(text) == tokens


def test_26_tokens_of_the_first_ten() -> None:
    slots = [
        Slot("a", (), 25),
        Slot("b", (), 3),
        *(Slot(f"n{n}", (), 0) for n in range(8)),
        Slot("z", (), 1000),
    ]
    assert spans.tokens_shown(slots) == 28
    assert spans.tokens_shown([]) == 0
    assert spans.tokens_shown([Slot("a")]) is None


@pytest.mark.parametrize(
    ("lines", "text", "tokens"), [((2, 3), "beta\ngamma", 3), ((3, 9), "gamma", 2), ((7, 9), "", 0)]
)
def test_28_lines_of_the_corpus(lines: tuple[int, int], text: str, tokens: int) -> None:
    found = spans.lines_text("alpha\nbeta\ngamma\n", *lines)
    assert (found, spans.tokens_of(found)) == (text, tokens)


def test_14_spanless() -> None:
    assert spans.spanless([slot("a", (10, 20))]) == 0
    assert spans.spanless([slot("a"), slot("b", (3, 4))]) == 1


def test_nearest_returned() -> None:
    slots = [slot("src/x.c", (1, 5), (300, 340)), slot("y", (246, 250))]
    assert spans.nearest_returned(slots, Gold("src/x.c", 210, 246)) == "src/x.c:300-340 (+54)"
    assert spans.nearest_returned(slots, Gold("z", 1, 2)) is None
    assert spans.nearest_returned(slots, Gold("y")) is None


@pytest.mark.parametrize(
    ("ranks", "expected"),
    [
        ((1,), 1.0),
        ((2,), 0.6309297535714575),  # 1 / log2(3)
        ((11,), 0.0),
        ((1, 0), 0.6131471927654584),  # 1 / (1 + 1 / log2(3))
        ((0, 0), 0.0),
    ],
)
def test_ndcg_as_semble_computes_it(ranks: tuple[int, ...], expected: float) -> None:
    assert spans.ndcg(ranks) == approx(expected)


def test_measures_of_one_query() -> None:
    found: Mapping[str, float] = spans.graded((0, 7), {1: (0, 7), 2: (3, 7)})
    assert found["chunk_recall@5"] == 0
    assert found["chunk_recall@10"] == 0.5
    assert found["chunk_mrr@20"] == approx(1 / 7)
    assert found["wide2_recall@10"] == 1
    assert "wide3_recall@10" not in found
