from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_retrieval.errors import ReportError
from pytest_retrieval.report.exports.arb import details_lines, measures
from tests.report.samples import answer, detail

PATHS = [f"src/{name}.py" for name in "abcdefgh"]


def asked(row: int, ranked: list[str], **fields: Any) -> dict[str, Any]:
    return detail(row, {"grep": (answer(ranked=ranked, **fields.pop("answer", {})), {})}, **fields)


def test_a_line_by_hand() -> None:
    (line,) = details_lines([asked(0, ["x.c", "a.c"], gold=["a.c", "b.c"])], "grep")
    row = json.loads(line)
    assert row.pop("metrics")["Recall@5"] == 0.5
    assert row == {
        "sample_id": "s0",
        "task_type": "code2test",
        "repo": "acme/ring",
        "base_commit": "0" * 40,
        "candidate_filter": "all_files",
        "ranker": "grep",
        "gold_files": ["a.c", "b.c"],
        "gold_ranks": {"a.c": 2, "b.c": None},
        "top_files": ["x.c", "a.c"],
    }


def test_samples_without_gold_are_left_out_and_errors_rank_nothing() -> None:
    details = [
        asked(0, ["a.c"], gold=[], stratum="natural_no_gold"),
        asked(1, ["a.c"], answer={"error": "crashed"}),
    ]
    (line,) = details_lines(details, "grep")
    assert json.loads(line)["top_files"] == []
    with pytest.raises(ReportError, match="no sample with gold"):
        list(details_lines(details[:1], "grep"))
    with pytest.raises(ReportError, match="'s1' comes twice"):
        list(details_lines([details[1], {**details[1], "ordinal": 1}], "grep"))


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    """The benchmark's own measures, where a clone of it is at hand."""
    clone = Path(os.environ.get("RETRIEVAL_UPSTREAM", ""), "eyuansu62__agent-retrieval-bench.git")
    if not clone.is_dir():
        pytest.skip("no clone of agent-retrieval-bench below RETRIEVAL_UPSTREAM")
    folder = tmp_path_factory.mktemp("arb")
    archive = ["git", "-C", str(clone), "archive", "HEAD", "src/agent_retrieval_bench"]
    packed = subprocess.run(archive, capture_output=True, check=True, timeout=60).stdout
    subprocess.run(["tar", "-x", "-C", str(folder)], input=packed, check=True, timeout=60)
    package = folder / "src" / "agent_retrieval_bench"
    spec = importlib.util.spec_from_file_location(
        "agent_retrieval_bench", package / "__init__.py", submodule_search_locations=[str(package)]
    )
    assert spec is not None
    sys.modules["agent_retrieval_bench"] = importlib.util.module_from_spec(spec)
    return importlib.import_module("agent_retrieval_bench.baseline")


@given(
    st.lists(st.sampled_from(PATHS), unique=True), st.lists(st.sampled_from(PATHS), min_size=1, unique=True)
)
def test_the_benchmarks_own_measures(original: ModuleType, ranked: list[str], gold: list[str]) -> None:
    theirs = original.sample_metrics(gold, [{"path": path, "text": ""} for path in ranked])
    ours = measures(ranked, gold)
    assert ours == pytest.approx({name: theirs[name] for name in ours})


def test_the_benchmark_sums_up_the_lines(original: ModuleType) -> None:
    lines = details_lines([asked(row, ["x", "a.c"][row % 2 :]) for row in range(4)], "grep")
    summary = original.summarize_details([json.loads(line) for line in lines])
    assert summary["overall"]["samples"] == 4
    assert summary["code2test"]["MRR"] == 0.75
