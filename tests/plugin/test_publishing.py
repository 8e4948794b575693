"""What a run says where people already look: GitHub's summary and annotations, JUnit's XML."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest

from pytest_retrieval.plugin.publishing import Publishing, workflow_commands
from tests.plugin.support import ITEMS, MAIN, SVD, Bench

pytest_plugins = ["pytester"]

FAILING = "--gate=alphabet: mrr@k >= 0.9"
GATE = {"status": "failed", "expected": ">= 0.9", "n": 5, "chosen": 5, "of": 5, "got": 0.297, "fails": True}


@pytest.fixture
def summary(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that a job's step has for its summary."""
    path = bench.path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(path))
    return path


@pytest.mark.parametrize("how", [(), ("-n2",)])
def test_the_summary_is_appended(bench: Bench, summary: Path, how: tuple[str, ...]) -> None:
    summary.write_text("of another tool\n", encoding="utf-8")
    bench.run(*MAIN, FAILING, *how)
    text = summary.read_text(encoding="utf-8")
    assert text.startswith("of another tool\n### Retrieval: 7 samples, 1 arm, 1 of 1 gates failed\n")
    assert "<code>alphabet: mrr&#64;k" in text
    assert text.count("### Retrieval") == 1


def test_nothing_is_written_where_nobody_asks(
    bench: Bench, summary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    result = bench.run(*MAIN, FAILING, "--retrieval-no-github")
    assert not summary.exists()
    result.stdout.no_fnmatch_line("::error*")
    bench.write("test_ordinary.py", "def test_it(): pass\n")
    bench.run("test_ordinary.py")
    assert not summary.exists()


def test_a_full_summary_is_left_alone(bench: Bench, summary: Path) -> None:
    summary.write_bytes(b"x" * ((1 << 20) - 200))
    result = bench.run(*MAIN)
    assert result.ret == 0
    assert summary.stat().st_size == (1 << 20) - 200
    result.stdout.fnmatch_lines(["GITHUB_STEP_SUMMARY: 200 bytes are left of its MiB; the report is in *"])


def test_a_summary_that_cannot_be_written_fails_nothing(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(bench.path))
    result = bench.run(*MAIN)
    assert result.ret == 0
    result.stdout.fnmatch_lines(["GITHUB_STEP_SUMMARY: cannot be written: Is a directory"])


@pytest.mark.parametrize("how", [(), ("-qq",)])
def test_failed_gates_are_annotated(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, how: tuple[str, ...]
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    result = bench.run(*MAIN, FAILING, "--gate=alphabet: errors == 0", *how)
    assert result.ret == 1
    found = [line for line in result.outlines if line.startswith("::")]
    assert len(found) == 1
    assert found[0].startswith("::error title=Retrieval gate::FAILED alphabet: mrr@k >= 0.9: got 0.296667")


def test_annotations_are_escaped_and_bounded() -> None:
    gate = {**GATE, "gate": "a: b@k >= 0.9", "reason": "50%\r\n::warning::x"}
    (line,) = workflow_commands([{**gate, "status": "undecidable"}])
    assert "\n" not in line
    assert line.startswith("::error title=Retrieval gate::UNDECIDABLE a: b@k >= 0.9: 50%25\\r\\n::warning::x")
    lines = list(workflow_commands([{**GATE, "gate": f"arm{n}: mrr@k >= 0.9"} for n in range(12)]))
    assert len(lines) == 10
    assert lines[-1] == "::error title=Retrieval gate::3 more gates; the report has them all"


def test_undecided_gates_are_warnings() -> None:
    undecided = {**GATE, "gate": "a: b@k >= 0.9", "status": "undecided", "fails": False}
    assert [line.split(" ")[0] for line in workflow_commands([undecided])] == ["::warning"]
    assert [line.split(" ")[0] for line in workflow_commands([{**undecided, "fails": True}])] == ["::error"]
    assert list(workflow_commands([{**undecided, "status": "passed"}])) == []


@pytest.mark.parametrize("how", [(), ("-n2",)])
def test_properties_in_the_xml(bench: Bench, how: tuple[str, ...]) -> None:
    assert bench.run(*MAIN, "--junitxml=junit.xml", "--retrieval-measures=AP", *how).ret == 0
    suite = ElementTree.parse(bench.path / "junit.xml").getroot()[0]
    of_suite = {found.get("name"): found.get("value") for found in suite.findall("properties/property")}
    assert of_suite["retrieval.report"] == ".retrieval/report.json"
    assert of_suite["retrieval.alphabet.mrr@k"] == "0.296667"
    assert of_suite["retrieval.alphabet.errors"] == "0"
    assert "retrieval.alphabet.ap@k" in of_suite
    (case,) = (found for found in suite.findall("testcase") if found.get("name") == ITEMS[SVD])
    properties = {found.get("name"): found.get("value") for found in case.findall("properties/property")}
    assert properties == {
        "retrieval.sample": "0f3a91c2d4e5ffffffffffff",
        "retrieval.alphabet.recall@10": "1.0",
        "retrieval.alphabet.mrr@k": "0.2",
    }


def test_the_suite_of_a_trial_has_its_success(pytestconfig: pytest.Config) -> None:
    given: list[tuple[str, str]] = []
    groups = {"all": {"success": {"n": 4, "count": 1, "rate": 0.25}, "recall@10": {"n": 0}}}
    place = SimpleNamespace(report=pytestconfig.rootpath / "trial.json")
    harvest: Any = SimpleNamespace(summary={"arms": {"grep": {"groups": groups}}}, place=place)
    xml = SimpleNamespace(add_global_property=lambda name, text: given.append((name, text)))
    manager = SimpleNamespace(get_plugins=lambda: [object(), xml])
    config: Any = SimpleNamespace(pluginmanager=manager, rootpath=pytestconfig.rootpath)
    Publishing(config, [harvest]).pytest_sessionfinish()
    assert given == [("retrieval.report", "trial.json"), ("retrieval.grep.success", "0.25")]


def test_without_the_xml_items_carry_no_properties(bench: Bench) -> None:
    bench.write(
        "conftest.py",
        (bench.path / "conftest.py").read_text(encoding="utf-8")
        + "\ndef pytest_runtest_logreport(report):\n    assert not report.user_properties\n",
    )
    assert bench.run(*MAIN).ret == 0
