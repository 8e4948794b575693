"""Explained reports merge like others: what explains a sample is kept from whichever report knows more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_retrieval.errors import ReportError
from pytest_retrieval.report.build import Report, build
from pytest_retrieval.report.merge import merge
from pytest_retrieval.report.read import read_report
from tests.report.runs import unsourced, whole, written
from tests.report.samples import answer, detail, header

WHOLE = {
    "query": "where?",
    "terms": 1,
    "negatives": ["b.c"],
    "gold": {"a.c": {"bytes": 3, "holds": 0, "held": [], "lacking": ["where"]}},
}
BLIND = {"query": "where?", "terms": 1}  # of a worker that died, which opened no snapshot


def run(label: str, **fields: Any) -> Report:
    told = answer(ranked=["x.c"], beyond={"of": 30, "ranks": {"a.c": 25}})
    return build(header(label, of=1, chosen=1), [detail(0, {label: (told, {})}, **fields)])


@pytest.mark.parametrize("explained", [{"explain": WHOLE}, {"explain": BLIND}, {}])
def test_the_fuller_explanation_stays_in_any_order(tmp_path: Path, explained: dict[str, Any]) -> None:
    first = read_report(written(tmp_path / "a.json", run("a", explain=WHOLE)))
    second = read_report(written(tmp_path / "b.json", run("b", **explained)))
    for order in ((first, second), (second, first)):
        (found,) = whole(merge(order))["details"]
        assert found["explain"] == WHOLE
        assert {label: told["beyond"]["ranks"] for label, told in found["arms"].items()} == {
            "a": {"a.c": 25},
            "b": {"a.c": 25},
        }


def test_merging_once_more_changes_nothing(tmp_path: Path) -> None:
    report = merge([read_report(written(tmp_path / "a.json", run("a", explain=WHOLE)))])
    again = merge([read_report(written(tmp_path / "b.json", report))])
    assert unsourced(again)["details"] == unsourced(report)["details"]


@pytest.mark.parametrize(
    ("explain", "words"),
    [
        ({"terms": 1}, "explain: must be an object with 'query'"),
        ({**BLIND, "gold": {"a.c": {"bytes": -1}}}, 'explain.gold["a.c"].bytes: must be a whole number'),
        ({**BLIND, "negatives": ["a", "a"]}, "explain.negatives: must be a list without repeats"),
    ],
)
def test_what_explains_nothing_is_refused(tmp_path: Path, explain: dict[str, Any], words: str) -> None:
    report = read_report(written(tmp_path / "a.json", run("a", explain=explain)))
    with pytest.raises(ReportError) as refused:
        list(report.details())
    assert words in str(refused.value)
