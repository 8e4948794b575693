"""Suites that users write: a marker that names samples and where their snapshots are."""

from __future__ import annotations

import shutil
from hashlib import sha256
from typing import Any

import pytest

from tests.plugin.support import (
    BOAT,
    COMMITS,
    CORE,
    ECHO,
    FFT,
    IDS,
    LEAK,
    MAIN,
    NAMES,
    ROOT,
    ROWS,
    SAIL,
    SVD,
    TREES,
    Bench,
    chunks,
    lines,
    write,
    write_release,
)

pytest_plugins = ["pytester"]

SHORT: list[dict[str, Any]] = [
    {"query": "Where is the hull?", "relevant": ["boat/hull.go"]},
    {"query": "Where does it begin?", "relevant": ["main.go"]},
    {"query": "Where is the anchor?", "no_gold": True},
]


def suite(marker: str, name: str = "test_it") -> str:
    return (
        f"import pytest\n@pytest.mark.retrieval({marker})\ndef {name}(retrieval_judge): retrieval_judge()\n"
    )


def write_tree(bench: Bench, name: str) -> None:
    for path, text in TREES[BOAT].items():
        bench.write(f"{name}/{path}", text)


def reciprocal_ranks(bench: Bench, name: str = ".retrieval/report.json") -> list[float]:
    """Of the arm ``alphabet``, in the order of the report, positives only."""
    details = bench.report(name)["details"]
    return [detail["metrics"]["alphabet"]["mrr@k"] for detail in details if detail["gold"]]


NAMED = "samples='short.jsonl', snapshot='tree'"


@pytest.mark.parametrize(
    ("marker", "workers", "expected"),
    [
        # Written as seen from the suite's folder, two below the root.
        ("samples='../samples.jsonl', corpus='../../release/corpus/mini'", [], [0.2, 1 / 3, 0.2, 0.5, 0.25]),
        ("samples=['../samples.jsonl'], corpus=['../../release/corpus/mini'], task='trace2code'", [], [0.25]),
        ("task=['trace2code', 'comment2context'], release='../../release'", [], [0.5, 0.25]),
        ("samples='short.jsonl', snapshot='boat.chunks.jsonl'", [], [1, 0.25]),
        ("samples='short.jsonl', snapshot='mine/boat@first=tree'", [], [1, 0.25]),
        (NAMED, [], [1, 0.25]),
        (NAMED, ["-n1"], [1, 0.25]),
    ],
)
def test_markers(bench: Bench, marker: str, workers: list[str], expected: list[float]) -> None:
    samples = bench.path / "release" / "benchmark" / "mini" / "samples.jsonl"
    bench.write("own/samples.jsonl", samples.read_text(encoding="utf-8"))
    bench.write("own/deep/short.jsonl", lines(SHORT))
    bench.write("own/deep/boat.chunks.jsonl", chunks(TREES[BOAT]))
    write_tree(bench, "own/deep/tree")
    bench.write("own/deep/test_own.py", suite(marker))
    assert bench.run("own", "--arms=alphabet", *workers).ret == 0
    assert reciprocal_ranks(bench) == pytest.approx(expected)


@pytest.mark.parametrize("workers", [[], ["-n1"]])
def test_questions_by_hand_about_one_snapshot(bench: Bench, workers: list[str]) -> None:
    bench.write("short.jsonl", lines(SHORT))
    write_tree(bench, "tree")
    arguments = ["--samples=short.jsonl", "--snapshot=tree", "--arms=alphabet"]
    result = bench.run(*arguments, "-v", *workers)
    result.assert_outcomes(passed=3)
    # The folder's name, and the first digits of its tree digest; ids from the question and its answer.
    digest = sha256(
        b"".join(
            f"{path}\0{sha256(text.encode()).hexdigest()}\n".encode() for path, text in TREES[BOAT].items()
        )
    ).hexdigest()
    first = sha256(b'["Where is the hull?", ["boat/hull.go"]]').hexdigest()
    details = bench.report()["details"]
    assert details[0]["id"] == first[:24]
    assert {(detail["repo"], detail["base_commit"]) for detail in details} == {("local/tree", digest[:40])}
    assert {detail["task_type"] for detail in details} == {"queryset"}
    assert [detail["stratum"] for detail in details] == ["positive", "positive", "counterfactual_no_gold"]
    assert bench.report()["snapshots"][f"local/tree@{digest[:40]}"]["tree"] == digest
    result.stdout.fnmatch_lines([f"*test_code2test[[]local/tree-where-is-the-hull-{first[:12]}] *"])


def test_all_rows_of_a_named_file_go_to_the_first_suite(bench: Bench) -> None:
    shutil.copytree(bench.path / "release" / "benchmark" / "mini", bench.path / "mine")
    arguments = ["--samples=mine/samples.jsonl", "--corpus=release/corpus/mini", "--arms=alphabet"]
    result = bench.run(*arguments, "-v")
    result.assert_outcomes(passed=7)
    assert result.stdout.str().count("::test_code2test[") == 7


def test_a_sample_of_two_suites_is_judged_once(bench: Bench) -> None:
    bench.write("test_again.py", suite("task='code2test', release='release'"))
    bench.write("test_all.py", suite("release='release'"))
    result = bench.run("--arms=alphabet", "-q", "test_again.py", "test_all.py")
    result.assert_outcomes(passed=7)
    assert bench.report()["selection"] == {"of": 7, "chosen": 7, "judged": 7, "lost": []}


def test_several_releases_repeat_samples_of_one_another(bench: Bench) -> None:
    write_release(bench.path / "data" / "first", ROWS[:3])
    benchmark = bench.path / "data" / "second" / "benchmark" / "second" / "samples.jsonl"
    write(benchmark, lines(ROWS[2:]))
    result = bench.run("--release=data", "--arms=alphabet")
    result.assert_outcomes(passed=7)
    assert set(bench.judged()) == set(IDS)
    assert [(source["rows"], source["kept"]) for source in bench.report()["sources"]] == [(3, 3), (6, 5)]


def test_equal_ids_of_different_questions_are_both_judged(bench: Bench) -> None:
    write_tree(bench, "tree")
    for name, question in (("one", "Where is the hull?"), ("two", "Where is the sail?")):
        rows = [{"id": "1", "query": question, "relevant": ["main.go"]}]
        bench.write(f"{name}.jsonl", lines(rows))
    arguments = ["--samples=one.jsonl", "--samples=two.jsonl", "--snapshot=tree", "--arms=alphabet"]
    bench.run(*arguments, "-o", "strict_parametrization_ids=true").assert_outcomes(passed=2)
    assert [detail["query_chars"] for detail in bench.report()["details"]] == [18, 18]
    assert len({detail["source"] for detail in bench.report()["details"]}) == 2


def test_one_row_is_not_judged_against_two_snapshots(bench: Bench) -> None:
    bench.write("short.jsonl", lines(SHORT))
    write_tree(bench, "one")
    write_tree(bench, "two")
    for name in ("one", "two"):
        bench.write(f"test_{name}.py", suite(f"samples='short.jsonl', snapshot='{name}'"))
    result = bench.run("test_one.py", "test_two.py", "--arms=alphabet")
    assert result.ret == 2
    result.stdout.fnmatch_lines(
        ["sample '*': one session cannot judge a row against two snapshots, local/one@*"]
    )


@pytest.mark.parametrize("workers", [[], ["-n1"]])
def test_a_suite_that_is_parametrized_further_is_refused(bench: Bench, workers: list[str]) -> None:
    text = suite("task='trace2code', release='release'").replace("(retrieval_judge)", "(retrieval_judge, x)")
    bench.write("test_own.py", text.replace("@", "@pytest.mark.parametrize('x', [1, 2])\n@", 1))
    result = bench.run("test_own.py", "--arms=alphabet", *workers)
    assert result.ret == 4
    result.stderr.fnmatch_lines(["ERROR: *::test_it[[]*] and *::test_it[[]*] judge one sample; *"])


@pytest.mark.parametrize("workers", [["-n0"], ["-n2"]])
def test_the_shipped_suites_run_a_release_into_one_report(bench: Bench, workers: list[str]) -> None:
    arguments = [*MAIN[:1], "--arms=grep", "--report=out.json", "-p", "no:cacheprovider"]
    result = bench.run_apart("-p", "xdist", ROOT / "suites", *arguments, *workers)
    result.assert_outcomes(passed=7)
    found = bench.report("out.json")
    assert {group for group in found["arms"]["grep"]["groups"] if group.startswith("task:")} == {
        "task:abstention",
        "task:code2test",
        "task:comment2context",
        "task:trace2code",
    }
    assert found["skipped"] == {"no_gold_unlabeled": 1}


def test_a_shipped_suite_takes_its_own_task(bench: Bench) -> None:
    arguments = [*MAIN[:1], "--arms=grep", "--report=out.json", "-p", "no:cacheprovider"]
    bench.run(ROOT / "suites" / "abstention", *arguments)
    assert {NAMES[detail["id"]] for detail in bench.report("out.json")["details"]} == {SAIL, CORE}


def test_a_suite_may_ask_more_of_an_outcome(bench: Bench) -> None:
    bench.write(
        "test_own.py",
        "import pytest\n"
        "@pytest.mark.retrieval(task='code2test', release='release')\n"
        "def test_it(retrieval_judge):\n"
        "    assert retrieval_judge().detail['metrics']['alphabet']['mrr@k'] > 0.3\n",
    )
    result = bench.run("test_own.py", "--arms=alphabet")
    result.assert_outcomes(passed=1, failed=2)
    assert {name: detail["status"] for name, detail in bench.judged().items()} == {
        SVD: "measured",
        FFT: "measured",
        ECHO: "measured",
    }


def test_a_sample_without_a_snapshot_is_a_fault_that_says_what_to_give(bench: Bench) -> None:
    shutil.rmtree(bench.path / "release" / "corpus" / "mini" / "acme__boat")
    result = bench.run(*MAIN, "--gate", "alphabet: errors == 0")
    result.assert_outcomes(passed=4, failed=3)
    line = f"snapshot: no snapshot for {BOAT}@{COMMITS[BOAT]}: *; give --snapshot *=SOURCE or --corpus DIR"
    result.stdout.fnmatch_lines([line])
    assert bench.judged()[LEAK]["status"] == "fault"
    assert bench.report()["gates"][0]["got"] == 3
