"""The command ``pytest-retrieval html``: where it writes, what it refuses, and what it takes over."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_retrieval.cli import main
from tests.report.html.pages import Page
from tests.report.html.test_tasks import trial
from tests.report.runs import made_up_run, written

VERDICT = {
    "gate": "grep: errors == 0",
    "status": "failed",
    "fails": True,
    "expected": "== 0",
    "got": 2,
    "n": 6,
    "chosen": 6,
    "of": 6,
}


@pytest.fixture
def report(tmp_path: Path) -> Path:
    return written(tmp_path / "report.json", made_up_run(range(6), of=6).with_gates([VERDICT]))


def read(path: Path) -> Page:
    return Page(path.read_text(encoding="utf-8").removesuffix("\n"))


def test_the_page_lies_beside_the_report(report: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["html", str(report)]) == 0
    output = report.with_suffix(".html")
    assert capsys.readouterr().out == f"{output}\n"
    page = read(output)
    assert not page.faults
    assert len(page.data["samples"]) == 6
    assert "grep: errors == 0: got 2" in page.text


def test_it_goes_where_it_is_told_to_and_replaces_a_page(report: Path) -> None:
    output = report.with_name("page.htm")
    assert main(["html", str(report), "-o", str(output)]) == 0
    before = output.read_bytes()
    assert main(["html", str(report), "-o", str(output)]) == 0
    assert output.read_bytes() == before


def test_a_report_of_joined_parts_has_a_page(tmp_path: Path) -> None:
    halves = [
        written(tmp_path / f"{place}.json", made_up_run(rows, of=6, environment={"contended": place == 1}))
        for place, rows in enumerate((range(4), range(4, 6)))
    ]
    joined = tmp_path / "joined.json"
    assert main(["summarize", *map(str, halves), "-o", str(joined)]) == 0
    assert main(["html", str(joined)]) == 0
    page = read(joined.with_suffix(".html"))
    assert not page.faults
    assert len(page.data["samples"]) == 6
    assert "Several workers shared the machine" in page.text


def test_a_trial_has_a_page(tmp_path: Path) -> None:
    assert main(["html", str(written(tmp_path / "trial.json", trial()))]) == 0
    assert "agents under contexts" in read(tmp_path / "trial.html").text


@pytest.mark.parametrize(
    ("name", "words"),
    [("report.json", "this is the report itself"), ("notes.html", "would replace a file that no run wrote")],
)
def test_other_files_are_left_alone(
    report: Path, capsys: pytest.CaptureFixture[str], name: str, words: str
) -> None:
    report.with_name("notes.html").write_text("<!doctype html>my notes")
    before = report.with_name(name).read_bytes()
    assert main(["html", str(report), "-o", str(report.with_name(name))]) == 2
    assert words in capsys.readouterr().err
    assert report.with_name(name).read_bytes() == before


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"gates": [{"gate": "x"}]}, "gates[0]: must be an object with"),
        ({"gates": [{**VERDICT, "difference": 1}]}, "gates[0]: is no verdict of a gate"),
        ({"kind": "poem"}, "kind: must be one of"),
        ({"profile": "none"}, "profile: 'none' is not one that can be read"),
    ],
)
def test_what_is_no_report_is_one_line(
    report: Path, capsys: pytest.CaptureFixture[str], change: dict[str, object], words: str
) -> None:
    report.write_text(json.dumps({**json.loads(report.read_text()), **change}))
    assert main(["html", str(report)]) == 2
    said = capsys.readouterr().err
    assert words in said
    assert said.count("\n") == 1
    assert not report.with_suffix(".html").exists()
