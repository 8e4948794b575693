import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_retrieval.datasets.arb import query_text
from pytest_retrieval.datasets.samples import load_samples, parse_samples
from tests.datasets.rows import COMMIT, benchmark_row, faults_of, only

ORACLE = Path(__file__).parents[2].parent / "shared" / "oracle" / "samples.jsonl"


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("{}", "{}"),
        ("null", "{}"),
        ('{"b":1,"a":"\\u00e9"}', '{"a": "é", "b": 1}'),
        ('{"n":287,"f":287.0,"e":1e3,"s":0.10}', '{"e": 1000.0, "f": 287.0, "n": 287, "s": 0.1}'),
        ('{"n":123456789012345678901234567890}', '{"n": 123456789012345678901234567890}'),
        ('{"s":"a\\u2028b\\/c\\nd\\u0007"}', '{"s": "a\u2028b/c\\nd\\u0007"}'),
        ('{"s":"\\ud83d"}', '{"s": "\ud83d"}'),
        ('{"s":"\\ud83d\\ude00"}', '{"s": "\U0001f600"}'),
        ('{"l":[true,null,{"z":[],"y":{}}]}', '{"l": [true, null, {"y": {}, "z": []}]}'),
    ],
)
def test_query_text_is_the_standard_library_s(query: str, text: str) -> None:
    row = json.dumps(benchmark_row(query=None)).replace('"query": null', f'"query": {query}')
    (sample,) = parse_samples(row.encode(), "s.jsonl").samples
    assert sample.query_text == text


def test_a_row_without_query_asks_for_an_empty_object() -> None:
    row = benchmark_row()
    del row["query"], row["metadata"]
    assert only(row).query_text == "{}"


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), values, max_size=4))
def test_any_query_survives_the_file(query: dict[str, Any]) -> None:
    sample = only(benchmark_row(query=query))
    assert sample.query == query
    assert json.loads(sample.query_text) == query
    assert sample.query_text == query_text(query)


ALL_GOLD = {
    "files": ["f"],
    "related_tests": ["rt"],
    "must_context_files": ["mc"],
    "context_files": ["cf"],
    "root_cause_files": ["rc"],
}


@pytest.mark.parametrize(
    ("task", "fields", "gold"),
    [
        ("code2test", "files related_tests root_cause_files", "f"),
        ("code2test", "related_tests root_cause_files", "rt"),
        ("code2test", "root_cause_files must_context_files", "rc"),
        ("comment2context", "must_context_files context_files root_cause_files", "mc"),
        ("comment2context", "context_files root_cause_files", "cf"),
        ("comment2context", "root_cause_files related_tests", "rc"),
        ("comment2context", "related_tests", "rt"),
        ("trace2code", "root_cause_files related_tests context_files", "rc"),
        ("edit2ripple", "related_tests must_context_files", "rt"),
        ("anything", "files root_cause_files", "f"),
    ],
)
def test_gold_is_the_first_field_of_the_task_that_is_not_empty(task: str, fields: str, gold: str) -> None:
    chosen = {field: ALL_GOLD[field] for field in fields.split()}
    empty: dict[str, list[str]] = {field: [] for field in ALL_GOLD if field not in chosen}
    assert only(benchmark_row(task_type=task, gold=empty | chosen)).gold == (gold,)


def test_gold_keeps_order_and_drops_repeats() -> None:
    files = ["b", {"path": "a", "why": "imports b"}, "b", {"path": "../as written/ é"}]
    assert only(benchmark_row(gold={"files": files})).gold == ("b", "a", "../as written/ é")


@pytest.mark.parametrize("gold", [{}, {"files": []}, {"files": None}, {"no_gold": "true"}, {"no_gold": 1}])
def test_a_positive_without_gold_is_skipped(gold: dict[str, Any]) -> None:
    loaded = parse_samples(json.dumps(benchmark_row(gold=gold)).encode(), "s.jsonl")
    (sample,) = loaded.samples
    assert (sample.stratum, sample.skip, sample.gold) == ("positive", "no_gold_unlabeled", ())
    assert loaded.kept == ()


@pytest.mark.parametrize(
    ("organic", "stratum"),
    [
        (True, "natural_no_gold"),
        (False, "counterfactual_no_gold"),
        (None, "counterfactual_no_gold"),
        ("true", "counterfactual_no_gold"),
        (1, "counterfactual_no_gold"),
    ],
)
def test_no_gold_strata(organic: object, stratum: str) -> None:
    row = benchmark_row(gold={"no_gold": True, "files": ["ignored"]}, metadata={"organic": organic})
    sample = only(row)
    assert (sample.stratum, sample.gold, sample.skip) == (stratum, (), None)


def test_organic_alone_is_still_positive() -> None:
    assert only(benchmark_row(metadata={"organic": True})).stratum == "positive"


@pytest.mark.parametrize(
    ("task", "given_files", "query", "expected"),
    [
        ("comment2context", ["g"], {"given_file": "q"}, ("g",)),
        ("comment2context", [], {"given_file": "q", "path": "p"}, ("q",)),
        ("comment2context", None, {"given_file": "", "path": "p"}, ("p",)),
        ("comment2context", [], {}, ()),
        ("code2test", [], {"given_file": "q", "path": "p"}, ()),
        ("edit2ripple", ["a", "a", "b"], {}, ("a", "b")),
    ],
)
def test_given_files(
    task: str, given_files: object, query: dict[str, str], expected: tuple[str, ...]
) -> None:
    row = benchmark_row(task_type=task, query=query, gold={"files": ["f"], "given_files": given_files})
    assert only(row).given == expected


def test_what_else_a_row_tells() -> None:
    sample = only(
        benchmark_row(
            repo="numpy/numpy",
            cluster="release-2",
            query={"changed_file": "src/ring.c", "pr_title": " Grow\n the ring "},
            gold={"files": ["f"], "negative_distractors": ["n", {"path": "m"}, "n"]},
        )
    )
    assert sample.negatives == ("n", "m")
    assert (sample.fold, sample.cluster, sample.changed_file) == ("A", "release-2", "src/ring.c")
    assert sample.title == "Grow the ring"
    assert sample.snapshot == f"numpy/numpy@{COMMIT}"


@pytest.mark.parametrize("changed", [3, None, ["a"], "", "\ud800.c"])
def test_a_changed_file_that_is_no_path_is_none(changed: object) -> None:
    assert only(benchmark_row(query={"changed_file": changed})).changed_file is None


@pytest.mark.parametrize("field", ["id", "task_type", "repo", "base_commit"])
@pytest.mark.parametrize("value", [None, "", 3, ["x"], "\ud800"])
def test_required_fields_are_strings(field: str, value: object) -> None:
    (fault,) = faults_of(benchmark_row(**{field: value}))
    assert fault.startswith(f"line 1: field '{field}': ")


@pytest.mark.parametrize("field", ["query", "gold", "metadata"])
def test_parts_are_objects(field: str) -> None:
    (fault,) = faults_of(benchmark_row(**{field: ["x"]}))
    assert fault.startswith(f"line 1: field '{field}': must be an object, not a list")


def test_a_benchmark_row_s_query_is_no_string() -> None:
    assert faults_of(benchmark_row(query="x"))[0].startswith("line 1: field 'query': must be an object")


@pytest.mark.parametrize(
    ("gold", "field"),
    [
        ({"files": ["a", "b", 3]}, "gold.files[2]"),
        ({"files": [["a"]]}, "gold.files[0]"),
        ({"files": [""]}, "gold.files[0]"),
        ({"files": ["a\udcff"]}, "gold.files[0]"),
        ({"files": [{"file": "a"}]}, "gold.files[0].path"),
        ({"files": "a"}, "gold.files"),
        ({"related_tests": [None]}, "gold.related_tests[0]"),
        ({"files": ["a"], "given_files": [True]}, "gold.given_files[0]"),
        ({"files": ["a"], "negative_distractors": {"a": 1}}, "gold.negative_distractors"),
    ],
)
def test_entries_that_are_no_path(gold: dict[str, Any], field: str) -> None:
    (fault,) = faults_of(benchmark_row(gold=gold))
    assert fault.startswith(f"line 1: field '{field}': ")


def test_a_given_file_of_the_query_that_is_no_path() -> None:
    (fault,) = faults_of(benchmark_row(task_type="comment2context", query={"path": 3}))
    assert fault.startswith("line 1: field 'query.path': must be a path, not a number")


@pytest.mark.parametrize(
    "repo",
    ["ring", "a/b/c", "../ring", "acme/..", "./x", "acme/", "/ring", "-o/x", "a b/c", "acme/ring\n", "é/x"],
)
def test_repo_is_owner_and_name(repo: str) -> None:
    (fault,) = faults_of(benchmark_row(repo=repo))
    assert fault.startswith("line 1: field 'repo': ")


@pytest.mark.parametrize("repo", ["a/b", "pytest-dev/pytest", "vuejs/core.js", "a/..b", "A_1/.github"])
def test_ordinary_repositories(repo: str) -> None:
    assert only(benchmark_row(repo=repo)).repo == repo


@pytest.mark.parametrize(
    "commit", ["../../x", "0123456", COMMIT.upper(), COMMIT + "0", COMMIT + "\n", "main", "0" * 63]
)
def test_commit_is_a_full_lower_case_hash(commit: str) -> None:
    data = b"\n" + json.dumps(benchmark_row(base_commit=commit)).encode()
    (fault,) = faults_of(data)
    assert fault.startswith("line 2: field 'base_commit': ")


def test_commits_of_sha256_repositories() -> None:
    assert only(benchmark_row(base_commit="0f" * 32)).commit == "0f" * 32


def test_labels_where_they_are_allowed() -> None:
    row = benchmark_row(base_commit="v2.4.6+local")
    assert only(row, allow_labels={"v2.4.6+local"}).commit == "v2.4.6+local"
    assert only(row, allow_labels=True).commit == "v2.4.6+local"
    assert "base_commit" in faults_of(row, allow_labels={"v2.4"})[0]


@pytest.mark.parametrize("label", ["../../x", "a/b", "a..b", "-x", ".git", "a\x00", "x\n", "a b", "x" * 129])
def test_no_permission_covers_a_dangerous_label(label: str) -> None:
    assert "base_commit" in faults_of(benchmark_row(base_commit=label), allow_labels=True)[0]
    assert "base_commit" in faults_of(benchmark_row(base_commit=label), allow_labels={label})[0]


def test_the_oracle_s_samples() -> None:
    if not ORACLE.exists():
        pytest.skip("shared/oracle/samples.jsonl is not beside the checkout")
    samples = load_samples(ORACLE).samples
    assert [sample.fold for sample in samples] == ["B"] * 5 + ["A"] * 7
    assert [sample.stratum for sample in samples[4:]] == [
        "positive",
        *["natural_no_gold"] * 6,
        "counterfactual_no_gold",
    ]
    assert samples[0].gold == ("clap_complete/tests/testsuite/engine.rs",)
    assert samples[1].given == ("clap_builder/src/builder/arg.rs",)
    assert all(sample.title for sample in samples)


@pytest.mark.parametrize(
    ("value", "kind"), [("true", "a string"), (1, "a number"), ({}, "an object"), ([True], "a list")]
)
def test_flags_count_only_as_true_and_what_is_no_boolean_is_told(value: object, kind: str) -> None:
    rows = [
        benchmark_row(gold={"files": ["a"], "no_gold": flag}, metadata={"organic": organic})
        for flag, organic in ((False, None), (value, True), (None, value), (value, False))
    ]
    found = parse_samples("".join(f"{json.dumps(row)}\n" for row in rows).encode(), "s.jsonl")
    assert [sample.stratum for sample in found.samples] == ["positive"] * 4
    says = "it counts as false; write true or false without quotes"
    assert found.warnings[:2] == (
        f"field 'gold.no_gold': neither true nor false (rows: 2, first {kind} in line 2); {says}",
        f"field 'metadata.organic': neither true nor false (rows: 1, first {kind} in line 3); {says}",
    )
    assert len(found.warnings) == 3  # and the id, which repeats
