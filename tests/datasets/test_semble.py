from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_retrieval.datasets.corpora import load_corpora
from pytest_retrieval.datasets.searchset import category_of
from pytest_retrieval.errors import SampleError
from pytest_retrieval.model import Gold

REPO = {
    "name": "flask",
    "language": "python",
    "url": "https://example.org/flask.git",
    "revision": "258d68b6ff5e2244386540f48b48bab90d6ab827",
    "benchmark_root": "src/flask",
}
TASK = {
    "query": "how sessions are signed",
    "relevant": ["src/flask/sessions.py"],
    "secondary": [],
    "category": "architecture",
}


def written(folder: Path, repos: Any = (REPO,), tasks: Any = (TASK,)) -> Path:
    (folder / "annotations").mkdir()
    (folder / "annotations" / "flask.json").write_text(json.dumps(tasks), encoding="utf-8")
    path = folder / "repos.json"
    path.write_text(json.dumps(repos), encoding="utf-8")
    return path


def test_a_repository_is_a_corpus(tmp_path: Path) -> None:
    (corpus,) = load_corpora(written(tmp_path), "/data").corpora
    assert (corpus.name, corpus.lang, corpus.commit) == ("flask", "python", REPO["revision"])
    assert (corpus.path, corpus.subdirs, corpus.repo) == ("/data/flask", ("src/flask",), REPO["url"])
    (query,) = corpus.query_set
    assert (query.text, query.difficulty) == (TASK["query"], "architecture")
    assert query.golds == (Gold("src/flask/sessions.py"),)


def test_both_lists_answer_and_lines_are_read(tmp_path: Path) -> None:
    targets = [{"path": "a", "start_line": 3, "end_line": "9"}, {"path": "b", "start_line": 3}]
    task = {"query": "Session", "relevant": targets, "secondary": ["c"]}
    (corpus,) = load_corpora(written(tmp_path, tasks=[task])).corpora
    assert corpus.query_set[0].golds == (Gold("a", 3, 9), Gold("b"), Gold("c"))
    assert corpus.query_set[0].difficulty == "symbol"


def test_the_whole_repository_where_no_root_is_named(tmp_path: Path) -> None:
    (corpus,) = load_corpora(written(tmp_path, [{**REPO, "benchmark_root": None}])).corpora
    assert corpus.tree == "."


def test_a_repository_without_annotations_is_left_out_and_told(tmp_path: Path) -> None:
    listed = load_corpora(written(tmp_path, [REPO, {**REPO, "name": "gin"}]))
    assert [corpus.name for corpus in listed.corpora] == ["flask"]
    assert listed.warnings == (
        "repos.json: repos[1]: gin: there is no annotations/gin.json, so it is left out",
    )


@pytest.mark.parametrize(
    ("repos", "tasks", "why"),
    [
        ([1], [TASK], "repos[0]: must be an object with a name"),
        ([{**REPO, "revision": "main"}], [TASK], "commit: must be 7 to 40 lower-case hex digits"),
        ([REPO], [{**TASK, "relevant": []}], "relevant: must be a list of at least one answer"),
        ([REPO], [{**TASK, "secondary": "x"}], "secondary: must be a list"),
        ([REPO], {}, "must be a list of tasks"),
        ([REPO], [3], "queries[0]: must be an object"),
    ],
)
def test_faults(tmp_path: Path, repos: Any, tasks: Any, why: str) -> None:
    with pytest.raises(SampleError) as caught:
        load_corpora(written(tmp_path, repos, tasks))
    assert why in str(caught.value)


@pytest.mark.parametrize(
    ("text", "category"),
    [("BaseModel", "symbol"), ("How does it work", "architecture"), ("signing of sessions", "semantic")],
)
def test_category_of_a_task_without_one(text: str, category: str) -> None:
    assert category_of(text) == category
