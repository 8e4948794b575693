"""Every option under each of its names, and from an ini file."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from pytest_retrieval.plugin.option_table import OPTIONS
from tests.plugin.support import BOAT, COMMITS, ECHO, FFT, HULL, LEAK, MAIN, SVD, TREES, Bench, chunks, lines

pytest_plugins = ["pytester"]

SAMPLES = "release/benchmark/mini/samples.jsonl"
CORPUS = "release/corpus/mini"
ALL = 7


def chosen(bench: Bench) -> set[str]:
    return set(bench.judged())


def report(bench: Bench, name: str = ".retrieval/report.json") -> dict[str, Any]:
    return bench.report(name)


def test_every_option_has_a_long_name_an_ini_twin_and_help(bench: Bench) -> None:
    text = bench.run("--help").stdout.str()
    for option in OPTIONS:
        # From Python 3.13 on the value stands behind the last of several names only.
        value = "" if option.flag else rf"(, --[\w-]+)*={re.escape(option.metavar or '')}"
        assert re.search(rf" --retrieval-{option.name}{value}[\s,]", text)
        assert f"\n  {option.dest} (" in text
        assert bool(re.search(rf" --{option.name}{value}[\s,]", text)) == option.short


def test_the_help_says_everything_once(bench: Bench) -> None:
    text = " ".join(bench.run("--help").stdout.str().split())
    assert text.count("Arms to run, separated by commas: built-in names") == 1
    assert "--arms=[LABEL=]SPEC,... Short for --retrieval-arms. " in text
    assert "retrieval_arms (linelist): The same as --retrieval-arms. " in text


@pytest.mark.parametrize("prefix", ["--", "--retrieval-"])
def test_names_on_the_command_line(bench: Bench, prefix: str) -> None:
    arguments = {
        "samples": SAMPLES,
        "corpus": CORPUS,
        "arms": "alphabet,last=alphabet",
        "limit": "4",
        "task-type": "code2test",
        "max-samples": "2",
        "gate": "alphabet: mrr@k >= 0",
        "report": "elsewhere.json",
    }
    bench.run(*(f"{prefix}{name}={value}" for name, value in arguments.items())).assert_outcomes(passed=2)
    found = report(bench, "elsewhere.json")
    assert sorted(found["arms"]) == ["alphabet", "last"]
    assert found["limit"] == 4
    assert [detail["task_type"] for detail in found["details"]] == ["code2test"] * 2
    # Within four files the third is found, the fifth is not.
    assert found["arms"]["alphabet"]["groups"]["all"]["mrr@k"] == 0.166667
    assert [gate["gate"] for gate in found["gates"]] == ["alphabet: mrr@k >= 0"]
    assert not (bench.path / ".retrieval").exists()


def test_top_k_is_another_name_of_limit(bench: Bench) -> None:
    bench.run(*MAIN, "--retrieval-top-k=3")
    assert report(bench)["limit"] == 3


@pytest.mark.parametrize("prefix", ["--", "--retrieval-"])
def test_a_snapshot_and_a_release_on_the_command_line(bench: Bench, prefix: str) -> None:
    bench.write("changed.chunks.jsonl", chunks({"a.go": "", **TREES[BOAT]}))
    bench.run(
        f"{prefix}release=release",
        f"{prefix}arms=alphabet",
        f"{prefix}snapshot={BOAT}@{COMMITS[BOAT]}=changed.chunks.jsonl",
    )
    judged = bench.judged()
    # One file more comes first: every rank of that repository is one higher, the others are as they were.
    ranks = {name: 1 / judged[name]["metrics"]["alphabet"]["mrr@k"] for name in (HULL, LEAK, SVD)}
    assert ranks == pytest.approx({HULL: 3, LEAK: 5, SVD: 5})


def test_errors_are_tolerated_by_the_long_name_alone(bench: Bench) -> None:
    assert bench.run(*MAIN, "--retrieval-max-errors=1").ret == 0
    result = bench.run(*MAIN, "--max-errors=1")
    assert result.ret == 4
    result.stderr.fnmatch_lines(["*unrecognized arguments: --max-errors=1"])


def test_the_environment_adds_options(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_ADDOPTS", "--release=release --arms=alphabet --task-type=trace2code")
    for workers in ([], ["-n1"]):
        bench.run(*workers).assert_outcomes(passed=1)
        assert chosen(bench) == {LEAK}


INI = """
[pytest]
retrieval_arms = alphabet, last=alphabet
retrieval_release = release
retrieval_limit = 4
retrieval_task_type =
    code2test
    trace2code
retrieval_max_samples = 2
retrieval_report = out.json
retrieval_gates =
    alphabet: mrr@k >= 0
    last @ task:trace2code: hit@k.low >= 0
retrieval_max_errors = 10%
"""
TOML_OF_TEXTS = """
[tool.pytest.ini_options]
retrieval_arms = ["alphabet", "last=alphabet"]
retrieval_release = "release"
retrieval_limit = 4
retrieval_task_type = "code2test,trace2code"
retrieval_max_samples = "2"
retrieval_report = "out.json"
retrieval_gates = ["alphabet: mrr@k >= 0", "last @ task:trace2code: hit@k.low >= 0"]
retrieval_max_errors = "10%"
"""
NATIVE_TOML = """
[tool.pytest]
retrieval_arms = ["alphabet", "last=alphabet"]
retrieval_release = "release"
retrieval_limit = 4
retrieval_task_type = ["code2test", "trace2code"]
retrieval_max_samples = 2
retrieval_report = "out.json"
retrieval_gates = ["alphabet: mrr@k >= 0", "last @ task:trace2code: hit@k.low >= 0"]
retrieval_max_errors = "10%"
"""


@pytest.mark.parametrize(
    ("name", "text", "workers"),
    [
        ("pytest.ini", INI, []),
        ("pytest.ini", INI, ["-n1"]),
        ("pyproject.toml", TOML_OF_TEXTS, []),
        ("pyproject.toml", NATIVE_TOML, []),
    ],
    ids=["ini", "workers", "texts", "native"],
)
def test_ini_files(bench: Bench, name: str, text: str, workers: list[str]) -> None:
    if "[tool.pytest]" in text and pytest.version_tuple < (9, 0):
        pytest.skip("native TOML came with pytest 9.0")
    bench.write(name, text)
    bench.run(*workers).assert_outcomes(passed=3)
    found = report(bench, "out.json")
    assert sorted(found["arms"]) == ["alphabet", "last"]
    assert found["limit"] == 4
    assert len(found["details"]) == 3
    assert [gate["gate"] for gate in found["gates"]] == [
        "alphabet: mrr@k >= 0",
        "last @ task:trace2code: hit@k.low >= 0",
    ]


def test_the_command_line_comes_before_the_ini_file(bench: Bench) -> None:
    bench.write("pytest.ini", INI)
    arguments = ["--arms=alphabet", "--limit=20", "--task-type=comment2context", "--report=typed.json"]
    bench.run(*arguments, "--gate", "alphabet: hit@k >= 1").assert_outcomes(passed=1)
    found = report(bench, "typed.json")
    assert (sorted(found["arms"]), found["limit"]) == (["alphabet"], 20)
    assert [gate["gate"] for gate in found["gates"]] == ["alphabet: hit@k >= 1"]
    assert not (bench.path / "out.json").exists()


def test_an_ini_value_is_taken_away_as_pytest_does_it(bench: Bench) -> None:
    bench.write("pytest.ini", INI)
    bench.run("--arms=alphabet", "-o", "retrieval_gates=", "-o", "retrieval_report=").assert_outcomes(
        passed=3
    )
    assert report(bench)["gates"] == []


def test_paths_of_an_ini_file_are_relative_to_it_and_typed_ones_to_the_place_of_the_call(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.write("pytest.ini", f"[pytest]\nretrieval_samples = {SAMPLES}\nretrieval_report = out.json\n")
    place = bench.pytester.mkdir("place")
    monkeypatch.chdir(place)
    bench.run("..", f"--corpus=../{CORPUS}", "--arms=alphabet").assert_outcomes(passed=ALL)
    assert len(report(bench, "out.json")["details"]) == ALL
    typed = [f"--samples=../{SAMPLES}", f"--corpus=../{CORPUS}", "--report=out.json"]
    bench.run("..", *typed, "--arms=alphabet").assert_outcomes(passed=ALL)
    assert len(report(bench, "place/out.json")["details"]) == ALL


@pytest.mark.parametrize("workers", [[], ["-n1"]])
def test_a_short_form_that_a_conftest_owns_stays_its_own(bench: Bench, workers: list[str]) -> None:
    bench.write(
        "conftest.py",
        f"{(bench.path / 'conftest.py').read_text(encoding='utf-8')}\n"
        "def pytest_addoption(parser):\n"
        "    parser.addoption('--samples', type=int, default=3)\n"
        "    parser.addoption('--report', action='store_true')\n"
        "def pytest_configure(config):\n"
        "    assert config.getoption('--samples') == 5\n"
        "    assert config.getoption('--report') is True\n",
    )
    ours = [f"--retrieval-samples={SAMPLES}", "--retrieval-report=out.json", f"--corpus={CORPUS}"]
    result = bench.run("--samples=5", "--report", *ours, "--arms=alphabet", *workers)
    result.assert_outcomes(passed=ALL)
    assert len(report(bench, "out.json")["details"]) == ALL


def test_a_short_form_that_a_plugin_owns_stays_its_own(bench: Bench) -> None:
    bench.write(
        "owner.py", "def pytest_addoption(parser): parser.addoption('--limit', action='store_true')\n"
    )
    bench.pytester.syspathinsert()
    bench.run("-p", "owner", "--limit", *MAIN, "--retrieval-limit=3").assert_outcomes(passed=ALL)
    assert report(bench)["limit"] == 3


def test_several_files_and_corpora(bench: Bench) -> None:
    rows = [json.loads(line) for line in (bench.path / SAMPLES).read_text(encoding="utf-8").splitlines()]
    bench.write("numpy.jsonl", lines([row for row in rows if row["repo"] == "numpy/numpy"]))
    bench.write("boat.jsonl", lines([row for row in rows if row["repo"] == BOAT]))
    for name in ("one", "two"):
        bench.pytester.mkdir(name)
    corpus = bench.path / CORPUS
    (corpus / "numpy__numpy").rename(bench.path / "one" / "numpy__numpy")
    (corpus / "acme__boat").rename(bench.path / "two" / "acme__boat")
    arguments = ["--samples=numpy.jsonl", "--samples=boat.jsonl", "--corpus=one", "--corpus=two"]
    bench.run(*arguments, "--arms=alphabet").assert_outcomes(passed=5)
    assert [source["path"] for source in report(bench)["sources"]] == ["boat.jsonl", "numpy.jsonl"]
    assert [detail["repo"] for detail in report(bench)["details"]] == [*[BOAT] * 3, *["numpy/numpy"] * 2]


def test_a_home_folder_is_written_out(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(bench.path))
    bench.run("--release=~/release", "--arms=alphabet", "--report=~/out.json").assert_outcomes(passed=ALL)
    assert Path(bench.path / "out.json").is_file()


def test_the_hook_for_arms_may_give_a_list_or_a_mapping(bench: Bench) -> None:
    text = (bench.path / "conftest.py").read_text(encoding="utf-8")
    bench.write("conftest.py", text.replace("[Alphabet]", "{'a-z': Alphabet, 'again': lambda: Alphabet()}"))
    bench.run("--release=release", "--arms=a-z,again", "--task-type=code2test").assert_outcomes(passed=3)
    assert chosen(bench) == {SVD, FFT, ECHO}
    assert {label: arm["name"] for label, arm in report(bench)["arms"].items()} == {
        "a-z": "alphabet",
        "again": "alphabet",
    }


def test_the_value_after_a_short_form_is_no_path_of_tests(bench: Bench) -> None:
    searched = bench.path / "searched"
    searched.mkdir()
    (searched / "conftest.py").write_text("raise RuntimeError('code of the searched folder ran')\n")
    (searched / "one.py").write_text("answer = 42\n")
    (bench.path / "ask.jsonl").write_text('{"query": "the answer", "relevant": ["one.py"]}\n')
    suites = sorted(path.name for path in bench.path.glob("test_*.py"))
    result = bench.run(*suites, "--samples", "ask.jsonl", "--snapshot", "searched", "--arms", "alphabet")
    result.assert_outcomes(passed=1)


def test_a_value_that_moves_the_root_directory_is_refused(
    bench: Bench, tmp_path_factory: pytest.TempPathFactory
) -> None:
    away = tmp_path_factory.mktemp("away")
    (away / "pytest.ini").write_text("[pytest]\n")
    (bench.path / "pyproject.toml").unlink(missing_ok=True)
    result = bench.run("--arms", "alphabet", "--release", str(away))
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: pytest took '{away}' after --release for a test's path*"])
    result.stderr.fnmatch_lines([f"*write --release={away}"])
