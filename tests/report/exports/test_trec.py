"""TREC files, read by ir_measures, and judged by it as this package judges them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import AP, RR, P, R, Rprec, Success, nDCG

from pytest_retrieval.cli import main
from pytest_retrieval.errors import ReportError
from pytest_retrieval.report.build import build
from pytest_retrieval.report.exports.trec import decoded, encoded, export
from pytest_retrieval.report.regrade import regrade
from tests.report.runs import LABELS, made_up, made_up_run, written
from tests.report.samples import OTHER_SOURCE, answer, detail, header

HOSTILE = "src/a b\t#1@2%20\u2028é.py"
READERS: Any = ir_measures  # these functions of it are untyped
MEASURES = {
    "mrr@k": RR,
    "recall@5": R @ 5,
    "recall@10": R @ 10,
    "hit@k": Success @ 20,
    "p@5": P @ 5,
    "ndcg@10": nDCG @ 10,
    "ndcg@k": nDCG @ 20,
    "ap@k": AP,
    "rprec@k": Rprec,
}


def asked(row: int, ranked: list[str], label: str = "grep", **fields: Any) -> dict[str, Any]:
    return detail(row, {label: (answer(ranked=ranked), {})}, **fields)


def test_by_hand() -> None:
    done = export(
        [asked(0, ["x.c", "a.c"]), asked(1, [HOSTILE], id="a b", gold=[HOSTILE, "a.c"], gold_absent=["a.c"])],
        ["grep"],
        20,
    )
    assert done.files["grep.run"] == [
        "s0 Q0 x.c 1 20 grep",
        "s0 Q0 a.c 2 19 grep",
        "a%20b Q0 src/a%20b%09%231%402%2520%E2%80%A8%C3%A9.py 1 20 grep",
    ]
    assert done.files["qrels.txt"] == [
        "s0 0 a.c 1",
        "a%20b 0 src/a%20b%09%231%402%2520%E2%80%A8%C3%A9.py 1",
        "a%20b 0 a.c 1",
    ]
    assert done.files["queries.tsv"][2].split("\t")[:3] == ["a%20b", "a%20b", "0"]
    assert done.notes == ["gold files that no run can find (absent or given) stay in the qrels: 1"]


def test_equal_ids_are_different_queries() -> None:
    details = [
        asked(0, [], id="x"),
        asked(1, [], id="x", ordinal=1),
        asked(0, [], id="x", source=OTHER_SOURCE),
    ]
    names = [line.split("\t")[0] for line in export(details, ["grep"], 20).files["queries.tsv"][1:]]
    assert names == ["x@abababababab", "x@abababababab#1", "x@cdcdcdcdcdcd"]


def test_errors_rank_nothing_and_the_limit_cuts() -> None:
    failed = detail(0, {"grep": (answer(ranked=["a.c"], error="measure x@k: no"), {})})
    done = export([failed, asked(1, ["x", "y", "z"])], ["grep"], 2)
    assert done.files["grep.run"] == ["s1 Q0 x 1 2 grep", "s1 Q0 y 2 1 grep"]


def test_an_arm_that_was_not_asked_everything_has_qrels_of_its_own() -> None:
    done = export([asked(0, ["a.c"]), asked(1, ["a.c"], "bm25:all")], ["grep", "bm25:all"], 20)
    assert done.files["qrels.bm25%3Aall.txt"] == ["s1 0 a.c 1"]
    assert done.files["qrels.txt"] == ["s0 0 a.c 1", "s1 0 a.c 1"]
    assert done.notes[1] == "bm25:all was asked about 1 of 2 queries: judge it by qrels.bm25%3Aall.txt"


def test_a_report_without_gold_has_nothing_to_judge() -> None:
    with pytest.raises(ReportError, match="no sample of the report has gold"):
        export([asked(0, ["a.c"], gold=[], stratum="natural_no_gold")], ["grep"], 20)


@given(st.text())
def test_encoding_is_reversible_and_has_no_blank(text: str) -> None:
    assert decoded(encoded(text)) == text
    assert encoded(text).isascii()
    assert len(encoded(text).split()) == (1 if text else 0)
    assert not {"#", "@"} & set(encoded(text))


def test_ir_measures_agrees(tmp_path: Path) -> None:
    """Over every third sample without gold, errors, refusals, given files and gold that is absent."""
    names = list(MEASURES)
    details = [regrade(made_up(row), 20, names) for row in range(60)]
    report = build({**header(*LABELS, of=60, chosen=60), "measures": names}, details)
    path = written(tmp_path / "report.json", report)
    assert main(["trec", str(path), "-o", str(tmp_path / "trec")]) == 0
    qrels = list(READERS.read_trec_qrels(str(tmp_path / "trec" / "qrels.txt")))
    for label in LABELS:
        run = READERS.read_trec_run(str(tmp_path / "trec" / f"{label.replace(':', '%3A')}.run"))
        theirs = ir_measures.calc_aggregate(list(MEASURES.values()), qrels, run)
        ours = report.head["arms"][label]["groups"]["all"]
        for name, measure in MEASURES.items():
            assert ours[name] == pytest.approx(theirs[measure], abs=1e-6), (label, name)


def test_paths_with_blanks_survive_ir_measures(tmp_path: Path) -> None:
    details = [asked(0, ["x y", HOSTILE], id="q 1", gold=[HOSTILE])]
    done = export(details, ["grep"], 20)
    for name, lines in done.files.items():
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    run = list(READERS.read_trec_run(str(tmp_path / "grep.run")))
    assert [decoded(line.doc_id) for line in run] == ["x y", HOSTILE]
    assert {decoded(line.query_id) for line in run} == {"q 1"}
    qrels = READERS.read_trec_qrels(str(tmp_path / "qrels.txt"))
    assert ir_measures.calc_aggregate([RR], qrels, run)[RR] == 0.5


def test_a_folder_with_other_files_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = written(tmp_path / "report.json", made_up_run(range(6), of=6))
    folder = tmp_path / "trec"
    assert main(["trec", str(report), "-o", str(folder)]) == 0
    before = sorted(path.name for path in folder.iterdir())
    assert before == ["bm25%3Aall.run", "context.run", "grep.run", "qrels.txt", "queries.tsv"]
    assert main(["trec", str(report), "-o", str(folder)]) == 0  # its own files are replaced
    (folder / "notes.md").touch()
    assert main(["trec", str(report), "-o", str(folder)]) == 2
    assert "the folder holds another file, 'notes.md'" in capsys.readouterr().err
    assert main(["trec", str(report), "-o", str(report)]) == 2
