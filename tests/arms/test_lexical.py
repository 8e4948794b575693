from __future__ import annotations

import json
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pytest_retrieval.arms.bm25 import BM25All, BM25Ident
from pytest_retrieval.arms.grep import Grep
from pytest_retrieval.arms.grep_ident import GrepIdent
from pytest_retrieval.arms.lexical import LexicalArm
from pytest_retrieval.model import Answer, Query
from pytest_retrieval.text.tokens import terms
from tests.arms.support import (
    Scored,
    naive_bm25,
    naive_grep,
    naive_grep_ident,
    naive_ident_tokens,
    snapshot_of,
)

FRAGMENTS = [
    *("foo", "Bar", "fooBar", "foo_bar", "get", "getURL", "URL_v2", "x", "K", "aa", "a", "1", "kind", "I"),
    *("foo-bar", "foo-bar-foo", "a-b", "-", "--", "_", "__", " ", "\n", ".", "/"),
    *("\u212a", "\u0130", "\u00e9", "\udcff", "\udce2", "\0"),
]
fragments = st.sampled_from(FRAGMENTS)
texts = st.lists(fragments, max_size=16).map("".join)
contents = texts.map(lambda text: text.encode("utf-8", "surrogateescape"))
folders = st.sampled_from(["", "src/", "fooBar/", "\u212aind/", "\u0130/"])
names = st.sampled_from(["foo.py", "foo_bar.go", "getURL.ts", "\u212a.h", "foo-bar", "kindI", "caf\udcc3"])
trees = st.dictionaries(st.builds("".join, st.tuples(folders, names)), contents, max_size=8)
query_texts = st.lists(fragments | st.sampled_from([".py", ".tsx", ".go"]), max_size=12).map(
    lambda parts: "".join(parts).replace("\0", "")
)
queries = st.fixed_dictionaries({"pr_body": query_texts, "changed_file": query_texts})


def ask(
    arm: LexicalArm, files: dict[str, bytes], query: Any, given: tuple[str, ...] = (), limit: int = 50
) -> Answer:
    with_text = json.dumps(query, ensure_ascii=False, sort_keys=True)
    arm.prepare(snapshot_of(files))
    return arm.rank(Query(with_text, query, given=given, limit=limit))


def test_several_queries_are_answered_in_their_order() -> None:
    arm = Grep()
    arm.prepare(snapshot_of({"a.py": b"alpha", "b.py": b"beta"}))
    answers = arm.rank_many([Query(text, {"q": text}) for text in ("beta", "alpha", "gamma")])
    paths = [[hit.path for hit in answer.hits] for answer in answers if isinstance(answer, Answer)]
    assert paths == [["b.py"], ["a.py"], []]


def rounded(score: float) -> float:
    """Half away from zero on the float product, by decimal arithmetic."""
    return float(Decimal(score * 1e6).quantize(Decimal(1), ROUND_HALF_UP)) / 1e6


def assert_ranks(answer: Answer, expected: Scored, given: tuple[str, ...], limit: int) -> None:
    kept = [(path, score) for path, score in expected if path not in given][:limit]
    assert [(hit.path, hit.score) for hit in answer.hits] == kept
    assert answer.abstained is (not kept)
    assert answer.top_score == (rounded(kept[0][1]) if kept else None)


@settings(max_examples=300)
@given(trees, queries, st.sets(names, max_size=2), st.integers(1, 5))
@example({}, {"pr_body": "foo", "changed_file": "foo_bar"}, set(), 1)
@example({"a": b"", "b": b" \n"}, {"pr_body": "foo", "changed_file": "foo_bar"}, set(), 1)
@example({"a": "to\u212aen".encode()}, {"pr_body": "token to en", "changed_file": ""}, set(), 1)
@example({"a": b"aaa aaaa"}, {"pr_body": "aa", "changed_file": ""}, set(), 1)
@example({"a": b"foo-bar-foo-bar foo-bar-foo"}, {"pr_body": "foo-bar-foo.py", "changed_file": ""}, set(), 1)
@example({"a": b"x----", "b": b"-----"}, {"pr_body": "----.py", "changed_file": ""}, set(), 2)
def test_every_arm_ranks_as_the_specification_says(
    files: dict[str, bytes], query: dict[str, str], given: set[str], limit: int
) -> None:
    leave = tuple(given)
    text = json.dumps(query, ensure_ascii=False, sort_keys=True)
    expected = {
        Grep(): naive_grep(files, text),
        GrepIdent(): naive_grep_ident(files, query),
        BM25All(): naive_bm25(files, terms(text)),
        BM25Ident(): naive_bm25(files, naive_ident_tokens(query)),
    }
    for arm, scored in expected.items():
        assert_ranks(ask(arm, files, query, leave, limit), scored, leave, limit)


def paths(answer: Answer) -> list[str]:
    return [hit.path for hit in answer.hits]


def test_grep_counts_a_term_of_the_path_double() -> None:
    files = {"lib/parse.py": b"nothing", "lib/other.py": b"parse url", "lib/url.py": b"parse parse"}
    answer = ask(Grep(), files, "parse url")
    assert [(hit.path, hit.score) for hit in answer.hits] == [
        ("lib/url.py", 3),
        ("lib/other.py", 2),
        ("lib/parse.py", 2),  # two points without an occurrence, behind two with
    ]


def test_grep_breaks_ties_by_occurrences_then_by_the_bytes_of_the_path() -> None:
    files = {"b": b"word", "a\u00e9": b"word", "az": b"word", "c": b"keyword, wordword"}
    assert paths(ask(Grep(), files, "word")) == ["c", "az", "a\u00e9", "b"]


def test_grep_finds_terms_inside_other_words_but_never_across_them() -> None:
    files = {"inside": b"aPARSERb", "across": b"par-ser par_ser"}
    assert paths(ask(Grep(), files, "parser")) == ["inside"]


def test_grep_ident_counts_whole_words_in_their_own_case() -> None:
    files = {"a": b"get_name get_name", "b": b"Get_Name get_names my_get_name", "c": b"(get_name)"}
    assert paths(ask(GrepIdent(), files, "get_name")) == ["a", "c"]


def test_grep_ident_sees_identifiers_in_paths_in_any_case() -> None:
    files = {"Get_Name.py": b"", "other": b"get_name", "x/get_name/y": b"get_name"}
    assert [(hit.path, hit.score) for hit in ask(GrepIdent(), files, "get_name").hits] == [
        ("x/get_name/y", 2),
        ("other", 1),
        ("Get_Name.py", 1),
    ]


def test_grep_ident_finds_stems_with_hyphens() -> None:
    files = {"a": b"error-page", "b": b"an-error-page error-pages", "c": b"error page"}
    assert paths(ask(GrepIdent(), files, "see error-page.tsx")) == ["a", "b"]


def test_bm25_of_one_token_by_hand() -> None:
    # N = 2, n = 1: idf = ln(1 + 1.5 / 1.5) = ln 2; tf = 1, length = mean length: 2.2 / 2.2 = 1.
    files = {"a": b"word x", "b": b"other y"}
    answer = ask(BM25All(), files, "word")
    assert paths(answer) == ["a"]
    assert answer.hits[0].score == pytest.approx(0.6931471805599453)
    assert answer.top_score == 0.693147


def test_given_files_stay_in_the_statistics_of_bm25() -> None:
    files = {"a": b"word x", "b": b"other y", "c": b"word word word"}
    alone = ask(BM25All(), files, "word")
    without = ask(BM25All(), files, "word", given=("c",))
    assert paths(alone) == ["c", "a"]
    assert without.hits == alone.hits[1:]


def test_the_top_score_is_that_of_the_first_file_that_is_not_given() -> None:
    files = {"word/word": b"word", "b": b"word"}
    answer = ask(Grep(), files, "word", given=("word/word",))
    assert (paths(answer), answer.top_score) == (["b"], 1)


@pytest.mark.parametrize("arm", [Grep, GrepIdent, BM25All, BM25Ident])
def test_nothing_found_is_an_abstention(arm: type[LexicalArm]) -> None:
    answer = ask(arm(), {"a": b"text"}, "absent_identifier")
    assert answer == Answer(abstained=True)


@pytest.mark.parametrize("arm", [Grep, GrepIdent, BM25All, BM25Ident])
@pytest.mark.parametrize("query", ["", "\u00e9", "some_name and a term"])
def test_a_snapshot_without_text_is_an_abstention(arm: type[LexicalArm], query: str) -> None:
    snapshot = snapshot_of({"some_name.bin": b"some_name"}, binary=("some_name.bin",))
    ranker = arm()
    ranker.prepare(snapshot)
    assert ranker.rank(Query(query, {"text": query})) == Answer(abstained=True)


def test_more_terms_than_fit_one_machine_word() -> None:
    many = [f"t{number}" for number in range(100, 330)]
    files = {"all": " ".join(many).encode(), "last": b"t329", "first": b"t100", "none": b""}
    answer = ask(Grep(), files, " ".join(many))
    assert [(hit.path, hit.score) for hit in answer.hits] == [("all", 230), ("first", 1), ("last", 1)]


def test_an_arm_serves_the_snapshot_it_was_prepared_for_last() -> None:
    arm = Grep()
    assert paths(ask(arm, {"a": b"word"}, "word")) == ["a"]
    assert paths(ask(arm, {"b": b"word"}, "word")) == ["b"]
    assert paths(ask(arm, {"a": b"word"}, "word")) == ["a"]
