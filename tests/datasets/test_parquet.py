"""Parquet files give the samples that the same rows give as JSON Lines."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from pytest_retrieval.datasets.samples import load_samples, parse_samples
from pytest_retrieval.errors import SampleError
from pytest_retrieval.model import SampleFile
from tests.datasets.problems import context_row, patch_row


def written(path: Path, rows: list[dict[str, Any]]) -> Path:
    pyarrow = pytest.importorskip("pyarrow", reason="the extra parquet is not installed")
    pytest.importorskip("pyarrow.parquet").write_table(pyarrow.Table.from_pylist(rows), path)
    return path


def refusal(path: Path) -> str:
    with pytest.raises(SampleError) as refused:
        load_samples(path, shown="s.parquet")
    return str(refused.value)


def as_lines(rows: list[dict[str, Any]]) -> SampleFile:
    return parse_samples("\n".join(map(json.dumps, rows)).encode(), "s.jsonl")


def without_source(file: SampleFile) -> list[dict[str, Any]]:
    names = type(file.samples[0]).__dataclass_fields__.keys() - {"source"}
    return [{name: getattr(sample, name) for name in names} for sample in file.samples]


@pytest.mark.parametrize("name", ["s.parquet", "s.PARQUET", "rows"])
def test_equals_the_same_rows_as_lines(tmp_path: Path, name: str) -> None:
    rows = [
        context_row(("a.c", 3, 5), instance_id="one", version=1.5, original_inst_id=None),
        context_row(("b.c", 1, 1), ("a.c", 1, 1), instance_id="two"),
        context_row(instance_id="one"),
    ]
    path = written(tmp_path / name, rows)
    loaded = load_samples(path, shown="data/s.parquet")
    assert without_source(loaded) == without_source(as_lines(rows))
    assert loaded.path == "data/s.parquet"
    assert loaded.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert {sample.source for sample in loaded.samples} == {loaded.sha256}
    assert loaded.warnings == as_lines(rows).warnings != ()


def test_lists_and_patches(tmp_path: Path) -> None:
    rows = [patch_row(edit_functions=["ring.c:grow"]), patch_row(edit_functions=None, instance_id="b")]
    loaded = load_samples(written(tmp_path / "s.parquet", rows))
    assert [sample.task for sample in loaded.samples] == ["locbench", "swebench"]
    assert loaded.samples[0].gold_symbols == ("ring.c:grow",)


def test_many_rows_come_in_batches(tmp_path: Path) -> None:
    rows = [context_row(("a.c", 1, 1), instance_id=f"n{number}") for number in range(150)]
    loaded = load_samples(written(tmp_path / "s.parquet", rows))
    assert [sample.id for sample in loaded.samples] == [f"n{number}" for number in range(150)]
    assert [sample.line for sample in loaded.samples] == list(range(1, 151))


def test_faults_name_rows_as_lines(tmp_path: Path) -> None:
    rows = [context_row(), context_row(base_commit="x", problem_statement=None)]
    text = refusal(written(tmp_path / "s.parquet", rows))
    assert [line.split(":")[:3] for line in text.splitlines()] == [
        ["s.parquet", " line 2", " field 'problem_statement'"],
        ["s.parquet", " line 2", " field 'base_commit'"],
    ]


def test_a_row_over_four_mebibytes_is_refused(tmp_path: Path) -> None:
    rows = [context_row(problem_statement="x" * (4 * 1024 * 1024 + 1))]
    assert refusal(written(tmp_path / "s.parquet", rows)).startswith("s.parquet: line 1: larger than 4 MiB")


def test_other_tables_and_other_files(tmp_path: Path) -> None:
    other = refusal(written(tmp_path / "s.parquet", [{"question": "x", "answer": "y"}]))
    assert other == (
        "s.parquet: no column 'instance_id'; a Parquet file of problems has one (found question, answer)"
    )
    (tmp_path / "p.parquet").write_text("version https://git-lfs.github.com/spec/v1\n")
    (tmp_path / "cut").write_bytes(b"PAR1" + b"\0" * 20)
    for name in ("p.parquet", "cut"):
        text = refusal(tmp_path / name)
        assert text.startswith("s.parquet: not readable as Parquet: ")
        assert "\n" not in text


def test_without_pyarrow_one_line_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (tmp_path / "s.parquet").write_bytes(b"PAR1")
    expected = "s.parquet: Parquet needs pyarrow: pip install 'pytest-retrieval[parquet]'"
    assert refusal(tmp_path / "s.parquet") == expected
