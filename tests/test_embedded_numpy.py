"""The embedded samples over the numpy wheel: their shape, and that all they name is installed."""

from __future__ import annotations

import hashlib
import json
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

RELEASE = Path(__file__).parents[1] / "testdata" / "release"
SAMPLES = RELEASE / "benchmark" / "embedded_numpy" / "samples.jsonl"
MANIFEST = RELEASE / "corpus" / "embedded_numpy" / "corpus_manifest.jsonl"
LINES = SAMPLES.read_text(encoding="utf-8").removesuffix("\n").split("\n")
ROWS: list[dict[str, Any]] = [json.loads(line) for line in LINES]
EACH_ROW = pytest.mark.parametrize("row", ROWS, ids=[str(row["id"]) for row in ROWS])


@pytest.fixture(scope="module")
def installed() -> dict[str, Path]:
    """The files of the installed numpy: path in the wheel to path on disk."""
    files = metadata.distribution("numpy").files
    if files is None:
        pytest.skip("the installed numpy has no RECORD")
    return {str(file): Path(str(file.locate())) for file in files}


def test_there_are_enough_samples_and_every_id_is_its_own() -> None:
    assert len(ROWS) >= 40
    assert len({row["id"] for row in ROWS}) == len(ROWS)


def test_lines_are_compact_json_with_sorted_keys() -> None:
    for line, row in zip(LINES, ROWS, strict=True):
        assert line == json.dumps(row, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


@EACH_ROW
def test_a_row_has_the_shape_of_the_benchmark(row: dict[str, Any]) -> None:
    assert set(row) == {
        "base_commit",
        "candidate_corpus",
        "gold",
        "id",
        "metadata",
        "query",
        "repo",
        "task_type",
        "version",
    }
    assert (row["task_type"], row["repo"], row["base_commit"]) == ("code2test", "numpy/numpy", "installed")
    assert row["candidate_corpus"] == {"base_commit": "installed", "type": "repo_at_base_commit"}
    assert set(row["query"]) == {"changed_file", "pr_body", "pr_title"}
    assert all(isinstance(text, str) and text.strip() for text in row["query"].values())
    assert set(row["metadata"]) == {"confidence", "evidence"}
    assert row["version"] == 1


@EACH_ROW
def test_an_id_follows_from_repository_title_and_changed_file(row: dict[str, Any]) -> None:
    query = row["query"]
    named = "\n".join((row["repo"], query["pr_title"], query["changed_file"]))
    assert row["id"] == hashlib.sha256(named.encode()).hexdigest()[:24]


@EACH_ROW
def test_gold_is_test_files_and_neither_the_changed_file_nor_a_negative(row: dict[str, Any]) -> None:
    gold, changed = row["gold"], row["query"]["changed_file"]
    tests = gold["related_tests"]
    assert 1 <= len(tests) == len(set(tests)) <= 3
    assert all("/tests/" in path for path in [*tests, *gold["negative_distractors"]])
    assert "/tests/" not in changed
    assert gold["root_cause_files"] == [changed]
    assert not set(tests) & set(gold["negative_distractors"])


@EACH_ROW
def test_every_named_file_is_installed(row: dict[str, Any], installed: dict[str, Path]) -> None:
    gold = row["gold"]
    named = [*gold["related_tests"], *gold["negative_distractors"], row["query"]["changed_file"]]
    assert [path for path in named if path not in installed or not installed[path].is_file()] == []


@EACH_ROW
def test_evidence_names_tests_of_every_gold_file(row: dict[str, Any], installed: dict[str, Path]) -> None:
    seen = set()
    for node in row["metadata"]["evidence"]["tests"]:
        path, _, test = node.partition("::")
        text = installed[path].read_text(encoding="utf-8")
        assert not test or f"def {test}(" in text or f"class {test}" in text
        seen.add(path)
    assert seen == set(row["gold"]["related_tests"])


def test_the_manifest_sends_the_label_to_the_installed_distribution() -> None:
    row = {"base_commit": "installed", "repo": "numpy/numpy", "source": "dist:numpy", "status": "ok"}
    assert [json.loads(line) for line in MANIFEST.read_text(encoding="utf-8").splitlines()] == [row]
