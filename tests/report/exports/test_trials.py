"""A trial's report as rows and as tables: every figure below is counted by hand."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from pytest_retrieval.cli import main
from pytest_retrieval.report.exports.trialtables import latex_lines, summary
from pytest_retrieval.report.write import write_report
from pytest_retrieval.trial import cwtrial
from tests.trial.support import CONTEXT, RIGHT, WRONG, built, claim, entry, fenced, run, task

PRICES = {"currency": "USD", "sha256": "ab" * 32, "per_million": {"out": 1_000_000}, "within": {}}
UNOBSERVED: dict[str, Any] = {"wall_ms": "NOT_OBSERVED", "exit_code": "NOT_OBSERVED", "reply": ""}


def details() -> list[dict[str, Any]]:
    """Three tasks with two arms: right, certain and wrong, silent, broken, cut off and never run."""
    right, wrong = run(fenced(RIGHT), tokens={"out": 2}), run(fenced(WRONG), tool_calls=3)
    first = {"none": entry("", wrong), "grep": entry(CONTEXT, right)}
    silent = run(fenced(), attempts=2)
    second = {"none": entry("", silent), "grep": entry("", wrong, context_error="no grep")}
    broken, never = run("boom", exit_code=3), run(**UNOBSERVED)
    third = {"none": entry("", broken), "grep": entry(CONTEXT, never)}
    found = [task(0, first, subject="lib/quota.py"), task(1, second, id="=q1"), task(2, third)]
    return [*found, task(3, {"grep": entry("", run(error="timed out", wall_ms=9))}, cluster="c")]


@pytest.fixture
def report(tmp_path: Path) -> Path:
    path = tmp_path / "trial.json"
    write_report(path, built(details(), prices=PRICES).chunks())
    return path


def exported(report: Path, *words: str) -> bytes:
    target = report.with_name("exported")
    target.unlink(missing_ok=True)
    assert main(["export", str(report), *words, "-o", str(target)]) == 0
    return target.read_bytes()


def rows_of(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode(), newline="")))


def test_a_row_for_each_invocation(report: Path) -> None:
    found = rows_of(exported(report, "--as", "csv"))
    told = ("id", "arm", "repeat", "status", "error", "success", "confidently_wrong")
    assert [tuple(row[name] for name in told) for row in found] == [
        ("q0", "grep", "1", "scored", "", "1", "0"),
        ("q0", "none", "1", "scored", "", "0", "1"),
        ("'=q1", "grep", "1", "scored", "", "0", "1"),  # no spreadsheet takes it for a formula
        ("'=q1", "none", "1", "scored", "", "0", "0"),
        ("q2", "grep", "1", "not run", "", "", ""),
        ("q2", "none", "1", "error", "exit status 3 and no claims block in the reply", "", ""),
        ("q3", "grep", "1", "error", "timed out", "", ""),
    ]
    first, second, third, fourth, never, broken, late = found
    assert (first["tokens.out"], first["money"], second["money"], second["tool_calls"]) == ("2", "2", "", "3")
    assert (first["subject"], first["hard_success"], second["subject"]) == (
        "lib/quota.py",
        "0",
        "lib/quota.py",
    )
    assert (third["context_error"], third["gold_in_context"], third["context_failed"]) == ("no grep", "", "1")
    assert (fourth["attempts"], fourth["block_state"], fourth["abstained"]) == ("2", "PRESENT", "1")
    assert (never["wall_ms"], never["exit_code"], broken["exit_code"]) == ("", "", "3")
    assert (late["wall_ms"], late["cluster"], late["attempts"]) == ("9", "c", "1")
    assert [*first][-1] == "tokens.out"


def test_repeats_and_one_arm(report: Path) -> None:
    arms = {"grep": entry(CONTEXT, run(fenced(RIGHT)), run(fenced()))}
    write_report(report, built([task(0, arms)], repeats=2).chunks())
    found = rows_of(exported(report, "--as", "csv", "--arm", "grep"))
    assert [(row["repeat"], row["success"]) for row in found] == [("1", "1"), ("2", "0")]


def test_parquet_holds_the_same(report: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    flat = rows_of(exported(report, "--as", "csv"))
    table = parquet.read_table(io.BytesIO(exported(report, "--as", "parquet")))
    found = table.to_pylist()
    assert [row["id"].removeprefix("'") for row in flat] == [row["id"] for row in found]
    for name in ("success", "wall_ms", "tokens.out", "money"):
        assert [float(row[name]) if row[name] else None for row in flat] == [row[name] for row in found]
    assert found[1]["gold"] == ["test-file checks/quota_test.py"]
    assert found[1]["claims"] == ["FALSE certain test-file checks/other_test.py"]
    assert found[4]["claims"] == []


def test_latex_by_hand() -> None:
    """grep was scored on two tasks, of four with an invocation one erred; one of its two was right."""
    found = list(latex_lines(built(details()).head))
    assert found[1] == "% pilot: these figures may not be presented as held-out"
    assert found[4].startswith(
        "arm & tasks & success & 95\\,\\% CI & confidently wrong & 95\\,\\% CI & abstained &"
    )
    # Wilson's interval of 1/2, from the specification's table; F1 is the mean of 1 and 0.
    interval = "[0.095, 0.905]"
    half = f"0.500 & {interval}"
    assert found[6] == f"grep & 3 & {half} & {half} & 0.000 & 0.500 & 1.000 & 1 \\\\"
    assert found[7] == f"none & 3 & 0.000 & [0.000, 0.658] & {half} & 0.500 & 0.000 & 0.000 & 1 \\\\"


def test_a_group_and_one_that_is_not_there(report: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = exported(report, "--as", "latex", "--group", "kind:retrieval", "--arm", "none").decode()
    assert "none & 3 &" in said
    assert "grep" not in said
    assert main(["export", str(report), "--as", "latex", "--group", "kind:chang"]) == 2
    assert "no group 'kind:chang'" in capsys.readouterr().err


def test_markdown_by_hand(report: Path) -> None:
    lines = exported(report, "--as", "markdown").decode().splitlines()
    assert lines[0] == "### Trial: 4 tasks, 2 arms"
    assert "**pilot: these figures may not be presented as held-out**" in lines
    assert "**1 of 4 tasks were lost**: gates cannot be decided." in lines
    half = "0.500 | 0.095 to 0.905"
    assert f"| <code>grep</code> | 3 | {half} | {half} | 0.000 | 0.500 | 1.000 | 1 |" in lines
    assert "| <code>q0</code> | <code>acme/quota</code> | true | certain and wrong |" in lines
    assert "| <code>=q1</code> | <code>acme/quota</code> | certain and wrong | silent |" in lines
    assert not any("<code>q2</code>" in line for line in lines)


def test_markdown_of_repeats_and_of_strange_texts() -> None:
    both = run(fenced(RIGHT, WRONG))
    arms = {
        "grep": entry(CONTEXT, both, run(fenced(claim("test-file", "x", "likely")))),
        "none": entry("", both),
    }
    found = summary(
        {**built([task(0, arms, id="<b>|@you")], repeats=2).head, "gates": []},
        built([task(0, arms, id="<b>|@you")], repeats=2).details(),
    )
    [line] = [line for line in found.splitlines() if "certain and wrong" in line and line.startswith("|")]
    assert line == (
        "| <code>&#60;b&#62;&#124;&#64;you</code> | <code>acme/quota</code> "
        "| true, and certain and wrong (1), not true (1) | true, and certain and wrong |"
    )
    assert len(summary(built(details()).head, built(details()).details(), 400).encode()) <= 400


def test_a_report_of_the_original_is_exported_too(report: Path) -> None:
    original = report.with_name("original.json")
    write_report(original, cwtrial.chunks(built(details())))
    assert [row["status"] for row in rows_of(exported(original, "--as", "csv"))].count("scored") == 4


@pytest.mark.parametrize("name", ["arb", "contextbench", "pytest-benchmark"])
def test_formats_of_rankings_are_refused_in_one_line(
    report: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    assert main(["export", str(report), "--as", name, "--arm", "grep"]) == 2
    said = capsys.readouterr().err
    assert "a trial's report holds claims and no rankings" in said
    assert said.endswith("it can be exported as csv, latex, markdown, parquet\n")
    assert said.count("\n") == 1


def test_a_damaged_report_is_one_line(report: Path, capsys: pytest.CaptureFixture[str]) -> None:
    values = json.loads(report.read_bytes())
    values["details"][0]["arms"]["grep"]["runs"][0]["reply"] = 7
    for damaged in (json.dumps(values), "no JSON", "{}"):
        report.write_text(damaged)
        assert main(["export", str(report), "--as", "csv"]) == 2
        assert str(report) in capsys.readouterr().err.splitlines()[0]
