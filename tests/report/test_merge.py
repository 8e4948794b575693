"""Merging: parts of a run against the whole, replaced arms, and everything that is refused."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from pytest_retrieval.errors import ReportError
from pytest_retrieval.report import schema
from pytest_retrieval.report.build import Report, build
from pytest_retrieval.report.canonical import encode
from pytest_retrieval.report.identity import strip_times
from pytest_retrieval.report.merge import merge
from pytest_retrieval.report.read import read_report
from tests.report.runs import (
    LABELS,
    dumped,
    made_up,
    made_up_run,
    original,
    original_detail,
    unsourced,
    whole,
    written,
)
from tests.report.samples import COMMIT, OTHER_SOURCE, SOURCE, answer, detail, header, positive

ALL = range(12)
CALM = settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture])


def lexical_run(labels: list[str]) -> Report:
    """Two samples of baselines in the order of ``labels``."""
    head = header(*labels, of=2, chosen=2)
    for facts in head["arms"].values():
        facts["baseline"] = True
    rows = [
        detail(row, {label: (answer(ranked=["a.c"]), positive(1.0, 1.0)) for label in labels}, ceiling={})
        for row in range(2)
    ]
    return build(head, rows)


def merged(folder: Path, *reports: Report, union: bool = False) -> Report:
    paths = [written(folder / f"{place}.json", report) for place, report in enumerate(reports)]
    return merge([read_report(path) for path in paths], union=union)


def refused(folder: Path, *documents: Any, union: bool = False) -> str:
    paths = [dumped(folder / f"{place}.json", document) for place, document in enumerate(documents)]
    with pytest.raises(ReportError) as caught:
        merge([read_report(path) for path in paths], union=union)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_summary_of_one_report_reproduces_its_sections(tmp_path: Path) -> None:
    run = made_up_run(ALL, of=40)
    again = whole(merged(tmp_path, run))
    before = whole(run)
    assert again.pop("registration")["arms"] == ["bm25:all", "context", "grep"]
    again["environment"] = before["environment"]
    assert again == before


def test_halves_by_samples_are_the_whole(tmp_path: Path) -> None:
    halves = [made_up_run(rows, of=12) for rows in (range(5), range(5, 12))]
    run = made_up_run(ALL, of=12)
    assert unsourced(merged(tmp_path, *halves)) == {
        **unsourced(merged(tmp_path, run)),
        "environment": {"contended": False, "reports": [{}, {}]},
    }


def test_halves_by_arms_are_the_whole(tmp_path: Path) -> None:
    halves = [made_up_run(ALL, labels, of=12) for labels in (["context"], ["grep", "bm25:all"])]
    run = made_up_run(ALL, of=12)
    again = merged(tmp_path, *halves)
    assert again.packed == merged(tmp_path, run).packed
    assert strip_times(unsourced(again)) == strip_times(unsourced(merged(tmp_path, run)))
    assert set(whole(again)["paired"]["all"]) == {"context - grep", "context - bm25:all"}


def test_a_merged_report_fits_the_schema(tmp_path: Path) -> None:
    halves = [made_up_run(rows, of=12, lost=lost) for rows, lost in ((range(5), [6]), (range(5, 6), []))]
    jsonschema.Draft202012Validator(schema()).validate(whole(merged(tmp_path, *halves)))


@CALM
@given(st.lists(st.integers(0, 2), min_size=12, max_size=12), st.permutations(range(3)))
def test_any_split_in_any_order_is_the_whole(tmp_path: Path, parts: list[int], order: list[int]) -> None:
    split = [made_up_run([row for row in ALL if parts[row] == part], of=30) for part in order]
    again = unsourced(merged(tmp_path, *split))
    expected = unsourced(merged(tmp_path, made_up_run(ALL, of=30)))
    assert strip_times(again) == strip_times(expected)
    assert again["latency"] == expected["latency"]


@st.composite
def cells(draw: st.DrawFn) -> list[tuple[list[int], list[str]]]:
    """All rows by all arms, cut along rows and then along arms, in any order."""
    found = []
    row_parts = draw(st.lists(st.integers(0, 2), min_size=12, max_size=12))
    for part in sorted(set(row_parts)):
        arm_parts = draw(st.lists(st.integers(0, 2), min_size=len(LABELS), max_size=len(LABELS)))
        for arm_part in sorted(set(arm_parts)):
            labels = [label for label, place in zip(LABELS, arm_parts, strict=True) if place == arm_part]
            found.append(([row for row in ALL if row_parts[row] == part], labels))
    return draw(st.permutations(found))


def comparable(report: Report) -> bytes:
    """The bytes of a report but for what two runs may differ in, and what a merged one says of its parts."""
    kept = strip_times(whole(report))
    kept.pop("registration", None)
    return encode(kept)


@CALM
@given(cells())
@example([(list(ALL), ["bm25:all"]), (list(ALL), ["context"]), (list(ALL), ["grep"])])
def test_any_split_by_samples_and_arms_in_any_order_is_the_run(
    tmp_path: Path, parts: list[tuple[list[int], list[str]]]
) -> None:
    reports = [made_up_run(rows, labels, of=30) for rows, labels in parts]
    assert comparable(merged(tmp_path, *reports)) == comparable(made_up_run(ALL, of=30))


@pytest.mark.parametrize("labels", list(itertools.permutations(("grep", "bm25:all", "bm25:ident"))))
def test_lexical_arms_of_different_reports_are_compared_in_the_built_in_order(
    tmp_path: Path, labels: tuple[str, ...]
) -> None:
    report = merged(tmp_path, *(lexical_run([label]) for label in labels))
    run = merged(tmp_path, lexical_run(["grep", "bm25:all", "bm25:ident"]))
    assert comparable(report) == comparable(run)
    head = report.head
    assert head["arm_order"] == ["grep", "bm25:all", "bm25:ident"]
    assert set(head["paired"]["all"]) == {"bm25:all - grep", "bm25:ident - grep"}


@pytest.mark.parametrize("turned", [False, True])
def test_the_order_in_which_arms_were_named_is_kept(tmp_path: Path, turned: bool) -> None:
    named, rest = lexical_run(["bm25:all", "grep"]), lexical_run(["bm25:ident"])
    assert whole(named)["arm_order"] == ["bm25:all", "grep"]
    parts = (rest, named) if turned else (named, rest)
    head = merged(tmp_path, *parts).head
    assert head["arm_order"] == ["bm25:all", "grep", "bm25:ident"]
    assert set(head["paired"]["all"]) == {"grep - bm25:all", "bm25:ident - bm25:all"}


def test_a_report_from_before_the_order_was_recorded_shows_its_control(tmp_path: Path) -> None:
    document = whole(lexical_run(["bm25:all", "grep"]))
    del document["arm_order"]
    stored = read_report(dumped(tmp_path / "r.json", document))
    assert list(stored.arms) == ["bm25:all", "grep"]
    assert merge([stored]).head["arm_order"] == ["bm25:all", "grep"]


def test_an_order_that_is_none_is_refused(tmp_path: Path) -> None:
    document = whole(lexical_run(["bm25:all", "grep"]))
    document["arm_order"] = ["grep"]
    assert "arm_order: must name every arm of the report, and no other" in refused(tmp_path, document)


def test_what_reports_tell_apart_is_joined_whichever_is_first(tmp_path: Path) -> None:
    one, two = (whole(made_up_run([0, 1], [label], of=3)) for label in ("context", "grep"))
    two["skipped"] = {"no_gold_unlabeled": 1}
    one["measures"], two["measures"] = ["ndcg@10"], ["ndcg@10", "ap@k"]
    one["arms"]["context"]["version"] = "unknown"
    one["snapshots"][f"pallets/click@{COMMIT}"]["source"] = "z"
    two["sources"][0]["path"] = "moved.jsonl"
    two["details"][1] |= {"attempts": 3, "cluster": "c", "anchors": {"url": 1}, "anchors_strict": {"url": 1}}
    paths = [dumped(tmp_path / f"{place}.json", document) for place, document in enumerate((one, two))]
    stored = [read_report(path) for path in paths]
    report = merge(stored)
    assert comparable(report) == comparable(merge(stored[::-1]))
    assert report.head["skipped"] == {"no_gold_unlabeled": 2}
    assert report.head["measures"] == ["ap@k", "ndcg@10"] or report.head["measures"] == ["ndcg@10", "ap@k"]
    found = whole(report)["details"][1]
    assert (found["attempts"], found["cluster"], found["anchors"]) == (3, "c", {"url": 1})
    assert found["anchor_bearing"] is True
    assert report.head["arms"]["grep"]["groups"]["stratum:anchor-bearing-strict"]["n"] == 1


@CALM
@given(st.lists(st.sets(st.sampled_from(ALL), min_size=1), min_size=3, max_size=3))
def test_merging_is_associative_and_idempotent(tmp_path: Path, parts: list[set[int]]) -> None:
    one, two, three = (made_up_run(sorted(rows), of=12) for rows in parts)
    together = strip_times(unsourced(merged(tmp_path, one, two, three)))
    inner = merged(tmp_path, two, three)
    assert strip_times(unsourced(merged(tmp_path, one, inner))) == together
    assert strip_times(unsourced(merged(tmp_path, one, two, three, two))) == together


def test_the_digests_of_the_reports_are_in_the_order_of_the_arguments(tmp_path: Path) -> None:
    halves = [made_up_run(rows, of=12) for rows in (range(5, 12), range(5))]
    paths = [written(tmp_path / f"{place}.json", half) for place, half in enumerate(halves)]
    stored = [read_report(path) for path in paths]
    registered = merge(stored).head["registration"]
    assert registered["source_reports_sha256"] == [report.sha256 for report in stored]
    assert registered["samples_sha256"] == [OTHER_SOURCE, SOURCE]  # by path: other.jsonl, s.jsonl


def test_a_later_arm_replaces_an_earlier_one_and_metrics_are_computed(tmp_path: Path) -> None:
    before = made_up_run([0], of=12)
    later = whole(made_up_run([0], ["grep"], of=12))
    gold = later["details"][0]["gold"][0]
    later["details"][0]["arms"]["grep"] = answer(ranked=["x.c", gold], wall_ms=3.0)
    later["details"][0]["metrics"]["grep"] = {"recall@5": 1, "hard_negative_hits@k": 1}  # the first is a lie
    paths = [written(tmp_path / "a.json", before), dumped(tmp_path / "b.json", later)]
    found = whole(merge([read_report(path) for path in paths]))["details"][0]
    assert found["arms"]["grep"]["ranked"] == ["x.c", gold]
    # one of two gold files at rank 2 of 2: precision 1/2, recall 1/2
    assert found["metrics"]["grep"] == {
        "recall@5": 0.5, "recall@10": 0.5, "recall@20": 0.5, "mrr@k": 0.5, "precision@k": 0.5, "f1@k": 0.5,
        "hit@k": 1, "hard_negative_hits@k": 1, "abstained": 0, "selective_success": 1,
    }  # fmt: skip
    assert found["metrics"]["context"] == whole(before)["details"][0]["metrics"]["context"]


def test_hits_of_hard_negatives_are_computed_where_they_are_known(tmp_path: Path) -> None:
    document = whole(made_up_run([0], ["grep"], of=12))
    found = document["details"][0]
    found["arms"]["grep"] = answer(ranked=["x.c", "n.c", "gone.c"])
    found["metrics"]["grep"] = {"hard_negative_hits@k": 3}  # a lie
    again = whole(merge([read_report(dumped(tmp_path / "without.json", document))]))
    assert again["details"][0]["metrics"]["grep"]["hard_negative_hits@k"] == 3
    found["negatives"] = ["n.c", "x.c", "m.c"]
    again = whole(merge([read_report(dumped(tmp_path / "with.json", document))]))
    assert again["details"][0]["metrics"]["grep"]["hard_negative_hits@k"] == 2
    assert again["arms"]["grep"]["groups"]["all"]["hard_negative_hits@k"] == 2
    assert again["details"][0]["negatives"] == ["n.c", "x.c", "m.c"]


def test_an_answer_of_the_original_is_graded_by_the_negatives_of_a_run_of_ours(tmp_path: Path) -> None:
    ours = whole(
        build(
            header("bm25:all", of=1, chosen=1, limit=5),
            [
                detail(
                    0,
                    {"bm25:all": (answer(), positive(0.0, 0.0))},
                    id="a", gold=["ring_test.c"], base_commit="1" * 40, negatives=["x.c"], ceiling={},
                )
            ],
        )
    )  # fmt: skip
    ours["sources"] = [ours["sources"][0]]
    theirs = original(original_detail("a", {"context": ["x.c"]}))
    paths = [dumped(tmp_path / "theirs.json", theirs), dumped(tmp_path / "ours.json", ours)]
    found = whole(merge([read_report(path) for path in paths]))["details"][0]
    assert found["metrics"]["context"]["hard_negative_hits@k"] == 1


def test_verdicts_of_a_part_are_dropped(tmp_path: Path) -> None:
    verdict = {
        "gate": "grep: errors == 0",
        "status": "passed",
        "expected": "== 0",
        "n": 1,
        "chosen": 1,
        "of": 1,
    }
    assert merged(tmp_path, made_up_run([0], of=1).with_gates([verdict])).head["gates"] == []


def test_what_one_part_lost_and_another_answered_is_not_lost(tmp_path: Path) -> None:
    parts = [made_up_run(range(5), of=12, lost=[5, 6]), made_up_run([5], of=12)]
    selection = merged(tmp_path, *parts).head["selection"]
    assert selection == {
        "of": 12,
        "chosen": 7,
        "judged": 6,
        "lost": [{"source": SOURCE, "id": "s6", "ordinal": 0, "why": "not run"}],
    }


def test_an_arm_that_lost_a_sample_keeps_it_lost_whatever_others_answered(tmp_path: Path) -> None:
    parts = [made_up_run([0], ["grep"], of=2, lost=[1]), made_up_run([0, 1], ["context"], of=2)]
    report = whole(merged(tmp_path, *parts))
    assert [item["id"] for item in report["selection"]["lost"]] == ["s1"]
    assert report["details"][1]["arms"]["grep"]["error"] == "not run"
    assert report["details"][1]["status"] == "crashed"
    answered = made_up_run([1], ["grep"], of=2)
    healed = whole(merged(tmp_path, *parts, answered))
    assert healed["selection"]["lost"] == []
    assert healed["details"][1]["status"] == "measured"


@pytest.mark.parametrize("crash_first", [True, False])
def test_an_answer_beats_a_crash_in_either_order(tmp_path: Path, crash_first: bool) -> None:
    died = answer(error="the worker died while it ran this sample")
    crashed = made_up(1, status="crashed", gold_absent=[], arms=dict.fromkeys(LABELS, died))
    del crashed["ceiling"]
    lost = build(header(*LABELS, of=12, chosen=1), [crashed])
    answered = made_up_run([1], of=12)
    report = whole(merged(tmp_path, *((lost, answered) if crash_first else (answered, lost))))
    assert report["details"] == whole(answered)["details"]
    assert report["selection"]["lost"] == []


def test_trees_of_a_snapshot_must_agree(tmp_path: Path) -> None:
    one, two = whole(made_up_run([0], of=3)), whole(made_up_run([0], of=3))
    two["snapshots"][f"pallets/click@{COMMIT}"]["tree"] = "9" * 64
    assert "another tree" in refused(tmp_path, one, two)


def test_versions_of_an_arm_must_agree_unless_one_is_unknown(tmp_path: Path) -> None:
    one, two = whole(made_up_run([0], of=3)), whole(made_up_run([0], of=3))
    two["arms"]["context"]["version"] = "2"
    message = refused(tmp_path, one, two)
    assert "the arm 'context' has the version '2'" in message
    assert "binary" in message
    two["arms"]["context"]["version"] = "unknown"
    for order in ((one, two), (two, one)):
        paths = [dumped(tmp_path / f"{place}.json", document) for place, document in enumerate(order)]
        assert merge([read_report(path) for path in paths]).head["arms"]["context"]["version"] == "1"


def test_protocols_must_agree(tmp_path: Path) -> None:
    one, two = whole(made_up_run([0], of=3)), whole(made_up_run([1], of=3, protocol="arb"))
    assert "its protocol is arb" in refused(tmp_path, one, two)


def test_facts_of_a_sample_must_agree(tmp_path: Path) -> None:
    one, two = whole(made_up_run([0], of=3)), whole(made_up_run([0], of=3))
    two["details"][0]["gold"] = ["gone.c", "other.c"]
    assert "sample 's0' (ordinal 0) has another gold" in refused(tmp_path, one, two)


def test_a_sample_twice_in_one_report_is_refused(tmp_path: Path) -> None:
    document = whole(made_up_run([0], of=3))
    document["details"] *= 2
    assert "sample 's0' (ordinal 0) comes twice" in refused(tmp_path, document)


def test_a_wrong_count_of_chosen_samples_is_refused(tmp_path: Path) -> None:
    document = whole(made_up_run([0, 1], of=3))
    document["selection"]["chosen"] = 3
    assert "selection.chosen: 3 samples are said to be chosen, and 2 are" in refused(tmp_path, document)


# bench-extras 11, Summaries


def test_case_82_other_samples_are_refused(tmp_path: Path) -> None:
    one = original(original_detail("a", {"grep": []}))
    two = original(original_detail("b", {"grep": []}), samples_sha256="ef" * 32)
    assert "other samples files" in refused(tmp_path, one, two)


def test_case_83_an_unknown_arm_is_refused_by_name(tmp_path: Path) -> None:
    assert "'rocket'" in refused(tmp_path, original(original_detail("a", {"rocket": []})))


def test_case_84_other_limits_are_refused(tmp_path: Path) -> None:
    reports = [original(original_detail("a", {"grep": []}), limit=limit) for limit in (5, 20)]
    assert "limit" in refused(tmp_path, *reports)


def test_case_85_other_binaries_are_refused(tmp_path: Path) -> None:
    reports = [
        original(original_detail("a", {arm: []}), corvint={"sha256": digest * 32, "version": "1"})
        for arm, digest in (("context", "aa"), ("corvint", "bb"))
    ]
    assert "binary" in refused(tmp_path, *reports)


@pytest.mark.parametrize("measured_first", [True, False])
def test_case_86_the_measured_identity_wins(tmp_path: Path, measured_first: bool) -> None:
    measured = original(original_detail("a", {"context": ["ring_test.c"]}))
    lexical = original(original_detail("a", {"grep": ["x.c"]}), corvint={"sha256": "NOT_RUN"})
    order = (measured, lexical) if measured_first else (lexical, measured)
    paths = [dumped(tmp_path / f"{place}.json", document) for place, document in enumerate(order)]
    head = merge([read_report(path) for path in paths]).head
    assert head["registration"]["corvint_sha256"] == "aa" * 32
    assert set(head["arms"]) == {"context", "grep"}
    assert head["arms"]["context"]["version"] == "corvint 0.4.0a3 sha256:aaaaaaaaaaaa"
    assert head["selection"]["chosen"] == 1


def test_case_87_null_arms_are_none(tmp_path: Path) -> None:
    reports = [original(original_detail("a", None)), original(original_detail("a", {"grep": ["x.c"]}))]
    paths = [dumped(tmp_path / f"{place}.json", document) for place, document in enumerate(reports)]
    assert list(merge([read_report(path) for path in paths]).head["arms"]) == ["grep"]


def test_case_88_the_later_arm_wins_and_its_metrics(tmp_path: Path) -> None:
    reports = [original(original_detail("a", {"grep": ranked})) for ranked in (["x.c"], ["ring_test.c"])]
    paths = [dumped(tmp_path / f"{place}.json", document) for place, document in enumerate(reports)]
    report = whole(merge([read_report(path) for path in paths]))
    assert report["details"][0]["arms"]["grep"]["ranked"] == ["ring_test.c"]
    assert report["details"][0]["metrics"]["grep"]["mrr@k"] == 1


def test_case_89_a_report_without_times_is_unrecorded(tmp_path: Path) -> None:
    path = dumped(tmp_path / "r.json", original(original_detail("a", {"grep": []})))
    assert merge([read_report(path)]).head["latency"] == {
        "grep": {"UNRECORDED": {"n": 0, "state": "NOT_RUN"}},
    }


def test_case_89_a_time_without_a_label_is_unrecorded_too(tmp_path: Path) -> None:
    sample = original_detail("a", {"context": []})
    sample["arms"]["context"]["wall_ms"] = 2.5  # the original files it under NOT_APPLICABLE
    path = dumped(tmp_path / "r.json", original(sample))
    assert merge([read_report(path)]).head["latency"] == {
        "context": {"UNRECORDED": {"n": 1, "state": "NOT_RUN"}},
    }


def test_case_90_a_repository_outside_the_map_is_unassigned(tmp_path: Path) -> None:
    sample = original_detail("a", {"grep": []}, partition="A")
    report = whole(merge([read_report(dumped(tmp_path / "r.json", original(sample)))]))
    assert report["details"][0]["partition"] == "unassigned"
    assert report["arms"]["grep"]["groups"]["fold:unassigned"]["n"] == 1
    assert "fold:A" not in report["arms"]["grep"]["groups"]


@pytest.mark.parametrize(
    ("hits", "n", "rate", "interval"),
    [
        (30, 40, 0.75, {"successes": 30, "n": 40, "low": 0.598060, "high": 0.858129}),
        (1, 3, 0.333333, {"successes": 1, "n": 3, "low": 0.061492, "high": 0.792340}),
        (0, 58, 0, {"successes": 0, "n": 58, "low": 0, "high": 0.062118}),
        (0, 0, None, {"successes": 0, "n": 0}),
    ],
)
def test_cases_97_and_98_intervals_after_a_merge(
    tmp_path: Path, hits: int, n: int, rate: float | None, interval: dict[str, float]
) -> None:
    rankings = [["ring_test.c"]] * hits + [["x.c"]] * (n - hits)
    samples = [original_detail(f"s{place}", {"grep": ranked}) for place, ranked in enumerate(rankings)]
    none = original_detail("none", {"grep": []}, stratum="natural_no_gold", gold=None)
    path = dumped(tmp_path / "r.json", original(*samples, none))
    text = b"".join(merge([read_report(path)]).chunks())
    group = json.loads(text)["arms"]["grep"]["groups"]["all"]
    assert group["intervals"]["hit@k"] == interval
    assert group.get("hit@k") == rate
    assert b":-0," not in text  # the original printed -0 for the low end of 0 of 58
    assert b":-0}" not in text


def test_rows_of_the_original_are_in_the_order_of_appearance_and_equal_ids_stay_apart(tmp_path: Path) -> None:
    samples = [original_detail(name, {"grep": [f"{place}.c"]}) for place, name in enumerate("zaza")]
    report = whole(merge([read_report(dumped(tmp_path / "r.json", original(*samples)))]))
    assert [(found["id"], found["ordinal"], found["row"]) for found in report["details"]] == [
        ("z", 0, 0), ("a", 0, 1), ("z", 1, 2), ("a", 1, 3),
    ]  # fmt: skip
    assert [found["arms"]["grep"]["ranked"] for found in report["details"]] == [
        ["0.c"], ["1.c"], ["2.c"], ["3.c"],
    ]  # fmt: skip


def test_a_run_of_ours_lends_its_rows_and_its_file_to_the_original(tmp_path: Path) -> None:
    ours = build(
        header("bm25:all", of=9, chosen=1, limit=5),
        [
            detail(
                7,
                {"bm25:all": (answer(), positive(0.0, 0.0))},
                id="b",
                gold=["ring_test.c"],
                base_commit="1" * 40,
                ceiling={},
            )
        ],
    )
    head = whole(ours)
    head["sources"] = [head["sources"][0] | {"rows": 9, "kept": 9}]
    theirs = original(*(original_detail(name, {"context": []}) for name in "ab"))
    paths = [dumped(tmp_path / "theirs.json", theirs), dumped(tmp_path / "ours.json", head)]
    report = whole(merge([read_report(path) for path in paths]))
    assert [(found["id"], found["row"]) for found in report["details"]] == [("b", 7), ("a", 8)]
    assert set(report["details"][0]["arms"]) == {"context", "bm25:all"}
    assert report["sources"] == [{"path": "s.jsonl", "sha256": SOURCE, "rows": 9, "kept": 9}]
    assert report["selection"]["of"] == 9


# Unions


def union_part(source: str, path: str, rows: range, *, of: int) -> dict[str, Any]:
    document = whole(made_up_run(rows, of=of))
    document["sources"] = [{"path": path, "sha256": source, "rows": of + 2, "kept": of}]
    for found in document["details"]:
        found["source"] = source
    return document


def test_a_union_lists_the_files_and_adds_what_they_hold(tmp_path: Path) -> None:
    parts = [
        union_part("2" * 64, "b.jsonl", range(4), of=10),
        union_part("1" * 64, "a.jsonl", range(4, 9), of=5),
    ]
    paths = [dumped(tmp_path / f"{place}.json", document) for place, document in enumerate(parts)]
    report = whole(merge([read_report(path) for path in paths], union=True))
    assert [source["path"] for source in report["sources"]] == ["a.jsonl", "b.jsonl"]
    assert report["skipped"] == {"no_gold_unlabeled": 4}
    assert (report["selection"]["of"], report["selection"]["chosen"]) == (15, 9)
    assert [found["id"] for found in report["details"]] == [
        "s4",
        "s5",
        "s6",
        "s7",
        "s8",
        "s0",
        "s1",
        "s2",
        "s3",
    ]


def test_a_union_of_a_union_is_the_union_of_all(tmp_path: Path) -> None:
    parts = [
        union_part(str(place) * 64, f"{place}.jsonl", range(3 * place, 3 * place + 3), of=3)
        for place in range(3)
    ]
    paths = [dumped(tmp_path / f"{place}.json", document) for place, document in enumerate(parts)]
    stored = [read_report(path) for path in paths]
    inner = read_report(written(tmp_path / "inner.json", merge(stored[:2], union=True)))
    outer = merge([inner, stored[2], stored[0]], union=True)
    assert strip_times(unsourced(outer)) == strip_times(unsourced(merge(stored, union=True)))


def test_a_union_needs_different_ids(tmp_path: Path) -> None:
    parts = [union_part(digit * 64, f"{digit}.jsonl", range(3), of=3) for digit in "12"]
    assert "the id 's0' is also in another samples file" in refused(tmp_path, *parts, union=True)


def test_a_union_is_asked_for(tmp_path: Path) -> None:
    parts = [union_part(digit * 64, f"{digit}.jsonl", range(3), of=3) for digit in "12"]
    assert "--union" in refused(tmp_path, *parts)


def test_a_union_of_files_that_overlap_is_refused(tmp_path: Path) -> None:
    one, two = (whole(made_up_run(rows, of=3)) for rows in (range(3), range(3, 6)))
    two["sources"] = [two["sources"][1], {"path": "x.jsonl", "sha256": "3" * 64, "rows": 0, "kept": 0}]
    assert "share some samples files and not others" in refused(tmp_path, one, two, union=True)


def test_reports_that_count_a_file_differently_are_refused(tmp_path: Path) -> None:
    one, two = (whole(made_up_run(rows, of=3)) for rows in (range(3), range(3, 6)))
    two["sources"][1]["kept"] = 7
    assert "has 7 kept" in refused(tmp_path, one, two)
