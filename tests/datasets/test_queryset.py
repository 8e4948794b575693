from typing import Any

import pytest

from pytest_retrieval.model import Span
from tests.datasets.rows import COMMIT, benchmark_row, faults_of, only

HERE = ("acme/ring", "2.4.6")


def test_query_and_relevant_are_enough() -> None:
    sample = only({"query": "Where does the “ring” grow?", "relevant": ["b.c", "a.c", "b.c"]}, default=HERE)
    assert sample.query_text == "Where does the “ring” grow?"
    assert sample.query == {"text": "Where does the “ring” grow?"}
    assert sample.gold == ("b.c", "a.c")
    assert (sample.repo, sample.commit) == HERE
    assert (sample.task, sample.stratum, sample.fold) == ("queryset", "positive", "unassigned")
    assert sample.title == "Where does the “ring” grow?"


def test_every_field() -> None:
    sample = only(
        {
            "query": {"pr_title": "Grow", "n": 1},
            "relevant": [{"path": "a.c"}],
            "id": "q1",
            "repo": "numpy/numpy",
            "base_commit": COMMIT,
            "given": ["g.c"],
            "negatives": ["n.c"],
            "task_type": "code2test",
            "cluster": "week-1",
            "changed_file": "src/ring.c",
        }
    )
    assert sample.query_text == '{"n": 1, "pr_title": "Grow"}'
    assert (sample.id, sample.task, sample.cluster) == ("q1", "code2test", "week-1")
    assert (sample.gold, sample.given, sample.negatives) == (("a.c",), ("g.c",), ("n.c",))
    assert (sample.repo, sample.commit, sample.fold) == ("numpy/numpy", COMMIT, "A")
    assert sample.changed_file == "src/ring.c"


@pytest.mark.parametrize(
    ("organic", "stratum"), [(True, "natural_no_gold"), (False, "counterfactual_no_gold")]
)
def test_no_gold(organic: bool, stratum: str) -> None:
    row = {"query": "x", "no_gold": True, "organic": organic, "relevant": []}
    sample = only(row, default=HERE)
    assert (sample.stratum, sample.gold, sample.skip) == (stratum, (), None)


def test_no_gold_needs_no_relevant() -> None:
    assert only({"query": {"text": "x"}, "no_gold": True}, default=HERE).gold == ()


def test_spans_are_kept() -> None:
    relevant = ["b.c", {"path": "a.c", "start": 3, "end": 9}, {"path": "a.c", "start": 20, "end": 20}]
    sample = only({"query": "x", "relevant": relevant}, default=HERE)
    assert sample.gold == ("b.c", "a.c")
    assert sample.gold_spans == (Span("a.c", 3, 9), Span("a.c", 20, 20))


@pytest.mark.parametrize(
    "entry",
    [
        {"path": "a.c", "start": 5, "end": 4},
        {"path": "a.c", "start": 0, "end": 4},
        {"path": "a.c", "start": 5},
        {"path": "a.c", "start": True, "end": 4},
        {"path": "a.c", "start": "1", "end": "2"},
    ],
)
def test_spans_that_are_none(entry: dict[str, Any]) -> None:
    (fault,) = faults_of({"query": "x", "relevant": [entry]}, default=HERE)
    assert fault.startswith("line 1: field 'relevant[0]': start and end must be line numbers")


def test_derived_ids_follow_the_content() -> None:
    first = only({"query": "x", "relevant": ["a", "b"]}, default=HERE).id
    assert first == only({"relevant": ["b", "a", "b"], "query": "x"}, default=("other/repo", "1")).id
    assert first != only({"query": "x", "relevant": ["a"]}, default=HERE).id
    assert first != only({"query": "y", "relevant": ["a", "b"]}, default=HERE).id
    assert len(first) == 24
    assert set(first) <= set("0123456789abcdef")


def test_a_query_with_half_a_surrogate_pair_is_kept() -> None:
    assert only({"query": "a\ud800", "relevant": ["a"]}, default=HERE).query_text == "a\ud800"


def test_the_snapshot_comes_from_the_row_first() -> None:
    row = {"query": "x", "relevant": ["a"], "repo": "acme/bell", "base_commit": COMMIT}
    assert only(row, default=HERE).snapshot == f"acme/bell@{COMMIT}"
    row = {"query": "x", "relevant": ["a"], "repo": "acme/ring"}
    assert only(row, default=HERE).snapshot == "acme/ring@2.4.6"
    row = {"query": "x", "relevant": ["a"], "base_commit": COMMIT}
    assert only(row, default=HERE).snapshot == f"acme/ring@{COMMIT}"


def test_without_a_snapshot_the_fault_names_the_option() -> None:
    repo, commit = faults_of({"query": "x", "relevant": ["a"]})
    assert repo.startswith("line 1: field 'repo': missing; ")
    assert commit.startswith("line 1: field 'base_commit': missing; ")
    assert "--snapshot [OWNER/NAME@COMMIT=]SOURCE" in repo


def test_another_repository_does_not_take_the_default_s_commit() -> None:
    (fault,) = faults_of({"query": "x", "relevant": ["a"], "repo": "acme/bell"}, default=HERE)
    assert fault.startswith("line 1: field 'base_commit': missing")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"relevent": ["a"]}, "'relevent': not a field of the short form; did you mean 'relevant'?"),
        ({"zzz": 1}, "'zzz': not a field of the short form; known are query, relevant, id"),
        ({"metadata": {}}, "'metadata': not a field"),
        ({"relevant": []}, "'relevant': empty; write the paths that answer the query, or \"no_gold\": true"),
        ({"relevant": None}, "'relevant': missing; write the paths"),
        ({"relevant": "a"}, "'relevant': must be a list of paths, not a string"),
        ({"relevant": ["a", 3]}, "'relevant[1]': must be a path"),
        ({"relevant": [{"path": "a", "strat": 1}]}, "'relevant[0].strat': not a field"),
        ({"no_gold": True}, "'relevant': must be empty beside"),
        ({"no_gold": "yes"}, "'no_gold': must be true or false, not a string"),
        ({"organic": 1}, "'organic': must be true or false, not a number"),
        ({"query": " "}, "'query': empty; write the question"),
        ({"query": {}}, "'query': empty; write the question"),
        ({"query": None}, "'query': missing; write the question"),
        ({"query": 3}, "'query': a number; write the question"),
        ({"id": 3}, "'id': must be a string"),
        ({"cluster": ["x"]}, "'cluster': must be a string"),
        ({"task_type": ""}, "'task_type': empty"),
        ({"base_commit": "../../x"}, "'base_commit': '../../x' is not 40 or 64"),
        ({"base_commit": "0123456"}, "'base_commit': '0123456' is not 40 or 64"),
        ({"base_commit": COMMIT.upper()}, "'base_commit': "),
        ({"repo": "ring", "base_commit": COMMIT}, "'repo': 'ring' is not OWNER/NAME"),
    ],
)
def test_faults(change: dict[str, Any], says: str) -> None:
    (fault,) = faults_of({"query": "x", "relevant": ["a"], **change}, default=HERE)
    assert fault.startswith(f"line 1: field {says}")


def test_a_misspelt_relevant_alone_is_still_the_short_form() -> None:
    first, second = faults_of({"query": "x", "relevent": ["a"]}, default=HERE)
    assert "did you mean 'relevant'?" in first
    assert "'relevant': missing" in second


def test_a_row_with_gold_is_a_benchmark_s() -> None:
    assert only(benchmark_row(relevant=["other"])).gold == ("ring_test.c",)


def test_a_foreign_row_is_not_listed_key_by_key() -> None:
    row = {"query": "x", "relevant": ["a"]} | {f"column{n}": n for n in range(1000)}
    assert len(faults_of(row, default=HERE)) == 20
