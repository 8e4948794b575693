from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_retrieval.datasets.corpora import corpora_root, load_corpora, rebased, samples_of
from pytest_retrieval.datasets.searchset import Findings, is_balanced, parse_queries, strata
from pytest_retrieval.errors import SampleError
from pytest_retrieval.model import Gold

QUERY = {
    "query": "where is an expired key dropped on read",
    "difficulty": "hard",
    "subsystem": "expiry",
    "relevant": [{"path": "src/expire.c", "symbol": "dropIfExpired", "start": 210, "end": 246}],
}
CORPUS = {
    "name": "kvstore",
    "repo": "https://example.org/kvstore.git",
    "rev": "v4.1.0",
    "commit": "0c4f" * 10,
    "lang": "c",
    "path": "/home/u/corpora/kv/",
    "queries": "queries/kvstore.json",
}


def written(folder: Path, *corpora: Any, queries: Any = (QUERY,)) -> Path:
    (folder / "queries").mkdir(exist_ok=True)
    (folder / "queries" / "kvstore.json").write_text(json.dumps(queries), encoding="utf-8")
    path = folder / "corpora.json"
    path.write_text(json.dumps({"corpora": corpora or [CORPUS]}), encoding="utf-8")
    return path


def faults(path: Path) -> str:
    with pytest.raises(SampleError) as caught:
        load_corpora(path)
    return str(caught.value)


def parsed(*rows: Any) -> Findings:
    findings = Findings()
    parse_queries(json.dumps(rows).encode(), findings)
    return findings


def test_a_corpus_and_its_queries(tmp_path: Path) -> None:
    (corpus,) = load_corpora(written(tmp_path)).corpora
    assert (corpus.name, corpus.lang, corpus.rev, corpus.tree) == ("kvstore", "c", "v4.1.0", ".")
    (query,) = corpus.query_set
    assert query.golds == (Gold("src/expire.c", 210, 246, "dropIfExpired"),)
    (sample,) = samples_of(corpus, "queries/kvstore.json", corpus.commit).samples
    assert (sample.task, sample.snapshot) == ("codesearch", f"corpus/kvstore@{'0c4f' * 10}")
    assert sample.gold == ("src/expire.c",)
    assert sample.searched is not None
    assert (sample.searched.difficulty, sample.searched.subsystem) == ("hard", "expiry")


def test_43_rebased(tmp_path: Path) -> None:
    (corpus,) = load_corpora(written(tmp_path)).corpora
    moved = rebased(corpus, "/data")
    assert (moved.path, moved.commit, moved.queries) == ("/data/kv", corpus.commit, corpus.queries)
    (loaded,) = load_corpora(written(tmp_path), "/data").corpora
    assert loaded.path == "/data/kv"
    assert corpora_root("/a", {"BENCH_CORPORA": "/b"}) == "/a"
    assert corpora_root(None, {"BENCH_CORPORA": "/b"}) == "/b"
    assert corpora_root("", {"BENCH_CORPORA": ""}) is None


def test_a_distribution_is_not_rebased(tmp_path: Path) -> None:
    (corpus,) = load_corpora(written(tmp_path, {**CORPUS, "path": "dist:numpy"}), "/data").corpora
    assert (corpus.path, corpus.distribution, corpus.source) == ("dist:numpy", "numpy", "dist:numpy")


def test_relative_paths_are_seen_from_the_file(tmp_path: Path) -> None:
    (corpus,) = load_corpora(written(tmp_path, {**CORPUS, "path": "kv"})).corpora
    assert corpus.path == str(tmp_path / "kv")


def test_what_is_judged_has_a_digest_wherever_it_lies(tmp_path: Path) -> None:
    (corpus,) = load_corpora(written(tmp_path)).corpora
    assert rebased(corpus, "/data").digest == corpus.digest
    (narrower,) = load_corpora(written(tmp_path, {**CORPUS, "subdirs": ["src"]})).corpora
    assert narrower.digest != corpus.digest


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"name": " "}, "name: must be a text that is not blank"),
        ({"commit": "v4.1.0"}, "commit: must be 7 to 40 lower-case hex digits; a tag is no pin"),
        ({"path": ""}, "path: must be a text that is not blank"),
        ({"queries": "gone.json"}, "gone.json: the file: No such file or directory"),
        ({"subdirs": ["../x"]}, "subdirs: '../x' leads out of the corpus"),
        ({"subdirs": "src"}, "subdirs: must be a list of folders"),
    ],
)
def test_faults_of_a_corpus(tmp_path: Path, change: dict[str, Any], why: str) -> None:
    assert why in faults(written(tmp_path, {**CORPUS, **change}))


def test_unknown_keys_are_told_and_duplicates_refused(tmp_path: Path) -> None:
    listed = load_corpora(written(tmp_path, {**CORPUS, "subdir": ["src"]}))
    assert listed.warnings == (
        "corpora.json: corpus 'kvstore': unknown key 'subdir', ignored; did you mean 'subdirs'?",
    )
    assert "'kvstore': is listed twice" in faults(written(tmp_path, CORPUS, CORPUS))


@pytest.mark.parametrize("text", ["", "[]", '{"corpora": 1}', "{"])
def test_what_is_no_list_of_corpora_is_one_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "corpora.json"
    path.write_text(text, encoding="utf-8")
    assert "\n" not in faults(path)


def test_every_fault_of_a_query_set_is_told(tmp_path: Path) -> None:
    bad = [
        {**QUERY, "difficulty": "tricky"},
        {**QUERY, "query": " "},
        {**QUERY, "relevant": []},
        {**QUERY, "relevant": [{"path": "/etc/passwd"}, {"path": "a\\b"}, {"path": "../x"}]},
        {**QUERY, "relevant": [{"path": "a", "start": 3}, {"path": "a", "start": 9, "end": 4}]},
    ]
    said = faults(written(tmp_path, queries=bad))
    assert len(said.splitlines()) == 8
    assert "difficulty: must be one of easy, medium, hard, not 'tricky'" in said
    assert "end without" not in said
    assert "start without the other; write both or neither" in said
    assert "lines 9 to 4: line numbers from 1, in rising order" in said


def test_both_top_levels_and_lines_as_go_writes_none() -> None:
    rows = [{**QUERY, "relevant": [{"path": "a", "start": 0, "end": 0}]}]
    for document in (rows, {"queries": rows}):
        (query,) = parse_queries(json.dumps(document).encode(), Findings())
        assert query.golds == (Gold("a"),)


def test_an_answer_twice_counts_once_and_is_told() -> None:
    findings = parsed({**QUERY, "relevant": [{"path": "a"}, {"path": "a"}]})
    assert any("names an answer twice" in line for line in findings.warnings)
    assert findings.faults == []


def test_a_question_twice_is_told() -> None:
    assert any("asked 2 times" in line for line in parsed(QUERY, QUERY).warnings)


@pytest.mark.parametrize(
    ("counts", "balanced"),
    [
        ((10, 10, 10), True),
        ((12, 9, 9), True),
        ((3, 3, 2), True),
        ((14, 8, 8), False),
        ((20, 5, 5), False),
        ((4, 1, 1), False),
        ((2, 1, 0), True),  # one query from a third
        ((43, 29, 28), True),  # 9.7 points
        ((44, 28, 28), False),  # 10.7 points
        ((0, 0, 0), True),
    ],
)
def test_61_strata(counts: tuple[int, int, int], balanced: bool) -> None:
    names = ("easy", "medium", "hard")
    difficulties = [name for name, count in zip(names, counts, strict=True) for _ in range(count)]
    assert strata(difficulties) == dict(zip(names, counts, strict=True))
    assert is_balanced(difficulties) is balanced
