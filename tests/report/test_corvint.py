"""The original's profile: its bytes worked out by hand, what is read from it, what it cannot hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_retrieval.datasets.folds import FOLD_MAP_SHA256
from pytest_retrieval.errors import ReportError
from pytest_retrieval.report import corvint_writer
from pytest_retrieval.report.build import Report, build
from pytest_retrieval.report.corvint import ARMS
from pytest_retrieval.report.merge import merge
from pytest_retrieval.report.read import read_report
from tests.report.runs import LABELS, dumped, made_up_run, original, original_detail, written
from tests.report.samples import answer, detail, header, positive

# A positive sample that context answers at rank 1, grep at rank 2 and impact refuses, and one without gold
# that grep abstains on; k = 5. Wilson at z = 1.959964: 1/1 [0.206549, 1], 2/2 [0.342380, 1],
# 0/1 [0, 0.793451].
ZEROS = (
    '{"abstained":0,"f1@k":0,"hard_negative_hits@k":0,"hit@k":0,'
    '"mrr@k":0,"precision@k":0,"recall@5":0,"selective_success":0}'
)
CONTEXT = (
    '{"abstained":0,"f1@k":1,"hard_negative_hits@k":0,"hit@k":1,'
    '"mrr@k":1,"precision@k":1,"recall@5":1,"selective_success":1}'
)
GREP = (
    '{"abstained":0,"f1@k":0.6666666666666666,"hard_negative_hits@k":1,"hit@k":1,'
    '"mrr@k":0.5,"precision@k":0.5,"recall@5":1,"selective_success":1}'
)
DETAILS = (
    '[{"id":"ring/1 <&>","task_type":"code2test","repo":"pallets/click","base_commit":"' + "1" * 40 + '",'
    '"stratum":"positive","partition":"B","gold":["a.c"],"given":["ring.c"],"query_chars":2001,'
    '"query_truncated":true,"anchor_bearing":true,"arms":{'
    '"context":{"ranked":["a.c"],"abstained":false,"state":"READY","packet_bytes":812,"wall_ms":12.5,'
    '"cache_state":"OBSERVED_HIT","cold_wall_ms":99.25},'
    '"grep":{"ranked":["b.c","a.c"],"abstained":false,"top_score":3},'
    '"impact":{"ranked":null,"abstained":false,"error":"no changed_file in query"}},'
    f'"metrics":{{"context":{CONTEXT},"grep":{GREP},"impact":{ZEROS}}}}},'
    '{"id":"none","task_type":"abstention","repo":"acme/ring","base_commit":"' + "2" * 40 + '",'
    '"stratum":"natural_no_gold","partition":"unassigned","gold":null,"given":[],"query_chars":7,'
    '"query_truncated":false,"arms":{"grep":{"ranked":[],"abstained":true}},'
    '"metrics":{"grep":{"abstained":1,"selective_success":1}}}]'
)


def means(n: int, positives: int, metrics: str) -> str:
    """A group of the summary: the means with six decimals, and the counts."""
    figures = json.loads(metrics.replace("0.6666666666666666", "0.666667"))
    return json.dumps({**figures, "n": n, "positives": positives}, sort_keys=True, separators=(",", ":"))


GREP_ALL = GREP.replace('"abstained":0', '"abstained":0.5')
ABSTAINED = '{"abstained":1,"selective_success":1}'
ONE = '{"high":1,"low":0.206549,"n":1,"rate":1}'
NONE = '{"high":0.793451,"low":0,"n":1,"rate":0}'
TWO = '{"high":1,"low":0.34238,"n":2,"rate":1}'


def groups(metrics: str) -> str:
    shown = means(1, 1, metrics)
    return (
        f'"all":{shown},"errors":ERRORS,"fold:B":{shown},"intervals":{{"hit@5":RATE,"selective_success":RATE}},'
        + (f'"stratum:anchor-bearing":{shown},"stratum:positive":{shown},"task:code2test":{shown}')
    )


def difference(mean: str) -> str:
    wins, ties = ("1", "0") if mean != "0" else ("0", "1")
    return f'{{"high":{mean},"losses":0,"low":{mean},"mean_diff":{mean},"n":1,"ties":{ties},"wins":{wins}}}'


PAIR = f'{{"context":{{"grep":{{"mrr@k":{difference("0.5")},"recall@5":{difference("0")}}}}}}}'
GOLDEN = (
    '{"arms":{"context":{' + groups(CONTEXT).replace("ERRORS", "0").replace("RATE", ONE) + "},"
    '"grep":{"all":' + means(2, 1, GREP_ALL) + ',"errors":0,"fold:B":' + means(1, 1, GREP) + ","
    '"fold:unassigned":' + means(1, 0, ABSTAINED) + ","
    '"intervals":{"hit@5":' + ONE + ',"selective_success":' + TWO + "},"
    '"stratum:anchor-bearing":' + means(1, 1, GREP) + ","
    '"stratum:natural_no_gold":' + means(1, 0, ABSTAINED) + ","
    '"stratum:positive":' + means(1, 1, GREP) + ',"task:abstention":' + means(1, 0, ABSTAINED) + ","
    '"task:code2test":' + means(1, 1, GREP) + "},"
    '"impact":{' + groups(ZEROS).replace("ERRORS", "1").replace("RATE", NONE) + "}},"
    '"corvint":{"sha256":"' + "aa" * 32 + '","version":"corvint 0.4.0a3"},'
    '"details":' + DETAILS + ","
    '"latency":{"context":{"OBSERVED_HIT":{"n":1,"state":"NOT_RUN"}'
    'OBSERVED_MISS},"grep":{"UNRECORDED":{"n":0,"state":"NOT_RUN"}},"impact":{"UNRECORDED":{"n":0,"state":"NOT_RUN"}}},'
    '"limit":5,"paired":{"all":' + PAIR + ',"fold:B":' + PAIR + ',"task:code2test":' + PAIR + ","
    '"task:code2test/fold:B":' + PAIR + "},"
    '"profile":"corvint-retrieval-bench/0",'
    '"registration":{"arms":["context","grep","impact"],"corvint_sha256":"' + "aa" * 32 + '",'
    '"fold_map_sha256":"' + FOLD_MAP_SHA256 + '","samples_sha256":"' + "ab" * 32 + '"SOURCES},'
    '"samples":2,"samples_sha256":"' + "ab" * 32 + '","skipped":{"no_gold_unlabeled":0}}'
)  # fmt: skip


def golden(sources: str = "", missed: str = "") -> str:
    return GOLDEN.replace("SOURCES", sources).replace("OBSERVED_MISS", missed)


def in_profile(report: Report) -> str:
    return b"".join(corvint_writer.chunks(report)).decode()


def test_reading_and_writing_gives_the_golden_bytes_and_the_digest_of_the_source(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text(golden(), encoding="utf-8")
    stored = read_report(path)
    report = merge([stored])
    missed = ""
    if "OBSERVED_MISS" in report.head["latency"]["context"]:
        missed = ',"OBSERVED_MISS":{"n":1,"state":"NOT_RUN"}'
    assert in_profile(report) == golden(f',"source_reports_sha256":["{stored.sha256}"]', missed)


def test_what_is_written_reads_back_as_the_same_details(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text(golden(), encoding="utf-8")
    first = read_report(path)
    again = tmp_path / "again.json"
    again.write_text(in_profile(merge([first])), encoding="utf-8")
    assert list(read_report(again).details()) == list(first.details())


def test_a_run_of_ours_survives_the_profile_but_for_what_it_does_not_know(tmp_path: Path) -> None:
    sources = [{"path": "s.jsonl", "sha256": "ab" * 32, "rows": 12, "kept": 12}]
    run = merge([read_report(written(tmp_path / "run.json", made_up_run(range(12), of=12, sources=sources)))])
    path = tmp_path / "theirs.json"
    path.write_text(in_profile(run), encoding="utf-8")
    stored = read_report(path)
    for ours, theirs in zip(run.details(), stored.details(), strict=True):
        for name in (
            "id",
            "ordinal",
            "repo",
            "gold",
            "given",
            "stratum",
            "partition",
            "arms",
            "metrics",
            "status",
        ):
            assert ours[name] == theirs[name]
    again = merge([stored]).head
    for label in LABELS:
        assert again["arms"][label]["groups"] == run.head["arms"][label]["groups"]
    assert again["paired"] == run.head["paired"]


def test_details_are_read_in_our_shape(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text(golden(), encoding="utf-8")
    first, second = read_report(path).details()
    assert first["arms"]["impact"] == {
        "ranked": [], "abstained": False, "cache_state": "UNRECORDED", "error": "no changed_file in query",
        "refused": True,
    }  # fmt: skip
    assert first["status"] == "measured"
    assert first["arms"]["context"]["cold_wall_ms"] == 99.25
    assert first["anchor_bearing"] is True
    assert (second["gold"], second["gold_absent"], second["row"], second["ordinal"]) == ([], [], None, 0)
    assert "anchor_bearing" not in second


def test_an_error_of_query_or_context_has_an_empty_list_and_one_of_impact_or_affected_null() -> None:
    failed = {label: (answer(error="exit 3", wall_ms=1.5), positive(0.0, 0.0)) for label in ARMS}
    head = header(*ARMS)
    del head["sources"][1:]
    found = json.loads(in_profile(build(head, [detail(0, failed, status="fault")])))["details"][0]["arms"]
    assert {label: shown["ranked"] for label, shown in found.items()} == {
        **{label: [] for label in ARMS}, "impact": None, "affected": None,
    }  # fmt: skip


def test_a_wilson_bound_of_nothing_hit_has_no_sign() -> None:
    missed = [detail(row, {"grep": (answer(), positive(0.0, 0.0))}) for row in range(58)]
    head = header("grep")
    del head["sources"][1:]
    text = in_profile(build(head, missed))
    assert '"hit@20":{"high":0.062118,"low":0,"n":58,"rate":0}' in text


def test_no_samples_have_no_rate() -> None:
    head = header("grep")
    del head["sources"][1:]
    arm = json.loads(in_profile(build(head, [])))["arms"]["grep"]
    assert arm == {"errors": 0, "intervals": {"hit@20": {"n": 0}, "selective_success": {"n": 0}}}


@pytest.mark.parametrize(
    ("head", "why"),
    [
        (header("rocket"), "has no arm 'rocket'"),
        (header("grep"), "is over one samples file, and this report is over 2"),
    ],
)
def test_what_the_profile_cannot_hold_is_refused(head: dict[str, Any], why: str) -> None:
    with pytest.raises(ReportError, match=why):
        in_profile(build(head, []))


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"corvint": None, "skipped": None},
        {"registration": {"environment": None}, "latency": {}, "paired": {}, "arms": {}},
    ],
)
def test_reports_from_before_the_later_sections_are_read(tmp_path: Path, fields: dict[str, Any]) -> None:
    sample = original_detail("a", {"grep": ["ring_test.c"]})
    document = original(sample, **fields)
    stored = read_report(dumped(tmp_path / "r.json", document))
    assert (stored.of, stored.chosen, stored.protocol, stored.limit) == (1, 1, "house", 5)
    assert next(stored.details())["partition"] == "unassigned"
    assert stored.environments == [{}]


def test_no_details_are_no_samples(tmp_path: Path) -> None:
    empty: tuple[list[Any] | None, ...] = (None, [])
    for details in empty:
        stored = read_report(dumped(tmp_path / "r.json", original() | {"details": details}))
        assert list(stored.details()) == []
        assert merge([stored]).head["selection"]["judged"] == 0


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"samples_sha256": "AB" * 32}, "samples_sha256: must be a SHA-256 in lower-case hex"),
        ({"limit": 0}, "limit: must be a whole number from 1 to 50, not 0"),
        ({"limit": True}, "limit: must be a whole number from 1 to 50, not True"),
        ({"corvint": {"sha256": "aa.."}}, "corvint.sha256: must be a SHA-256"),
        ({"skipped": {"x": -1}}, "skipped.x: must be a whole number from 0 on, not -1"),
        ({"details": {}}, "details: must be a list"),
        ({"details": [5]}, "details[0]: must be an object, not 5"),
    ],
)
def test_malformed_heads_are_refused(tmp_path: Path, change: dict[str, Any], why: str) -> None:
    assert why in fault_of(tmp_path, original() | change)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"gold": [1]}, "details[1].gold[0]: must be a string of valid characters, not 1"),
        ({"gold": None}, "details[1].gold: does not fit the stratum"),
        ({"stratum": "odd"}, "details[1].stratum: must be one of positive, natural_no_gold"),
        ({"arms": {"grep": {"ranked": "x"}}}, "details[1].arms.grep: must be an object with 'abstained'"),
        (
            {"arms": {"bm25:all": {"ranked": ["a", "a"], "abstained": False}}},
            'details[1].arms["bm25:all"].ranked: must be a list without repeats',
        ),
        (
            {"arms": {"grep": {"ranked": [], "abstained": False, "wall_ms": -1}}},
            "details[1].arms.grep.wall_ms: must be a number from 0 on, not -1",
        ),
        (
            {"metrics": {"grep": {"hard_negative_hits@k": 1e9}}},
            'details[1].metrics.grep["hard_negative_hits@k"]: must be a number from 0 to 50',
        ),
        ({"query_chars": 1.5}, "details[1].query_chars: must be a whole number from 0 on, not 1.5"),
        ({"anchor_bearing": "yes"}, "details[1].anchor_bearing: must be true or false, not 'yes'"),
    ],
)
def test_malformed_details_are_refused(tmp_path: Path, change: dict[str, Any], why: str) -> None:
    good = original_detail("a", {"grep": []})
    assert why in fault_of(tmp_path, original(good, good | {"id": "b"} | change))


def fault_of(folder: Path, document: Any) -> str:
    path = dumped(folder / "r.json", document)
    with pytest.raises(ReportError) as caught:
        read_report(path)
    text = str(caught.value)
    assert text.startswith(f"{path}: ")
    assert "\n" not in text
    return text
