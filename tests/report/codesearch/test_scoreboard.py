from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pytest import approx

from pytest_retrieval.errors import ReportError
from pytest_retrieval.report.codesearch.rowfiles import read_rows, write_rows
from pytest_retrieval.report.codesearch.scoreboard import (
    flags_of,
    is_dominated,
    markdown,
    means,
    of_report,
    overall,
    render,
)


def quality(recall: float, queries: int = 10) -> dict[str, Any]:
    cuts = dict.fromkeys(("5", "10", "20"), recall)
    return {"queries": queries, "recall": cuts, "mrr": recall, "zero_miss": 1 - recall}


def row(
    engine: str, corpus: str = "kv", recall: float = 0.5, queries: int = 10, **more: Any
) -> dict[str, Any]:
    return {
        "engine": engine,
        "corpus": corpus,
        "lang": "c",
        "tier": "",
        "files": 600,
        "chunks": 0,
        "indexed_tree": ".",
        "slots_min": 20,
        "slots_mean": 20.0,
        "slots_recorded": True,
        "file": quality(recall, queries),
        "chunk": quality(recall, queries),
        "by_difficulty": {},
        "wide": {},
        "misses": [],
        "cost": {"index_seconds": 4.0, "files_per_sec": 150.0, "query_seconds": 0.1},
        **more,
    }


def test_63_row_files_have_string_keys_and_null_is_no_miss(tmp_path: Path) -> None:
    (path,) = write_rows([row("rip/grep")], tmp_path)
    assert path.name == "rip_grep__kv.json"
    kept = json.loads(path.read_text(encoding="utf-8"))
    assert sorted(kept["chunk"]["recall"]) == ["10", "20", "5"]
    path.write_text(json.dumps({**kept, "misses": None, "by_difficulty": None}), encoding="utf-8")
    (found,) = read_rows(tmp_path)
    assert (found["misses"], found["by_difficulty"]) == ([], {})


def test_rows_come_back_as_they_went(tmp_path: Path) -> None:
    rows = [row("a"), row("b", recall=0.25)]
    write_rows(rows, tmp_path)
    again = read_rows(tmp_path)
    assert [{**one, "ext": {}} for one in again] == [{**one, "ext": {}} for one in rows]
    assert render(again) == render(rows)


def test_17_memory_that_was_not_measured_is_zero_in_files_and_absent_here(tmp_path: Path) -> None:
    cost = {**row("a")["cost"], "tree_peak_rss_mb": 30.0}
    paths = write_rows([row("a", cost=cost), row("b", cost={**cost, "peak_rss_mb": 20.0})], tmp_path)
    assert [json.loads(path.read_bytes())["cost"]["peak_rss_mb"] for path in paths] == [0, 20.0]
    assert [found["cost"].get("peak_rss_mb") for found in read_rows(tmp_path)] == [None, 20.0]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"engine": ""}, "engine: must be a text that is not empty, not ''"),
        ({"chunk": {"queries": 1}}, "chunk: must be an object with 'mrr'"),
        ({"cost": {}}, "cost: must be an object with 'index_seconds'"),
    ],
)
def test_a_row_without_its_engine_is_no_row(tmp_path: Path, change: dict[str, Any], why: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps({**row("a"), **change}), encoding="utf-8")
    with pytest.raises(ReportError) as caught:
        read_rows(path)
    assert why in str(caught.value)


def test_what_is_no_result_file_is_one_line(tmp_path: Path) -> None:
    for text, why in (
        ("[]", "must be an object"),
        ("{", "not JSON"),
        ('{"profile": "pytest-retrieval/1"}', "no code"),
    ):
        path = tmp_path / "x.json"
        path.write_text(text, encoding="utf-8")
        with pytest.raises(ReportError, match=why):
            read_rows(path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(ReportError, match="holds no result file"):
        read_rows(tmp_path / "empty")


def test_64_micro_and_macro() -> None:
    assert means([(10, 0.9), (40, 0.5)]) == approx((0.58, 0.70))
    rows = [row("a", "one", 0.9, 10), row("a", "two", 0.5, 40)]
    assert overall(rows)[0] == "a: chunk R@10 58.0% over queries, 70.0% over corpora"


def test_nothing_overall_where_engines_ran_other_corpora() -> None:
    assert overall([row("a", "one"), row("a", "two"), row("b", "one")]) == []
    failed = {**row("a", "two"), "ext": {"status": "failed"}}
    assert overall([row("a", "one"), failed])[0] == "a: incomplete"


def test_65_unequal_trees_are_marked_on_both_rows() -> None:
    rows = [row("a", indexed_tree="src"), row("b", indexed_tree=".")]
    assert [flags_of(one, rows) for one in rows] == ["≠", "≠"]


def test_66_other_estimators_share_no_token_column() -> None:
    rows = [
        row("a", wide_tokens={"1": 9.0}, ext={"token_estimator": "chars/4"}),
        row("b", wide_tokens={"1": 9.0}, ext={"token_estimator": "cl100k"}),
    ]
    assert "tok@10" not in "\n".join(render(rows))
    assert "tok@10" in "\n".join(render(rows[:1]))


def test_every_caveat_is_on_its_row_and_in_the_legend() -> None:
    caveats = row(
        "a",
        file_granularity_only=True,
        tokens_from_corpus=True,
        wide_tokens={"1": 5.0},
        spanless_hits=2,
        slots_min=3,
        cost={"index_seconds": 1.0, "query_seconds": 1.0, "cold": False},
        ext={
            "query_errors": 1,
            "textless_slots": 1,
            "empty_slots": 1,
            "noticed": {"bad spans": 2},
            "unknown_paths": 1,
            "differing_queries": 1,
            "contended": True,
        },
    )
    assert flags_of(caveats, [caveats]) == "†‡≥es?puEWNC"
    lines = render([caveats])
    assert [line[0] for line in lines[-13:-1]] == list("†‡≥es?puEWNC")
    assert "| a |" in "\n".join(markdown([caveats]))
    assert render([row("a")])[-2] == ""  # no flag in the legend, one title of a column


def test_costs_stand_beside_quality() -> None:
    """One engine was measured in all that there is, the other in nothing."""
    tokens = {"reply": 812.4, "schema": 40, "reading": 9_000.0, "estimator": "chars/4"}
    cost = {
        **row("a")["cost"], "index_state": "incremental", "cold": False, "chunks_per_sec": 450.0,
        "peak_rss_mb": 200.4, "tree_peak_rss_mb": 440.0, "query_peak_rss_mb": 12.0, "answer_tokens": tokens,
    }  # fmt: skip
    lines = render([row("a", cost=cost), row("b")])
    shown = dict(zip(lines[1].split("  "), lines[2].split("  "), strict=False))
    assert shown["engine"] == "a"
    cells = lines[2].split()
    for cell in ("812+40", "9000", "incr", "150", "450", "200/440", "12"):
        assert cell in cells
    assert "200/440" not in lines[3]
    assert any(line.startswith("reply+schema: tokens (chars/4)") for line in lines)
    assert any(line.startswith("index MB: ") for line in lines)
    assert not any("index MB" in line for line in render([row("b")]))


def test_engines_stand_in_the_order_of_the_command_line() -> None:
    head = {
        "arms": {"b": {}, "a": {}}, "environment": {"contended": True},
        "codesearch": {"rows": [row("a", "one"), row("b", "one"), row("a", "two"), row("b", "two")]},
    }  # fmt: skip
    found = of_report(head, 200)
    assert [line.split()[0] for line in found if line.startswith(("a ", "b "))] == ["b", "a", "b", "a"]
    assert all(line.endswith("C") for line in found if line.startswith(("a ", "b ")))
    assert of_report({"arms": {}, "environment": {}}, 80) == []


def test_builds_of_other_kinds_do_not_dominate() -> None:
    warm = row("a", recall=0.6, cost={"index_seconds": 0.1, "query_seconds": 0.1, "index_state": "warm"})
    assert not is_dominated(row("b", recall=0.5), [warm, row("b", recall=0.5)])


def test_pairs_stand_below_their_table() -> None:
    def asked(*ranks: int) -> dict[str, Any]:
        return {"per_query": [{"query": f"q{n}", "ranks": [rank]} for n, rank in enumerate(ranks)]}

    rows = [row("a", ext=asked(1, 2, 0, 1)), row("b", ext=asked(1, 0, 0, 1))]
    lines = render(rows)
    place = next(n for n, line in enumerate(lines) if line.startswith("pair"))
    assert lines[place + 1].split()[:4] == ["b", "-", "a", "-25.0"]
    assert lines[place + 1].endswith("not separable")
    narrow = render([row("long" * 9, ext=rows[0]["ext"]), rows[1]], 80)
    place = next(n for n, line in enumerate(narrow) if line.startswith("pair"))
    assert narrow[place].split() == ["pair", "R@10", "95%", "CI", "separable"]
    assert any(line.startswith("| b - a | -25.0 |") for line in markdown(rows))
    assert not any(line.startswith("pair") for line in render(rows, pairs={}))


def test_a_failed_row_shows_no_figure() -> None:
    failed = {
        "engine": "a",
        "corpus": "kv",
        "cost": row("a")["cost"],
        "ext": {"status": "failed", "errors": ["no x"]},
    }
    lines = render([failed, row("b")])
    assert "  a: failed: no x" in lines
    assert lines[2].split()[1:5] == ["-"] * 4


def test_dominated_rows() -> None:
    best, worse = row("a", recall=0.6), row("b", recall=0.5)
    assert (is_dominated(worse, [best, worse]), is_dominated(best, [best, worse])) == (True, False)
    faster = row("b", recall=0.5, cost={"index_seconds": 0.0, "query_seconds": 0.1})
    assert not is_dominated(faster, [best, faster])
    priced = row("b", recall=0.5, wide_tokens={"1": 5.0})
    assert not is_dominated(priced, [best, priced])
    assert not is_dominated(row("b", recall=0.5, file_granularity_only=True), [best, worse])
    assert not is_dominated(best, [best, row("c", recall=0.6)])


def test_times_of_several_workers_dominate_nobody() -> None:
    contended: dict[str, Any] = {"ext": {"contended": True}}
    for best, worse in (
        (row("a", recall=0.6, **contended), row("b", **contended)),
        (row("a", recall=0.6, **contended), row("b")),
        (row("a", recall=0.6), row("b", **contended)),
    ):
        assert not is_dominated(worse, [best, worse])
    assert flags_of(row("b", **contended), [row("a", recall=0.6, **contended)]) == "C"


def test_how_many_files_came_back_is_shown() -> None:
    lines = render([row("a", slots_min=3, slots_mean=8.24), {**row("b"), "slots_recorded": False}])
    end = lines[1].index("files@20") + len("files@20")
    assert (lines[2][:end].split()[-1], lines[3][:end].split()[-1]) == ("3/8.2", "-")
    assert any(line.startswith("files@20: the fewest") for line in lines)


def test_a_narrow_terminal_keeps_what_matters() -> None:
    titles = render([row("a")], 80)[1]
    assert len(titles) <= 80
    assert [name for name in ("R@10", "MRR", "none@20↓", "index", "p50", "flags") if name not in titles] == []
