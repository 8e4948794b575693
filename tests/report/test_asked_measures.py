"""Measures that a run was asked for, in reports that are read and joined again."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from pytest_retrieval.errors import ReportError
from pytest_retrieval.report.build import Report, build
from pytest_retrieval.report.merge import merge
from pytest_retrieval.report.read import read_report
from pytest_retrieval.report.regrade import regrade
from tests.report.runs import LABELS, dumped, made_up, made_up_run, unsourced, whole, written
from tests.report.samples import header

NAMES = ["ndcg@10", "wasted@k", "hit@3"]  # the second is a user's own, which no merge can compute


def run_of(rows: Iterable[int], labels: Iterable[str] = LABELS, of: int = 40) -> Report:
    details = []
    for row in rows:
        detail = made_up(row, labels)
        for label, measures in detail["metrics"].items():
            if detail["gold"]:
                measures["wasted@k"] = float(len(detail["arms"][label]["ranked"]))
        details.append(regrade(detail, 20, NAMES))
    head = header(*labels, of=of, chosen=len(details))
    head["sources"].reverse()
    return build({**head, "measures": NAMES}, details)


@pytest.mark.parametrize("parts", [(range(20), range(20, 40)), (("context",), ("grep", "bm25:all"))])
def test_parts_of_a_run_are_the_whole(tmp_path: Path, parts: tuple[range | tuple[str, ...], ...]) -> None:
    paths = []
    for number, part in enumerate(parts):
        made = run_of(part) if isinstance(part, range) else run_of(range(40), part)
        paths.append(written(tmp_path / f"{number}.json", made))
    one = written(tmp_path / "whole.json", run_of(range(40)))
    joined = merge([read_report(path) for path in paths])
    assert joined.head["measures"] == NAMES
    for name, section in unsourced(merge([read_report(one)])).items():
        if name != "environment":
            assert unsourced(joined)[name] == section, name
    assert whole(joined)["arms"] == whole(run_of(range(40)))["arms"]


def test_a_report_without_them_gets_them_where_a_merge_is_asked(tmp_path: Path) -> None:
    path = written(tmp_path / "plain.json", made_up_run(range(12), of=12))
    plain = merge([read_report(path)])
    assert "measures" not in plain.head
    asked = merge([read_report(path)], measures=["ndcg@10"])
    assert asked.head["measures"] == ["ndcg@10"]
    assert asked.head["arms"]["grep"]["groups"]["all"]["ndcg@10"] > 0
    assert "ndcg@10" in asked.head["paired"]["all"]["context - grep"]


@pytest.mark.parametrize("names", ["ndcg@10", ["nDCG@10"], ["ndcg@"], ["ndcg@10", "ndcg@10"], ["n"], ["a@0"]])
def test_names_that_no_measure_has_are_refused(tmp_path: Path, names: object) -> None:
    stored = whole(made_up_run(range(3), of=3))
    path = dumped(tmp_path / "odd.json", {**stored, "measures": names})
    with pytest.raises(ReportError, match=r"odd\.json: measures"):
        read_report(path)
