from __future__ import annotations

import csv
import io
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_retrieval.cli import main
from pytest_retrieval.report.exports import rows
from tests.report.runs import LABELS, made_up_run, written
from tests.report.samples import answer, detail

HOSTILE = 'a,"b"\n=1+1;\u2028é'


def read(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode(), newline="")))


def test_a_row_by_hand() -> None:
    answered = answer(ranked=["x.c", "a.c"], wall_ms=1.5, top_score=2.0)
    sample = detail(
        3,
        {"grep": (answered, {"mrr@k": 0.5}), "bm25:all": (answer(error="no", refused=True), {"mrr@k": 0.0})},
    )
    names = [*rows.measures([sample], ["grep", "bm25:all"], 5, ["ndcg@3"]), "recall@5", "ndcg@3"]
    assert names[0] == "mrr@k"  # which alone an answer has
    first, second = read(b"".join(rows.as_csv(rows.rows([sample], ["grep", "bm25:all"]), names)))
    told = ("id", "arm", "fold", "wall_ms", "top_score", "answered", "first_gold", "gold_files", "error")
    assert [first[name] for name in told] == ["s3", "grep", "unassigned", "1.5", "2.0", "2", "2", "1", ""]
    assert (first["mrr@k"], first["recall@5"], first["ndcg@3"]) == ("0.5", "", "")
    assert [second[name] for name in ("arm", "error", "refused", "answered", "first_gold", "mrr@k")] == [
        "bm25:all",
        "no",
        "true",
        "0",
        "",
        "0.0",
    ]


@given(st.text(st.characters(exclude_categories=["Cs"])))
@example("=HYPERLINK(1)")
@example("'=1")
def test_any_text_survives_and_none_is_a_formula(text: str) -> None:
    sample = detail(0, {"grep": (answer(), {})}, id=text)
    (row,) = read(b"".join(rows.as_csv(rows.rows([sample], ["grep"]), ["mrr@k"])))
    assert row["id"] == text or (row["id"] == f"'{text}" and text[0] in "=+-@\t\r'")
    assert not row["id"].startswith(("=", "+", "-", "@", "\t", "\r"))


def test_parquet_holds_the_same(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    report = written(tmp_path / "report.json", made_up_run(range(30), of=30))
    assert main(["export", str(report), "--as", "csv", "-o", str(tmp_path / "rows.csv")]) == 0
    assert main(["export", str(report), "--as", "parquet", "-o", str(tmp_path / "rows.parquet")]) == 0
    flat = read((tmp_path / "rows.csv").read_bytes())
    found = parquet.read_table(str(tmp_path / "rows.parquet")).to_pylist()
    assert len(flat) == len(found) == 30 * len(LABELS)
    for one, other in zip(flat, found, strict=True):
        for name in ("id", "arm", "error"):
            assert one[name] == (other[name] or "")
        for name in ("mrr@k", "wall_ms", "first_gold"):
            assert (float(one[name]) if one[name] else None) == other[name]
        assert other["answered"] == len(other["ranked"])
    assert found[0]["gold"] == ["src/a.c", "gone.c"]


def test_one_arm_alone(tmp_path: Path) -> None:
    report = written(tmp_path / "report.json", made_up_run(range(6), of=6))
    target = tmp_path / "rows.csv"
    assert main(["export", str(report), "--as", "csv", "--arm", "grep", "-o", str(target)]) == 0
    assert {row["arm"] for row in read(target.read_bytes())} == {"grep"}


def test_without_pyarrow_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    report = written(tmp_path / "report.json", made_up_run(range(3), of=3))
    assert main(["export", str(report), "--as", "parquet", "-o", str(tmp_path / "x")]) == 2
    assert "pip install 'pytest-retrieval[parquet]'" in capsys.readouterr().err
    assert not (tmp_path / "x").exists()


def test_a_reader_who_has_seen_enough_is_no_trouble(tmp_path: Path) -> None:
    report = written(tmp_path / "report.json", made_up_run(range(30), of=30))
    code = "import sys; from pytest_retrieval.cli import main; sys.exit(main(sys.argv[1:]))"
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-c", code, "export", str(report), "--as", "csv"]
    found = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, timeout=60, check=False)
    os.close(writing)
    assert (found.returncode, found.stderr) == (1, b"")
