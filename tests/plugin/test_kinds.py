"""Samples of a benchmark and code searches in one session: a report for each kind."""

from __future__ import annotations

from typing import Any

import pytest

from tests.plugin.support import Bench
from tests.plugin.test_codesearch import Search

pytest_plugins = ["pytester"]

BOTH = """
import pytest

@pytest.mark.retrieval(task="code2test", release="release")
def test_code2test(retrieval_judge):
    retrieval_judge()

@pytest.mark.retrieval(task="codesearch", corpora="corpora.json")
def test_codesearch(retrieval_judge):
    retrieval_judge()
"""


@pytest.fixture
def mixed(bench: Bench) -> Bench:
    Search(bench)
    bench.write("test_suite.py", BOTH)
    return bench


def reports(bench: Bench, folder: str) -> dict[str, dict[str, Any]]:
    return {kind: bench.report(f"{folder}/{kind}.json") for kind in ("bench", "codesearch")}


@pytest.mark.parametrize("workers", [[], ["-n2"]], ids=["plain", "n2"])
def test_each_kind_has_its_samples_sources_and_gates(mixed: Bench, workers: list[str]) -> None:
    gates = ["grep: errors == 0", "grep: chunk_recall@10 >= 0", "grep @ task:code2test: mrr@k >= 0"]
    words = ["--arms=grep,alphabet", *(f"--gate={gate}" for gate in gates), *workers]
    result = mixed.run("--report=out", *words)
    result.assert_outcomes(passed=6)
    assert result.ret == 0, result.stdout.str()
    found = reports(mixed, "out")
    assert [len(found[kind]["details"]) for kind in found] == [3, 3]
    assert [report["selection"]["of"] for report in found.values()] == [3, 3]
    assert [report["kind"] for report in found.values()] == ["bench", "codesearch"]
    assert [len(report["sources"]) for report in found.values()] == [1, 1]
    assert [[gate["gate"] for gate in report["gates"]] for report in found.values()] == [
        [gates[0], gates[2]],
        [gates[0], gates[1]],
    ]
    for kind in found:
        assert (mixed.path / "out" / f"{kind}.json.registration.json").exists()
        assert f"report: out/{kind}.json" in result.outlines
    assert found["bench"]["skipped"] == {"no_gold_unlabeled": 1}
    assert found["codesearch"]["skipped"] == {}


def test_by_default_they_lie_beside_each_other(mixed: Bench) -> None:
    assert mixed.run("--arms=grep").ret == 0
    assert set(reports(mixed, ".retrieval")) == {"bench", "codesearch"}
    assert not (mixed.path / ".retrieval" / "report.json").exists()


def test_one_kind_alone_has_one_report(mixed: Bench) -> None:
    assert mixed.run("--arms=grep", "-k", "codesearch", "--report=out.json").ret == 0
    assert mixed.report("out.json")["kind"] == "codesearch"


@pytest.mark.parametrize("workers", [[], ["-n1"]], ids=["plain", "n1"])
def test_a_file_cannot_hold_two_reports(mixed: Bench, workers: list[str]) -> None:
    result = mixed.run("--arms=grep", "--report=out.json", *workers)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    [line] = [line for line in result.errlines if line]
    assert "bench and codesearch items writes a report for each; name a folder" in line
    assert not (mixed.path / "out.json").exists()


def test_a_gate_that_neither_kind_can_judge_is_a_mistake(mixed: Bench) -> None:
    result = mixed.run("--arms=grep", "--gate=grep @ corpus:mars: mrr@k > 0")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: gate*no group 'corpus:mars'*"])


def test_files_that_options_name_have_the_kind_in_their_names(mixed: Bench) -> None:
    assert mixed.run("--arms=grep", "--report=out", "--retrieval-registration=reg.json").ret == 0
    names = sorted(path.name for path in mixed.path.glob("reg*"))
    assert names == ["reg.bench.json", "reg.codesearch.json"]
