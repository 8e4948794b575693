"""Trials against a baseline: what agents succeeded in before and do not any more."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_retrieval import cli
from pytest_retrieval.report.build import Report
from pytest_retrieval.report.write import write_report
from tests.trial.support import CONTEXT, GOOD, built, entry, run, task

SILENT = '{"claims":[]}'


def trial(good: int) -> Report:
    """Forty tasks, of which grep is right in the first ``good`` and silent in the others; and a control."""
    details = [task(row, {"grep": entry(CONTEXT, run(GOOD if row < good else SILENT))}) for row in range(40)]
    return built([*details, task(40, {"grep": entry("", run(GOOD))}, gold=None, control="already-fixed")])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, good in (("old.json", 30), ("new.json", 20)):
        write_report(tmp_path / name, trial(good).chunks())
    return tmp_path


@pytest.mark.parametrize(
    ("gate", "code", "line"),
    [
        (
            "no_regression(grep, success, 0.05)",
            1,
            "gate FAILED no_regression(grep, success, 0.05): 0.75 -> 0.5, difference -0.25 [",
        ),
        ("no_regression(grep, mean_f1, 0)", 1, "gate FAILED no_regression(grep, mean_f1, 0): 0.75 -> 0.5, "),
        ("no_regression(grep, abstained, 0)", 2, ""),
        (
            "grep: success >= baseline - 0.3",
            0,
            "gate PASSED grep: success >= baseline - 0.3: got 0.5, baseline",
        ),
        (
            "lost(grep, success) <= 3",
            0,
            "gate UNDECIDED lost(grep, success) <= 3: got 10: grep does not declare",
        ),
    ],
)
def test_gates(folder: Path, capsys: pytest.CaptureFixture[str], gate: str, code: int, line: str) -> None:
    assert cli.main(["gate", "new.json", "--baseline", "old.json", "--gate", gate]) == code
    assert capsys.readouterr().out.startswith(line and f"PILOT {line}")


def test_a_comparison(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["compare", "old.json", "new.json", "--moved", "2"]) == 0
    out = capsys.readouterr().out
    assert "compared on 40 common samples" in out
    assert "10 samples moved, the 2 that moved most:" in out
    figures = [line for line in out.splitlines() if "success" in line]
    assert len(figures) == 3
    assert all(line.startswith("PILOT ") for line in figures)
    assert ": success 1 -> 0" in out


def test_a_trial_is_no_baseline_of_rankings(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from tests.gates.reports import run as bench_run

    write_report(folder / "bench.json", bench_run([1, 0]).chunks())
    words = ["gate", "bench.json", "--baseline", "old.json", "--gate", "lost(grep, hit@5) <= 0"]
    assert cli.main(words) == 2
    assert "its samples are of the kind trial, here bench; not comparable" in capsys.readouterr().err
