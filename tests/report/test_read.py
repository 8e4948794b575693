"""Reports as files: what is read from our own, and what is refused with its place."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_retrieval.errors import ReportError
from pytest_retrieval.report import document
from pytest_retrieval.report.document import Document
from pytest_retrieval.report.read import read_report
from tests.report.runs import dumped, made_up_run, whole, written
from tests.report.samples import OTHER_SOURCE, SOURCE


def fault_of(path: Path) -> str:
    with pytest.raises(ReportError) as caught:
        list(read_report(path).details())
    text = str(caught.value)
    assert str(path) in text
    assert "\n" not in text
    return text


def test_our_own_report(tmp_path: Path) -> None:
    run = made_up_run(range(3), of=9, lost=[5], environment={"workers": 2})
    stored = read_report(written(tmp_path / "r.json", run))
    assert list(stored.details()) == list(run.details())
    assert list(stored.details()) == list(run.details())  # anew on each call
    assert (stored.of, stored.chosen, stored.limit, stored.protocol) == (9, 4, 20, "house")
    assert stored.lost == [{"source": SOURCE, "id": "s5", "ordinal": 0, "why": "not run"}]
    assert stored.digests == {SOURCE, OTHER_SOURCE}
    assert stored.pairs == [("context", "bm25:all"), ("context", "grep")]
    assert stored.environments == [{"workers": 2}]
    assert set(stored.arms["grep"]) == {"name", "version", "capabilities", "baseline"}
    assert all(set(facts) == {"source", "view", "tree"} for facts in stored.snapshots.values())


def test_the_layout_and_the_order_of_keys_do_not_matter(tmp_path: Path) -> None:
    report = whole(made_up_run(range(3), of=3))
    turned = dict(reversed(report.items()))
    path = tmp_path / "r.json"
    path.write_text("\n " + json.dumps(turned, indent=3) + "\n\n", encoding="utf-8")
    assert list(read_report(path).details()) == report["details"]


def test_prices_in_tokens_have_no_bound(tmp_path: Path) -> None:
    report = whole(made_up_run([0], of=1))
    prices = {"tokens@10": 4_871, "wide2_tokens@10": 9_000, "wide3_tokens@10": 13_000.5}
    report["details"][0]["metrics"]["grep"] |= prices
    metrics = next(read_report(dumped(tmp_path / "r.json", report)).details())["metrics"]["grep"]
    assert prices.items() <= metrics.items()
    report["details"][0]["metrics"]["grep"]["tokens@10"] = -1
    assert 'metrics.grep["tokens@10"]' in fault_of(dumped(tmp_path / "r.json", report))


def test_a_field_that_is_not_known_yet_is_carried(tmp_path: Path) -> None:
    report = whole(made_up_run([0], of=1))
    report["details"][0]["arms"]["grep"]["novelty"] = [1]
    assert next(read_report(dumped(tmp_path / "r.json", report)).details())["arms"]["grep"]["novelty"] == [1]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b"", "not valid JSON: Expecting {: line 1 column 1"),
        (b"[]", "not valid JSON: Expecting {"),
        (b'{"a":1', "not valid JSON: Expecting , or }"),
        (b'{"a":1}x', "not valid JSON: Expecting the end"),
        (b'{"a":1,}', 'not valid JSON: Expecting "'),
        (b"{1:2}", 'not valid JSON: Expecting "'),
        (b'{"a":1,"a":2}', "the key 'a' comes twice"),
        (b'{"details":[{"b":1,"b":2}]}', "the key 'b' comes twice"),
        (b'{"details":[1,]}', "not valid JSON: Expecting value"),
        (b'{"details":[1}', "not valid JSON: Expecting , or ]"),
        (b'{"a":NaN}', "NaN is no JSON number"),
        (b'{"a":-Infinity}', "-Infinity is no JSON number"),
        (b'{"a":"\xff"}', "not UTF-8 at byte 6"),
        (b'{"details":[' + b"[" * 200_000, "nested too deeply"),
        (b'{"a":' + b"9" * 5_000 + b"}", "99999999999999999999 is too large a number"),
        (b'{"a":1e999}', "1e999 is too large a number"),
        (b"{}", "profile: None is not one that can be read"),
        (
            b'{"profile":"corvint-retrieval-bench/1"}',
            "'corvint-retrieval-bench/1' is not one that can",
        ),
        (b'{"profile":{}}', "profile: {} is not one that can be read (pytest-retrieval/1 and corvint-"),
    ],
)
def test_what_is_no_report(tmp_path: Path, text: bytes, why: str) -> None:
    path = tmp_path / "r.json"
    path.write_bytes(text)
    assert why in fault_of(path)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    assert "cannot read the report" in fault_of(tmp_path / "absent.json")
    assert "cannot read the report" in fault_of(tmp_path)


def test_the_bound_is_one_gibibyte(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.touch()
    os.truncate(path, (1 << 30) + 1)  # sparse
    assert "larger than 1,073,741,824 bytes" in fault_of(path)


def test_the_bound_holds_for_what_grows_while_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path / "r.json", made_up_run([0], of=1))
    size = path.stat().st_size
    monkeypatch.setattr(document, "MAX_BYTES", size)
    assert Document(path, "details").has_elements
    monkeypatch.setattr(document, "MAX_BYTES", size - 1)
    assert "larger than" in fault_of(path)


def at(*steps: str | int) -> Callable[[Any, Any], None]:
    """Puts a value at a place of a report."""

    def put(report: Any, value: Any) -> None:
        for step in steps[:-1]:
            report = report[step]
        report[steps[-1]] = value

    return put


@pytest.mark.parametrize(
    ("put", "value", "why"),
    [
        (at("kind"), "poem", "kind: must be one of bench, codesearch, not 'poem'"),
        (at("kind"), "trial", "this is a report of a trial, which has no rankings"),
        (at("protocol"), None, "protocol: must be one of house, arb, not None"),
        (at("limit"), 51, "limit: must be a whole number from 1 to 50, not 51"),
        (at("sources", 0, "sha256"), "x", "sources[0].sha256: must be a SHA-256"),
        (at("sources", 1, "sha256"), OTHER_SOURCE, "sources: one samples file is listed twice"),
        (at("selection"), [], "selection: must be an object, not []"),
        (at("selection", "lost", 0, "source"), "0" * 64, "selection.lost[0].source: the report lists no"),
        (at("arms", "\x1b[31m"), {}, 'arms["\\u001b[31m"]: must be the label of an arm'),
        (at("arms", "grep", "version"), 1, "arms.grep.version: must be a string of valid characters, not 1"),
        (at("skipped", "x"), "1", "skipped.x: must be a whole number from 0 on, not '1'"),
        (at("snapshots", "a@b"), {"tree": "5"}, 'snapshots["a@b"].tree: must be a SHA-256'),
        (at("environment"), 5, "environment: must be an object, not 5"),
        (at("registration"), {"corvint_sha256": 5}, "registration.corvint_sha256: must be a string"),
        (at("paired", "all"), {"grep - grep": {}}, "paired: 'grep - grep' is no pair"),
        (at("paired", "all"), {"grep": {}}, "paired: 'grep' is no pair"),
        (at("details"), {}, "details: must be a list"),
        (at("details", 1), None, "details[1]: must be an object, not None"),
        (at("details", 1, "source"), "0" * 64, "details[1].source: the report lists no samples file"),
        (at("details", 1, "id"), "\ud800", "id: must be a string of valid characters, not '\\ud800'"),
        (at("details", 1, "ordinal"), -1, "details[1].ordinal: must be a whole number from 0 on, not -1"),
        (at("details", 1, "row"), 1e3, "details[1].row: must be a whole number from 0 on, not 1000.0"),
        (at("details", 1, "gold"), [], "details[1].gold: a sample of the stratum positive has 0 gold files"),
        (at("details", 1, "gold_absent"), ["x"], "details[1].gold_absent: 'x' is no gold file"),
        (at("details", 1, "status"), "fine", "details[1].status: must be one of measured, fault, crashed"),
        (at("details", 1, "arms", "rocket"), {}, "details[1].arms.rocket: must be an object with"),
        (at("details", 1, "arms", "grep", "ranked"), ["a", 5], "details[1].arms.grep.ranked[1]: must be"),
        (at("details", 1, "arms", "grep", "ranked"), ["a", "a"], "ranked: must be a list without repeats"),
        (at("details", 1, "arms", "grep", "wall_ms"), "1", "wall_ms: must be a number from 0 on, not '1'"),
        (at("details", 1, "arms", "grep", "top_score"), "2", "top_score: must be a finite number"),
        (at("details", 1, "metrics", "grep", "hit@k"), None, 'metrics.grep["hit@k"]: must be a number'),
        (at("details", 1, "anchors"), {"url": 0.5}, "details[1].anchors.url: must be a whole number"),
    ],
)  # fmt: skip
def test_malformed_parts(tmp_path: Path, put: Callable[[Any, Any], None], value: Any, why: str) -> None:
    report = whole(made_up_run(range(3), of=9, lost=[5]))
    put(report, value)
    assert why in fault_of(dumped(tmp_path / "r.json", report))


@pytest.mark.parametrize("key", ["limit", "sources", "selection", "arms", "kind", "protocol", "details"])
def test_missing_parts(tmp_path: Path, key: str) -> None:
    report = whole(made_up_run([0], of=1))
    del report[key]
    text = fault_of(dumped(tmp_path / "r.json", report))
    assert f"the report: must be an object with {key!r}" in text or "details: must be a list" in text


def test_an_arm_that_the_head_does_not_list(tmp_path: Path) -> None:
    report = whole(made_up_run(range(2), of=2))
    del report["arms"]["grep"]
    del report["arm_order"]
    report["paired"] = {}
    assert "details[0].arms: 'grep' is no arm that the report lists" in fault_of(
        dumped(tmp_path / "r", report)
    )
