from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_retrieval.cli import main
from pytest_retrieval.errors import ReportError
from pytest_retrieval.report.exports.latencies import run, stats
from tests.report.runs import made_up_run, written
from tests.report.samples import answer, detail

times = st.lists(st.floats(1e-6, 100), min_size=1, max_size=40)


@given(times)
def test_the_figures_are_those_of_pytest_benchmark(seconds: list[float]) -> None:
    from pytest_benchmark.stats import Stats

    untyped: Any = Stats

    theirs: Any = untyped()
    for time in seconds:
        theirs.update(time)
    ours = stats(seconds)
    counted = ("outliers", "iqr_outliers", "stddev_outliers", "ld15iqr", "hd15iqr")  # an ulp may move these
    for name in set(Stats.fields).difference(counted):
        assert ours[name] == pytest.approx(getattr(theirs, name), rel=1e-9, abs=1e-12), name
    assert ours.keys() - {"iterations"} == set(Stats.fields)


def test_outliers_by_hand() -> None:
    found = stats([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 9.0])
    assert (found["outliers"], found["ld15iqr"], found["hd15iqr"]) == ("1;1", 1.0, 1.0)
    assert stats([2.0])["outliers"] == "0;0"


def test_rounds_are_queries_without_an_error() -> None:
    details = [
        detail(0, {"grep": (answer(wall_ms=2.0, build_ms=50.0), {})}),
        detail(1, {"grep": (answer(wall_ms=4.0), {})}),
        detail(2, {"grep": (answer(wall_ms=900.0, error="timed out"), {})}),
        detail(3, {"grep": (answer(wall_ms=1.0, cache_state="HIT"), {})}),
    ]
    found = run(details, ["grep"], {"python": "3.11.7", "contended": True})["benchmarks"]
    assert [(one["group"], one["name"], one["stats"]["rounds"]) for one in found] == [
        ("query", "grep", 2),
        ("prepare", "grep", 1),
        ("query", "grep[HIT]", 1),
    ]
    assert found[0]["stats"]["mean"] == pytest.approx(0.003)
    assert found[0]["extra_info"] == {"contended": True}
    with pytest.raises(ReportError, match="no arm of the report has a time"):
        run([detail(0, {"grep": (answer(), {})})], ["grep"], {})


def test_one_contended_part_makes_the_times_of_a_joined_report_contended(tmp_path: Path) -> None:
    parts = [
        written(tmp_path / f"{place}.json", made_up_run(rows, of=9, environment={"contended": contended}))
        for place, (rows, contended) in enumerate(((range(4), False), (range(4, 9), True)))
    ]
    joined, target = tmp_path / "joined.json", tmp_path / "benchmark.json"
    assert main(["summarize", *map(str, parts), "-o", str(joined)]) == 0
    assert main(["export", str(joined), "--as", "pytest-benchmark", "-o", str(target)]) == 0
    told = json.loads(target.read_text(encoding="utf-8"))["benchmarks"]
    assert {one["extra_info"]["contended"] for one in told} == {True}


def test_pytest_benchmark_compares_them(tmp_path: Path) -> None:
    for name, rows in (("old", range(40)), ("new", range(60))):
        report = written(tmp_path / f"{name}.json", made_up_run(rows, of=60))
        target = tmp_path / f"{name}.benchmark.json"
        assert main(["export", str(report), "--as", "pytest-benchmark", "-o", str(target)]) == 0
        assert json.loads(target.read_text(encoding="utf-8"))["benchmarks"]
    compared = subprocess.run(
        [sys.executable, "-m", "pytest_benchmark", "compare", "old.benchmark.json", "new.benchmark.json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    shown = compared.stdout
    assert "benchmark 'query': 6 tests" in shown
    assert all(label in shown for label in ("bm25:all", "context", "grep"))
