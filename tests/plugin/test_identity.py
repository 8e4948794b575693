"""One benchmark, one report: whoever runs it, in whatever order, and wherever from."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from pytest_retrieval.report.canonical import encode
from pytest_retrieval.report.identity import strip_times
from tests.plugin.support import ALPHABET, BOAT, COMMITS, MAIN, SUITE, TREES, Bench, chunks

pytest_plugins = ["pytester"]

ARMS = "--arms=grep,grep-ident,bm25,alphabet"
GATES = ("--gate=alphabet: mrr@k >= 0.9", "--gate=grep @ fold:A: errors == 0")
RUN = (
    "--release=release",
    ARMS,
    *GATES,
    "--report=out.json",
    "--retrieval-overwrite",
    "-p",
    "no:cacheprovider",
)

REVERSED = """
import pytest

@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    items.reverse()
"""


@pytest.fixture
def project(bench: Bench) -> Bench:
    """The benchmark, in which one repository has no snapshot and one its own by name."""
    shutil.rmtree(bench.path / "release" / "corpus" / "mini" / "pallets__click")
    bench.write("boat.chunks.jsonl", chunks({"first.go": "package first\n", **TREES[BOAT]}))
    bench.write("pytest.ini", f"[pytest]\nretrieval_snapshot = {BOAT}@{COMMITS[BOAT]}=boat.chunks.jsonl\n")
    return bench


def same(path: Path) -> bytes:
    """What every run of one benchmark has in common, after a look at the file itself."""
    written = path.read_bytes()
    report = json.loads(written)
    assert written == encode(report) + b"\n"
    path.unlink()
    return encode(strip_times(report))


def alone(project: Bench) -> bytes:
    """The report of a run in one process."""
    project.run(*RUN).assert_outcomes(passed=5, failed=2)
    return same(project.path / "out.json")


@pytest.mark.parametrize(
    "workers",
    [
        ["-n0"],
        ["-n1"],
        ["-n2"],
        ["-n4"],
        ["-n2", "--dist=worksteal"],
        ["-n2", "--dist=loadfile"],
        ["-n2", "--dist=loadscope"],
        ["-n2", "--dist=each"],
        ["--tx", "2*popen", "--dist=load"],
    ],
    ids=" ".join,
)
def test_workers(project: Bench, workers: Sequence[str]) -> None:
    expected = alone(project)
    assert project.run(*RUN, *workers).ret == 1
    assert same(project.path / "out.json") == expected


def test_groups_of_ones_own(project: Bench) -> None:
    expected = alone(project)
    marked = SUITE.replace(
        "@pytest.mark.retrieval", "@pytest.mark.xdist_group('a@b')\n@pytest.mark.retrieval"
    )
    project.write("test_suite.py", marked)
    assert project.run(*RUN, "-n2", "--dist=loadgroup").ret == 1
    assert same(project.path / "out.json") == expected


@pytest.mark.parametrize("workers", [[], ["-n2"]])
def test_order_of_items(project: Bench, workers: Sequence[str]) -> None:
    expected = alone(project)
    project.write("conftest.py", ALPHABET + REVERSED)
    assert project.run(*RUN, *workers).ret == 1
    assert same(project.path / "out.json") == expected


@pytest.mark.parametrize(
    ("name", "value"), [("PYTHONHASHSEED", "1"), ("LC_ALL", "C"), ("TZ", "Asia/Tokyo"), ("COLUMNS", "40")]
)
def test_environment(project: Bench, monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    expected = alone(project)
    monkeypatch.setenv(name, value)
    assert project.run_apart(*RUN).ret == 1
    assert same(project.path / "out.json") == expected


def test_environment_of_workers(project: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = alone(project)
    monkeypatch.setenv("PYTHONHASHSEED", "random")
    monkeypatch.setenv("LC_ALL", "C")
    assert project.run_apart("-p", "xdist", "-n2", *RUN).ret == 1
    assert same(project.path / "out.json") == expected


@pytest.mark.parametrize("arguments", [["-p", "no:xdist"], ["-v"], ["-qq"], ["-s"]], ids=" ".join)
def test_options_of_pytest(project: Bench, arguments: Sequence[str]) -> None:
    expected = alone(project)
    assert project.run(*RUN, *arguments).ret == 1
    assert same(project.path / "out.json") == expected


@pytest.mark.parametrize("workers", [[], ["-n1"]])
def test_the_place_of_the_call(
    project: Bench, monkeypatch: pytest.MonkeyPatch, workers: Sequence[str]
) -> None:
    expected = alone(project)
    monkeypatch.chdir(project.pytester.mkdir("elsewhere"))
    arguments = [
        *RUN[1:-4],
        "--report=../out.json",
        "--retrieval-overwrite",
        "-p",
        "no:cacheprovider",
        "--release=../release",
    ]
    assert project.run("..", *arguments, *workers).ret == 1
    assert same(project.path / "out.json") == expected


def test_every_sample_is_in_the_order_of_its_file(bench: Bench) -> None:
    bench.write("conftest.py", ALPHABET + REVERSED)
    bench.run(*MAIN).assert_outcomes(passed=7)
    details = bench.report()["details"]
    assert [detail["row"] for detail in details] == [0, 1, 2, 3, 4, 5, 6]


def test_the_report_is_replaced_and_nothing_stays_beside_it(bench: Bench) -> None:
    bench.run(*MAIN, "--task-type=trace2code")
    bench.run(*MAIN, "--task-type=code2test")
    assert len(bench.report()["details"]) == 3
    folder = bench.path / ".retrieval"
    assert {path.name for path in folder.iterdir()} == {".gitignore", "report.json"}
    assert (folder / ".gitignore").read_text(encoding="utf-8") == "*\n"


def test_a_report_of_ones_own_leaves_no_default_one(bench: Bench) -> None:
    bench.run(*MAIN, "--report=out.json")
    assert len(bench.report("out.json")["details"]) == 7
    assert not (bench.path / ".retrieval").exists()


def test_a_gitignore_of_ones_own_is_kept(bench: Bench) -> None:
    bench.write(".retrieval/.gitignore", "# mine\n")
    bench.run(*MAIN)
    assert (bench.path / ".retrieval" / ".gitignore").read_text(encoding="utf-8") == "# mine\n"
