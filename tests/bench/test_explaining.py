"""Explained rows: what a gold file is, where it ranks beyond the limit, and that no arm learns of gold."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, ClassVar

import pytest

from pytest_retrieval.arms.base import Arm
from pytest_retrieval.arms.registry import ArmSpec, parse_arms
from pytest_retrieval.bench.explaining import TERMS_SHOWN, explanation
from pytest_retrieval.bench.judge import Judge
from pytest_retrieval.model import Query, Sample
from tests.arms.support import snapshot_of

FILES = {f"{letter}.py": b"parse the url\n" * (10 - place) for place, letter in enumerate("abcdefgh")}
SAMPLE = Sample(
    id="s",
    task="code2test",
    repo="owner/name",
    commit="0" * 40,
    query_text="parse it: the_url, or Cache-Control",
    query={"query": "parse it"},
    gold=("h.py", "a.py"),
    given=("b.py",),
    negatives=("c.py",),
    title="parse it",
)


class Alphabet(Arm):
    """Answers with the first files; ``told`` keeps what it was given."""

    name: ClassVar[str] = "alphabet"

    def __init__(self) -> None:
        self.told: list[Query] = []

    def rank(self, query: Query) -> list[str]:
        return list(self.snapshot.paths)[: query.limit]


class Whole(Alphabet):
    """Answers with every file, whatever the limit."""

    def rank(self, query: Query) -> list[str]:
        return list(self.snapshot.paths)


class Telling(Alphabet):
    """Knows its whole ranking."""

    def rank_all(self, query: Query) -> Iterable[str]:
        self.told.append(query)
        return iter([*self.snapshot.paths, "a.py"])


class Failing(Alphabet):
    """Fails where it is asked for its whole ranking."""

    def rank_all(self, query: Query) -> Iterable[str]:
        raise RuntimeError("no")


def judged(arm: Arm, sample: Sample = SAMPLE, limit: int = 2, **options: Any) -> dict[str, Any]:
    judge = Judge([ArmSpec("x", "x", lambda: arm)], limit, explain=True, **options)
    return dict(judge.judge(sample, lambda: snapshot_of(FILES)).detail)


@pytest.mark.parametrize("arm", [Whole, Telling])
def test_the_rank_beyond_the_limit_is_told_where_the_arm_knows_it(arm: type[Alphabet]) -> None:
    # Without the given b.py: a c d e f g h.
    answer = judged(arm())["arms"]["x"]
    assert answer["ranked"] in (["a.py", "c.py"], ["a.py"])  # the other asks for two, one of which is given
    assert answer["beyond"] == {"of": 7, "ranks": {"h.py": 7}}


@pytest.mark.parametrize("arm", [Alphabet, Failing])
def test_else_it_is_not_known(arm: type[Alphabet]) -> None:
    answer = judged(arm())["arms"]["x"]
    assert "beyond" not in answer
    assert "error" not in answer


def test_an_arm_is_asked_only_where_gold_was_missed_and_learns_nothing_of_it() -> None:
    arm = Telling()
    judged(arm, replace(SAMPLE, gold=("a.py",)))
    assert arm.told == []
    judged(arm)
    (query,) = arm.told
    assert query == Query(SAMPLE.query_text, SAMPLE.query, None, SAMPLE.given, limit=2)


def test_a_file_that_no_ranking_has_has_no_rank() -> None:
    answer = judged(Telling(), replace(SAMPLE, gold=("gone.py",)))["arms"]["x"]
    assert answer["beyond"] == {"of": 7, "ranks": {}}


@pytest.mark.parametrize("name", ["grep", "bm25:all"])
def test_lexical_arms_rank_beyond_the_limit_as_they_would_within_it(name: str) -> None:
    (spec,) = parse_arms([name], {}, {}, provided={}, withheld={})
    sample = replace(SAMPLE, gold=("h.py",))
    snapshot = snapshot_of(FILES)
    short, long = (Judge([spec], k, explain=True).judge(sample, lambda: snapshot).detail for k in (2, 20))
    ranked = long["arms"][name]["ranked"]
    assert short["arms"][name]["ranked"] == ranked[:2]
    assert short["arms"][name]["beyond"] == {"of": 7, "ranks": {"h.py": ranked.index("h.py") + 1}}
    assert "beyond" not in long["arms"][name]


def test_gold_files_are_described() -> None:
    files = {
        "a.py": b"def parse(url): Cache\n",
        "logo.png": b"parse",
        ".corvint/x.md": b"nothing",
    }
    sample = replace(SAMPLE, gold=("a.py", "logo.png", ".corvint/x.md", "gone.py"))
    found = explanation(sample, snapshot_of(files, binary=("logo.png",)))
    # The terms: cache, control, it, or, parse, the, url.
    assert found == {
        "query": SAMPLE.query_text,
        "title": "parse it",
        "terms": 7,
        "gold": {
            "a.py": {
                "bytes": 22,
                "holds": 3,
                "held": ["cache", "parse", "url"],
                "lacking": ["control", "the", "it", "or"],
            },
            "logo.png": {"bytes": 5, "binary": True},
            ".corvint/x.md": {
                "bytes": 7,
                "unsearched": True,
                "holds": 0,
                "held": [],
                "lacking": ["control", "cache", "parse", "the", "url", "it", "or"],
            },
        },
    }


def test_long_queries_are_cut_and_their_terms_counted() -> None:
    words = " ".join(f"word{number:04}" for number in range(1_000))
    found = explanation(replace(SAMPLE, query_text=words, gold=("a.py",)), snapshot_of(FILES))
    assert found["query"] == words[:2_000]
    assert found["terms"] == 1_000
    assert len(found["gold"]["a.py"]["lacking"]) == TERMS_SHOWN


def test_without_a_snapshot_nothing_is_known_of_gold_files() -> None:
    detail = Judge([ArmSpec("x", "x", Alphabet)], 2, explain=True).lost(SAMPLE, "gone", status="fault").detail
    assert "gold" not in detail["explain"]
    assert detail["explain"]["query"] == SAMPLE.query_text


def test_a_run_that_does_not_explain_keeps_none_of_it() -> None:
    detail = Judge([ArmSpec("x", "x", Whole)], 2).judge(SAMPLE, lambda: snapshot_of(FILES)).detail
    assert "explain" not in detail
    assert "beyond" not in detail["arms"]["x"]
