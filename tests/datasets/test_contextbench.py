"""Rows of ContextBench: what a sample is made of, how paths are normalised, and what refuses a row."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_retrieval.datasets.contextbench import normalised
from pytest_retrieval.model import Span
from tests.datasets.problems import context_row, patch_row
from tests.datasets.rows import COMMIT, benchmark_row, faults_of, only


def test_a_row() -> None:
    sample = only(context_row(("b.c", 2, 3), ("/testbed/a.c", 6, 8), ("a.c", 3, 5)))
    assert (sample.id, sample.task, sample.repo, sample.commit) == (
        "acme__ring-7",
        "contextbench",
        "acme/ring",
        COMMIT,
    )
    assert sample.query_text == "The ring\n  loses its tail."
    assert sample.query == {"problem_statement": "The ring\n  loses its tail."}
    assert sample.gold == ("a.c", "b.c")
    assert sample.gold_spans == (Span("b.c", 2, 3), Span("a.c", 6, 8), Span("a.c", 3, 5))
    assert (sample.stratum, sample.skip, sample.gold_kind) == ("positive", None, "spans")
    assert (sample.given, sample.negatives, sample.changed_file) == ((), (), None)
    assert sample.title == "The ring loses its tail."


def test_the_list_itself_and_further_columns_are_fine() -> None:
    spans = [{"file": "a.c", "start_line": 1, "end_line": 1, "content": "x"}]
    sample = only(context_row(gold_context=spans, patch="diff", language="c", repo_url=None))
    assert (sample.task, sample.gold_spans) == ("contextbench", (Span("a.c", 1, 1),))


def test_without_a_span_the_row_is_skipped() -> None:
    assert only(context_row()).skip == "no_gold_unlabeled"


@pytest.mark.parametrize(
    ("path", "within"),
    [
        ("a/b.py", "a/b.py"),
        ("a\\b.py", "a/b.py"),
        ("/testbed/a/b.py", "a/b.py"),
        ("\\testbed\\a\\b.py", "a/b.py"),
        ("/testbed//a.py", "/a.py"),
        ("/workspace/repo/a/b.py", "a/b.py"),
        ("/workspace/b.py", "b.py"),
        ("/workspace//b.py", "b.py"),
        ("///a/b.py", "a/b.py"),
        ("/testbedder/a.py", "testbedder/a.py"),
        ("./a/b.py", "a/b.py"),
        ("../a/b.py", "a/b.py"),
        (".github/ci.yml", "github/ci.yml"),
        ("testbed/a.py", "testbed/a.py"),
        ("./", ""),
        ("/workspace/x/", ""),
    ],
)
def test_normalised_paths(path: str, within: str) -> None:
    assert normalised(path) == within


@given(st.text(alphabet="./\\ab", max_size=12))
def test_outside_the_containers_only_leading_marks_go(path: str) -> None:
    slashed = path.replace("\\", "/")
    expected = re.sub(r"^/+" if slashed.startswith("/") else r"^[./]+", "", slashed)
    assert normalised(path) == expected


@pytest.mark.parametrize("commit", ["../../x", COMMIT[:7], COMMIT.upper()])
@pytest.mark.parametrize("row", [benchmark_row, context_row, patch_row])
def test_case_99(row: Any, commit: str) -> None:
    data = json.dumps(row()).encode() + b"\n" + json.dumps(row(base_commit=commit)).encode()
    (fault,) = faults_of(data)
    assert fault.startswith("line 2: field 'base_commit': ")


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"problem_statement": None}, "problem_statement"),
        ({"problem_statement": ""}, "problem_statement"),
        ({"gold_context": "[{"}, "gold_context"),
        ({"gold_context": json.dumps([{"file": "a.c", "start_line": 5, "end_line": 4}])}, "gold_context[0]"),
        ({"gold_context": json.dumps([{"file": "a.c", "start_line": 0, "end_line": 4}])}, "gold_context[0]"),
    ],
)
def test_case_100(fields: dict[str, Any], field: str) -> None:
    (fault,) = faults_of(context_row(("a.c", 1, 1), **fields))
    assert fault.startswith(f"line 1: field {field!r}: ")


@pytest.mark.parametrize(
    ("gold", "says"),
    [
        (None, "field 'gold_context': missing; write [{"),
        ({"file": "a.c"}, "field 'gold_context': must be a list, not an object"),
        ("{}", "field 'gold_context': must be a list, not an object"),
        ("null", "field 'gold_context': missing"),
        ("", "field 'gold_context': not the JSON text of a list (Expecting value at column 1)"),
        ("[" * 100_000, "field 'gold_context': not the JSON text of a list ("),
        ("[NaN]", "field 'gold_context': not the JSON text of a list (NaN is not JSON"),
        (
            ["a.c"],
            "field 'gold_context[0]': must be an object with file, start_line and end_line, not a string",
        ),
        ([{"start_line": 1, "end_line": 1}], "field 'gold_context[0].file': names no file"),
        ([{"file": "./", "start_line": 1, "end_line": 1}], "field 'gold_context[0].file': names no file"),
        ([{"file": "\ud800", "start_line": 1, "end_line": 1}], "field 'gold_context[0].file': names no file"),
        (
            [{"file": "a", "start_line": True, "end_line": 1}],
            "field 'gold_context[0]': start_line and end_line",
        ),
        (
            [{"file": "a", "start_line": 1.0, "end_line": 1}],
            "field 'gold_context[0]': start_line and end_line",
        ),
        ([{"file": "a", "start_line": 1}], "field 'gold_context[0]': start_line and end_line"),
    ],
)
def test_gold_that_is_none(gold: Any, says: str) -> None:
    (fault,) = faults_of(context_row(gold_context=gold))
    assert fault.startswith(f"line 1: {says}")


def test_all_faults_of_a_row_come_at_once() -> None:
    row = context_row(("", 1, 1), ("a", 0, 0), repo="x", base_commit=None, problem_statement=7)
    assert [fault.split("'")[1] for fault in faults_of(row)] == [
        "gold_context[0].file",
        "gold_context[1]",
        "base_commit",
        "problem_statement",
        "repo",
    ]
