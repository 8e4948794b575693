"""``trial score``: cases 46 to 49 at the console."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_retrieval.cli import main
from pytest_retrieval.report.write import write_report
from tests.trial.support import GOOD, WRONG, built, entry, fenced, run, task


@pytest.fixture
def report(tmp_path: Path) -> Path:
    """Two tasks of two arms."""
    arms = {"none": entry("", run(fenced(WRONG))), "grep": entry("score=1 checks/quota_test.py", run(GOOD))}
    path = tmp_path / "trial.json"
    write_report(path, built([task(0, arms), task(1, arms)], arms={"none": {"memorisation": True}}).chunks())
    return path


def test_case_46_the_same_bytes_come_out(report: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["trial", "score", "--report", str(report)]) == 0
    assert capsysbinary.readouterr().out == report.read_bytes()


def test_the_originals_profile_and_back(report: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    original = report.with_name("original.json")
    words = ["trial", "score", "--format", "cw-trial"]
    assert main([*words, "--report", str(report), "--output", str(original)]) == 0
    assert json.loads(original.read_bytes())["profile"] == "corvint-cw-trial/0"
    assert main([*words, "--report", str(original)]) == 0
    assert capsysbinary.readouterr().out == original.read_bytes()


def test_what_may_be_given_beside_it(report: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    tasks, prices = report.with_name("tasks.json"), report.with_name("prices.toml")
    one = {"id": "q1", "kind": "change", "text": "x", "changed_file": "lib/quota.py"}
    tasks.write_text(json.dumps({"partition": "pilot", "tasks": [one]}), encoding="utf-8")
    prices.write_text('currency = "USD"\nmodels."*".input_tokens = 1\n', encoding="utf-8")
    words = ["--report", str(report), "--tasks", str(tasks), "--prices", str(prices)]
    assert main(["trial", "score", *words]) == 0
    found = json.loads(capsysbinary.readouterr().out)
    assert [detail.get("subject") for detail in found["details"]] == [None, "lib/quota.py"]
    assert found["prices"]["currency"] == "USD"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--report", "none.json"], "cannot read the report none.json"),
        (["--report", "trial.json", "--output", "trial.json"], "name another"),
        (["--report", "other.json"], "'x/1' is not one that can be read"),
        (["--report", "trial.json", "--tasks", "none.json"], "cannot read the task manifest"),
        (["--report", "trial.json", "--prices", "none.toml"], "cannot read the prices"),
        (["--report", "trial.json", "--history", "."], "not a Git repository"),
    ],
)
def test_refusals_are_one_line_and_exit_2(
    report: Path,
    words: list[str],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(report.parent)
    Path("other.json").write_text('{"profile":"x/1"}', encoding="utf-8")
    before = report.read_bytes()
    assert main(["trial", "score", *words]) == 2
    found = capsys.readouterr()
    assert found.out == ""
    assert said in found.err
    assert found.err.count("\n") == 1
    assert report.read_bytes() == before
