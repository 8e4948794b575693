from __future__ import annotations

from pathlib import Path

import pytest

from pytest_retrieval.cli import main
from pytest_retrieval.errors import UsageError
from pytest_retrieval.report.build import build
from pytest_retrieval.report.exports.latex import escaped, table
from pytest_retrieval.report.regrade import regrade
from tests.report.runs import made_up_run, written
from tests.report.samples import answer, detail, header


def test_by_hand() -> None:
    details = [
        detail(0, {"my_arm": (answer(ranked=["a.c"]), {}), "grep": (answer(ranked=["x", "a.c"]), {})}),
        detail(1, {"my_arm": (answer(ranked=["x"]), {}), "grep": (answer(ranked=["x"]), {})}),
    ]
    head = {**header("my_arm", "grep", of=2, chosen=2), "limit": 5, "measures": ["ndcg@3"]}
    lines = list(table(build(head, [regrade(one, 5, ["ndcg@3"]) for one in details]).head))
    assert lines[1] == "\\begin{tabular}{lrrrrrl}"
    assert lines[3] == "arm & $n$ & R@5 & MRR & nDCG@3 & hit@5 & 95\\,\\% CI \\\\"
    # Half of two are found; Wilson's interval of 1 in 2 is 0.095 to 0.905.
    assert (
        lines[5] == "my\\_arm & 2 & 0.500 & \\textbf{0.500} & \\textbf{0.500} & 0.500 & [0.095, 0.905] \\\\"
    )
    assert lines[6] == "grep & 2 & 0.500 & 0.250 & 0.315 & 0.500 & [0.095, 0.905] \\\\"
    assert lines[-1] == "\\end{tabular}"


def test_what_latex_acts_on_is_printed() -> None:
    assert escaped("a_b&c%$#{}~^\\") == (
        "a\\_b\\&c\\%\\$\\#\\{\\}\\textasciitilde{}\\textasciicircum{}\\textbackslash{}"
    )


def test_every_row_has_every_column() -> None:
    head = made_up_run(range(30), of=30).head
    rows = [line for line in table(head, "task:code2test") if line.endswith("\\\\")]
    assert len(rows) == 5  # heading, three arms, the perfect ranker
    assert len({line.count(" & ") for line in rows}) == 1


def test_an_unknown_group_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UsageError, match="no group 'fold:C' in the report; did you mean 'fold:"):
        list(table(made_up_run(range(30), of=30).head, "fold:C"))
    report = written(tmp_path / "report.json", made_up_run(range(6), of=6))
    assert main(["export", str(report), "--as", "latex", "--group", "task:code2test"]) == 0
    assert capsys.readouterr().out.startswith("% needs \\usepackage{booktabs}\n\\begin{tabular}")
