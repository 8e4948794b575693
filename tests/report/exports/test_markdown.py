from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_retrieval.cli import main
from pytest_retrieval.report.build import Report, build
from pytest_retrieval.report.exports.latex import table
from pytest_retrieval.report.exports.markdown import MAX_BYTES, code, preformatted, summary
from pytest_retrieval.report.regrade import regrade
from tests.report.runs import made_up_run, written
from tests.report.samples import answer, detail, header, positive

HOSTILE = "</code><img src=x>| @octocat `x` [a](b)\n# &amp; \u202e"


def report_of(*details: dict[str, Any], gates: tuple[dict[str, Any], ...] = ()) -> Report:
    labels = list(details[0]["arms"])
    head = header(*labels, of=len(details), chosen=len(details))
    return build(head, [regrade(one, 20) for one in details]).with_gates(gates)


def test_by_hand() -> None:
    gate = {
        "gate": "grep: mrr@k >= 0.9",
        "status": "failed",
        "expected": ">= 0.9",
        "n": 2,
        "chosen": 2,
        "of": 2,
    }
    report = report_of(
        detail(0, {"grep": (answer(ranked=["a.c"]), {})}),
        detail(1, {"grep": (answer(ranked=["x", "a.c"]), {})}),
        gates=({**gate, "got": 0.75},),
    )
    lines = summary(report.head, report.details()).splitlines()
    assert lines[0] == "### Retrieval: 2 samples, 1 arm, 1 of 1 gates failed"
    assert (
        lines[2] == "| arm | n | R@5 | R@10 | R@20 | mrr@20 | hit@20 | 95 % CI | abstained | errors | p50 |"
    )
    figures = "1.000 | 1.000 | 1.000 | 0.750 | 1.000 | 0.342 to 1.000 | 0.000 | 0 | -"
    assert lines[4] == f"| <code>grep</code> | 2 | {figures} |"
    (verdict,) = (line for line in lines if line.startswith("- "))
    assert verdict.startswith("- ❌ failed <code>grep: mrr&#64;k &#62;= 0.9: got 0.75")
    assert "| <code>s1</code> | <code>acme/ring</code> | 2 |" in lines
    assert not any("<code>s0</code>" in line for line in lines)  # it was put first


def test_of_a_code_search_lines_come_first() -> None:
    lines_of = {"chunk_recall@10": 0.5, "chunk_mrr@20": 0.25, "chunk_zero_miss": 1.0}
    found = detail(0, {"grep": (answer(ranked=["a.c"]), {**positive(1.0, 1.0), **lines_of})})
    head = {**build(header("grep", of=1, chosen=1), [found]).head, "kind": "codesearch"}
    lines = summary(head).splitlines()
    assert lines[0] == "### Retrieval: 1 sample, 1 arm"
    titles = "line R@5 | line R@10 | line R@20 | line MRR | none@20 | R@10 | hit@20"
    assert lines[2].startswith(f"| arm | n | {titles} | 95 % CI |")
    assert lines[4].startswith("| <code>grep</code> | 1 | - | 0.500 | - | 0.250 | 1.000 | - | 1.000 |")
    rows = list(table(head))
    assert rows[3].startswith(f"arm & $n$ & {titles.replace(' | ', ' & ')} & 95")
    assert rows[5].startswith("grep & 1 & -- & 0.500 & -- & 0.250 & 1.000 & -- & 1.000 & ")


@given(st.text())
def test_no_text_is_markup(text: str) -> None:
    shown = code(text)
    inner = shown.removeprefix("<code>").removesuffix("</code>")
    assert not set("<>|`*_[]@#~\\!\n\r") & set(re.sub(r"&#\d+;", "", inner))
    assert len(unescape(inner)) <= 120


def test_a_hostile_sample_stays_in_its_cell() -> None:
    report = report_of(detail(0, {"grep": (answer(ranked=[]), {})}, id=HOSTILE, repo="a/b"))
    (row,) = (line for line in summary(report.head, report.details()).splitlines() if "octocat" in line)
    assert row.count("|") == 4
    assert "<img" not in row
    assert "@" not in row


@pytest.mark.parametrize("limit", [300, 700, 1_500, 1_900])
def test_what_does_not_fit_is_counted(limit: int) -> None:
    report = made_up_run(range(60), of=60)
    text = summary(report.head, report.details(), limit)
    whole = summary(report.head, report.details())
    assert len(text.encode()) <= limit < len(whole.encode()) < MAX_BYTES
    assert re.search(r"\n\d+ more lines; the report has everything\.\n$", text)
    assert text.count("<details>") == text.count("</details>")


def test_lines_for_a_terminal_stay_as_they_are() -> None:
    text = preformatted(["arm  success", "", "<b>none</b>  0.5"])
    assert text == "<pre>\narm  success\n&nbsp;\n&lt;b&gt;none&lt;/b&gt;  0.5\n</pre>\n"
    short = preformatted([f"line {number}" for number in range(200)], 400)
    assert len(short.encode()) <= 400
    assert short.count("<pre>") == short.count("</pre>") == 1


def test_verdicts_bring_what_belongs_to_them() -> None:
    gate = {"gate": "lost(grep, hit@k) <= 0", "status": "failed", "expected": "<= 0", "got": 1, "fails": True}
    scope = {"n": 1, "chosen": 1, "of": 1, "lost": [{"repo": "acme/ring", "id": "q|1", "before": 2}]}
    report = report_of(detail(0, {"grep": (answer(ranked=["a.c"]), {})}), gates=({**gate, **scope},))
    text = summary(report.head)
    assert "  - <code>lost: acme/ring q&#124;1: rank 2 before, now not found</code>" in text
    assert "1 of 1 gates failed" in text
    excused = report_of(
        detail(0, {"grep": (answer(ranked=["a.c"]), {})}), gates=({**gate, **scope, "fails": False},)
    )
    assert "gates failed" not in summary(excused.head)


def test_the_worst_come_first() -> None:
    details = [detail(row, {"grep": (answer(ranked=["x"] * row + ["a.c"]), {})}) for row in range(30)]
    for row, one in enumerate(details):
        one["arms"]["grep"]["ranked"] = [f"x{place}" for place in range(row)] + ["a.c"]
    report = report_of(*details)
    rows = [line for line in summary(report.head, details).splitlines() if "<code>acme/ring</code>" in line]
    assert len(rows) == 20
    assert rows[0].startswith("| <code>s29</code>")


def test_lost_samples_are_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = written(tmp_path / "report.json", made_up_run(range(6), of=8, lost=[6, 7]))
    assert main(["export", str(report), "--as", "markdown"]) == 0
    assert "**2 of 8 samples were lost**" in capsys.readouterr().out
