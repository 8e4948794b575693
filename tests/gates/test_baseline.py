"""A run against its baseline: figures on the common samples, no regression, nothing lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import pytest

from pytest_retrieval.errors import GateError
from pytest_retrieval.gates.baseline import load_baseline
from pytest_retrieval.gates.lines import further_lines
from pytest_retrieval.gates.loading import Comparing
from pytest_retrieval.gates.rules import typed_rules
from pytest_retrieval.gates.verdict import judge
from pytest_retrieval.report import schema
from pytest_retrieval.report.build import Report
from pytest_retrieval.report.judged import read_judged
from tests.gates.reports import FAULT, REFUSAL, made, run, sample, trees, verdict, written
from tests.report.samples import OTHER_SOURCE

EVEN = [1, 0] * 50  # of a hundred samples of seven repositories every second is hit


def fits(record: dict[str, Any]) -> dict[str, Any]:
    definitions = schema()["$defs"]
    jsonschema.Draft202012Validator({**definitions["verdict"], "$defs": definitions}).validate(record)
    return record


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("grep: hit@k >= baseline", "FAILED grep: hit@k >= baseline: got 0.25, baseline 0.5 (n 4, "),
        ("grep: hit@k >= baseline - 0.25", "PASSED grep: hit@k >= baseline - 0.25: got 0.25, baseline 0.5 "),
        ("grep: hit@k >= baseline * 0.4", "PASSED grep: hit@k >= baseline * 0.4: got 0.25, baseline 0.5 "),
        ("grep: errors <= baseline", "PASSED grep: errors <= baseline: got 0, baseline 0 (n 4, "),
        (
            "grep @ repo:acme/r0: RR >= baseline",
            "FAILED grep @ repo:acme/r0: mrr@k >= baseline: got 0.5, baseline 1",
        ),
        (
            "grep @ fold:A: RR >= baseline",
            "UNDECIDABLE grep @ fold:A: mrr@k >= baseline: no sample is in fold:A",
        ),
    ],
)
def test_figures_of_the_baseline(tmp_path: Path, text: str, line: str) -> None:
    found = verdict(tmp_path, text, run([2, 0, 0, 0]), run([1, 1, 0, 0]))
    assert str(found).startswith(line)
    assert fits(found.record()).get("baseline", {}).get("common", 4) == 4


def test_the_line_of_a_regression_can_be_traced(tmp_path: Path) -> None:
    # Ten of fifty hits are lost and none is won: -0.1.
    new = [0 if place < 20 else rank for place, rank in enumerate(EVEN)]
    found = verdict(tmp_path, "no_regression(grep, hit@k, 0.02)", run(new), run(EVEN))
    record = fits(found.record())
    assert (record["status"], record["fails"]) == ("failed", True)
    difference = record["difference"]
    assert (record["got"], record["baseline"]["got"], difference["mean"]) == (0.4, 0.5, -0.1)
    assert (difference["wins"], difference["losses"], difference["ties"]) == (0, 10, 90)
    assert (difference["unit"], difference["units"]) == ("repository", 7)
    assert difference["low"] < -0.1 < difference["high"] < -0.02
    ends = f"[{difference['low']}, {difference['high']}]"
    assert str(found) == (
        f"FAILED no_regression(grep, hit@k, 0.02): 0.5 -> 0.4, difference -0.1 {ends}, 0 higher, 10 lower:"
        " the upper end is below minus the margin (n 100, unit repository, 7 repositories, on 100 of 100,"
        f" baseline old.json {record['baseline']['sha256'][:8]})"
    )


def test_measures_may_be_typed_in_any_way(tmp_path: Path) -> None:
    judged = read_judged(written(tmp_path, run(EVEN)))
    rules = typed_rules(["no_regression(grep, R@5, 0)", "lost(grep, Success@3) <= 0", "grep: RR >= baseline"])
    report, baseline = run(EVEN), load_baseline(judged, "old.json", rules)
    found = judge(report.head, rules, details=report.details, baseline=baseline)
    assert [verdict.status for verdict in found] == ["undecided", "passed", "passed"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("lost(grep, recall@10) <= 0", "lost() counts queries"),
        ("no_regression(grep, -recall@10, 0)", "it is known which way recall@10 is better"),
        ("grep: a@b@c >= baseline", "unknown measure 'a@b@c'"),
        ("grep: recall@99 >= baseline", "recall goes up to k = 20"),
    ],
)
def test_a_mistaken_measure_is_one_line_with_a_baseline_too(tmp_path: Path, text: str, why: str) -> None:
    report, judged = run(EVEN), read_judged(written(tmp_path, run(EVEN)))
    rules = typed_rules([text])
    baseline = load_baseline(judged, "old.json", rules)
    with pytest.raises(GateError) as caught:
        judge(report.head, rules, details=report.details, baseline=baseline)
    assert why in str(caught.value)


@pytest.mark.parametrize(
    ("margin", "status", "why"),
    [
        # A hundred samples without a loss may hide 3.6 %.
        (
            "0.02",
            "undecided",
            "no sample differs, yet 100 may hide a loss of 0.0362;"
            " more samples or a larger margin would tell",
        ),
        ("0.04", "passed", "the lower end is above minus the margin"),
    ],
)
def test_the_same_again(tmp_path: Path, margin: str, status: str, why: str) -> None:
    found = verdict(tmp_path, f"no_regression(grep, hit@k, {margin})", run(EVEN), run(EVEN))
    assert (found.status, found.fails, found.reason) == (status, False, why)


def test_samples_of_one_repository_speak_of_it_alone(tmp_path: Path) -> None:
    old, new = (
        made([sample(row, rank, repo="a/a") for row, rank in enumerate(ranks)]) for ranks in (EVEN, [0] * 100)
    )
    found = verdict(tmp_path, "no_regression(grep, hit@k, 0)", new, old)
    assert found.status == "failed"
    assert "unit sample, speaks of this repository alone" in str(found)


def test_the_repository_with_most_of_the_losses_is_named(tmp_path: Path) -> None:
    # Ten repositories of ten; every hit of one is gone, which no test over repositories tells from chance.
    places = [f"acme/r{row // 10}" for row in range(100)]
    whole, holed = (
        made([sample(row, rank if repo != gone else 0, repo=repo) for row, (rank, repo) in rows])
        for gone in ("", "acme/r3")
        for rows in [list(enumerate(zip([1, 0] * 50, places, strict=True)))]
    )
    found = verdict(tmp_path, "no_regression(grep, hit@k, 0.02)", holed, whole)
    record = fits(found.record())
    alone = "no_regression(grep @ repo:acme/r3, hit@k, 0.02)"
    assert found.status == "undecided"
    assert record["worst"] == {"repo": "acme/r3", "n": 10, "baseline": 0.5, "got": 0, "gate": alone}
    assert list(further_lines(record)) == [
        f"most was lost in acme/r3: 0.5 -> 0 (n 10); {alone} judges it alone"
    ]
    assert verdict(tmp_path, alone, holed, whole).status == "failed"
    assert (
        "worst" not in verdict(tmp_path, "no_regression(grep, hit@k, 0)", run([0] * 100), run(EVEN)).record()
    )


def test_a_repository_that_gained_more_than_it_lost_is_not_named(tmp_path: Path) -> None:
    # r0 loses four and gains five, from 0.5 to 0.6; both losses on balance are in r1.
    changed = [("acme/r0", 1, 0)] * 4 + [("acme/r0", 0, 1)] * 5 + [("acme/r0", 1, 1)]
    changed += [("acme/r1", 1, 0)] * 2 + [(f"acme/r{row % 6 + 1}", 1, 1) for row in range(30)]
    old, new = (
        made([sample(row, found[side], repo=found[0]) for row, found in enumerate(changed)])
        for side in (1, 2)
    )
    worst = verdict(tmp_path, "no_regression(grep, hit@k, 0)", new, old).record()["worst"]
    assert (worst["repo"], worst["n"], worst["baseline"], worst["got"]) == ("acme/r1", 7, 1, 0.714286)


@pytest.mark.parametrize(
    ("gate", "status"),
    [("no_regression(grep, tokens@10, 200)", "passed"), ("grep: tokens@10 <= baseline + 10", "failed")],
)
def test_an_error_is_no_answer_without_tokens(tmp_path: Path, gate: str, status: str) -> None:
    # 39 answers cost 20 tokens more; taken for an answer of 0 or 1, the error would decide each gate.
    def told(tokens: float, *, faults: int = 0) -> Report:
        details = [sample(row, FAULT if row < faults else 1) for row in range(40)]
        for found in details[faults:]:
            found["metrics"]["grep"]["tokens@10"] = tokens
        return made(details)

    found = verdict(tmp_path, gate, told(1_020, faults=1), told(1_000))
    assert (found.status, found.record().get("faults")) == (status, None)


def test_of_some_measures_less_is_better(tmp_path: Path) -> None:
    gate = "no_regression(grep, hard_negative_hits@k, 0.1)"
    worse, better = run([2] * 100), run([1] * 100)
    assert verdict(tmp_path, gate, worse, better).status == "failed"
    assert verdict(tmp_path, gate, better, worse).status == "passed"


def test_what_an_arm_was_not_asked_is_not_lost(tmp_path: Path) -> None:
    part = made([sample(row, int(row != 3), label="grep" if row < 6 else "rg") for row in range(10)])
    found = verdict(tmp_path, "lost(grep, hit@k) <= 0", part, run([1] * 10))
    assert (found.status, found.record()["n"]) == ("failed", 6)
    assert [one["id"] for one in found.record()["lost"]] == ["s3"]
    none = verdict(tmp_path, "lost(grep @ repo:acme/r6, hit@k) <= 0", part, run([1] * 10))
    assert (none.status, none.reason) == ("undecidable", "no sample of repo:acme/r6 was compared")


def test_an_error_may_hide_as_many_hard_negatives_as_a_ranking_has_places(tmp_path: Path) -> None:
    # Five errors of twenty files each would be 0.95 more in the mean of a hundred.
    erring: list[int | str] = [FAULT] * 5 + [2] * 95
    found = verdict(tmp_path, "no_regression(grep, hard_negative_hits@k, 0.5)", run(erring), run([2] * 100))
    assert (found.status, found.reason) == ("undecided", "5 samples with an error decide")


def test_a_users_own_measure_is_better_as_the_gate_says(tmp_path: Path) -> None:
    def told(wasted: float, *, faults: int = 0) -> Report:
        details = [sample(row, FAULT if row < faults else 1) for row in range(100)]
        for found in details:
            found["metrics"]["grep"]["wasted@k"] = 0.0 if "error" in found["arms"]["grep"] else wasted
        return made(details, measures=["wasted@k"])

    less, more = told(1), told(2)
    assert verdict(tmp_path, "no_regression(grep, -wasted, 0.5)", more, less).status == "failed"
    assert verdict(tmp_path, "no_regression(grep, -wasted, 0.5)", less, more).status == "passed"
    assert verdict(tmp_path, "no_regression(grep, +wasted, 0.5)", less, more).status == "failed"
    erring = told(2, faults=60)  # their 0 is not what they would have wasted
    for gate in ("no_regression(grep, -wasted, 0.5)", "grep: wasted <= baseline", "grep: wasted <= 1"):
        found = verdict(tmp_path, gate, erring, less)
        assert (found.status, found.reason) == ("undecided", "60 samples with an error decide"), gate


def test_a_measure_that_one_report_lacks_is_told(tmp_path: Path) -> None:
    details = [sample(row, 1) for row in range(10)]
    for detail in details:
        detail["metrics"]["grep"]["wasted@k"] = 1.0
    told, plain = made(details, measures=["wasted@k"]), run([1] * 10)
    found = verdict(tmp_path, "no_regression(grep, -wasted, 0.5)", told, plain)
    reason = "no sample of the baseline has wasted@k of grep"
    assert (found.status, found.reason) == ("undecidable", reason)


def test_faults_decide_nothing(tmp_path: Path) -> None:
    new: list[int | str] = [FAULT if place < 20 and rank else rank for place, rank in enumerate(EVEN)]
    found = verdict(tmp_path, "no_regression(grep, hit@k, 0.02)", run(new), run(EVEN))
    assert (found.status, found.reason) == ("undecided", "10 samples with an error decide")
    assert fits(found.record())["faults"] == 10
    refused: list[int | str] = [REFUSAL if place < 20 and rank else rank for place, rank in enumerate(EVEN)]
    assert verdict(tmp_path, "no_regression(grep, hit@k, 0.02)", run(refused), run(EVEN)).status == "failed"


@pytest.mark.parametrize("gate", ["no_regression(grep, hit@k, 0.02)", "lost(grep, hit@k) <= 0"])
def test_an_arm_that_only_errs_is_undecidable(tmp_path: Path, gate: str) -> None:
    whole, broken = run(EVEN), run([FAULT] * 100)
    found = verdict(tmp_path, gate, broken, whole)
    assert (found.status, found.fails, found.reason) == ("undecidable", True, "all 100 samples are errors")
    assert f"{gate}: all 100 samples are errors (n " in str(found)
    fits(found.record())
    found = verdict(tmp_path, gate, whole, broken)
    assert (found.status, found.reason) == ("undecidable", "baseline: all 100 samples are errors")


def test_what_is_absent_on_an_error_is_no_smaller_sample(tmp_path: Path) -> None:
    def told(*, error: str = "") -> Report:
        details = [sample(row, error if error and row < 40 else 1) for row in range(100)]
        for found in details:
            if "error" not in found["arms"]["grep"]:
                found["metrics"]["grep"]["cb_file_coverage"] = 1.0
        return made(details)

    for gate in ("no_regression(grep, cb_file_coverage, 0.1)", "grep: cb_file_coverage >= baseline"):
        assert verdict(tmp_path, gate, told(), told()).status == "passed"
        for error in (FAULT, REFUSAL):
            found = verdict(tmp_path, gate, told(error=error), told())
            assert (found.status, found.reason) == ("undecided", "40 samples with an error decide"), gate


def test_a_missing_baseline_excuses_no_lost_sample() -> None:
    loss = {"of": 10, "chosen": 10, "lost": []}
    report, rules = run([1] * 9, selection=loss), typed_rules(["no_regression(grep, hit@k, 0.1)"])
    comparing = Comparing(text="main", missing_passes=True)
    (found,) = judge(report.head, rules, details=report.details, comparing=comparing)
    assert (found.status, found.fails, found.reason) == (
        "undecidable",
        True,
        "1 of 10 chosen samples were lost; run those again",
    )
    (found,) = judge(run([1] * 9).head, rules, details=report.details, comparing=comparing)
    assert (found.status, found.fails) == ("undecidable", False)


def test_lost_queries_are_named_with_their_ranks(tmp_path: Path) -> None:
    found = verdict(tmp_path, "lost(grep, hit@3) <= 0", run([1, 0, 5, 3, 1]), run([1, 2, 3, 4, 0]))
    assert str(found).startswith(
        "FAILED lost(grep, hit@3) <= 0: got 2 (n 5, unit sample, on 5 of 5, baseline"
    )
    assert [
        {name: lost.get(name) for name in ("id", "before", "now")} for lost in fits(found.record())["lost"]
    ] == [{"id": "s1", "before": 2, "now": None}, {"id": "s2", "before": 3, "now": 5}]
    assert list(further_lines(found.record())) == [
        "lost: acme/r1 s1: rank 2 before, now not found",
        "lost: acme/r2 s2: rank 3 before, now rank 5",
    ]


def test_a_terminal_names_some_of_many_that_were_lost(tmp_path: Path) -> None:
    found = verdict(tmp_path, "lost(grep, hit@k) <= 3", run([0] * 30), run([1] * 30))
    lines = list(further_lines(found.record()))
    assert len(lines) == 21
    assert lines[-1] == "lost: 10 more, in the report"


@pytest.mark.parametrize(
    ("new", "old", "text", "status"),
    [
        ([1, 0], [1, 0], "lost(grep, hit@5) <= 0", "passed"),
        ([FAULT, 1], [1, 1], "lost(grep, hit@5) <= 0", "undecided"),
        ([FAULT, 1], [0, 1], "lost(grep, hit@5) <= 0", "passed"),
        ([0, 1], [FAULT, 1], "lost(grep, hit@5) <= 0", "undecided"),
        ([0, FAULT, 1], [1, 1, 1], "lost(grep, hit@5) <= 0", "failed"),
        ([REFUSAL, 1], [1, 1], "lost(grep, hit@5) <= 0", "failed"),
        ([0, 1], [1, 1], "lost(grep @ repo:acme/r1, hit@5) <= 0", "passed"),
        ([0, 1], [1, 1], "lost(grep @ repo:none, hit@5) <= 0", "undecidable"),
    ],
)
def test_what_is_lost(tmp_path: Path, new: list[Any], old: list[Any], text: str, status: str) -> None:
    assert verdict(tmp_path, text, run(new), run(old)).status == status


def test_flips_of_an_arm_that_is_not_deterministic_fail_nothing(tmp_path: Path) -> None:
    new, old = run([0, 1]), run([1, 1])
    new.head["arms"]["grep"]["capabilities"] = {"deterministic": False}
    found = verdict(tmp_path, "lost(grep, hit@5) <= 0", new, old)
    assert (found.status, found.fails) == ("undecided", False)
    assert "does not declare that it answers the same twice" in str(found)


def test_a_choice_is_compared_on_itself(tmp_path: Path) -> None:
    found = verdict(tmp_path, "grep: hit@k >= baseline", run([1, 1, 0, 0], of=100), run(EVEN))
    assert (found.status, found.record()["baseline"]["got"]) == ("passed", 0.5)
    assert str(found).endswith(", 4 of its 100 samples)")
    assert "on 4 of 100" in str(found)


def test_the_overlap_is_compared_and_said(tmp_path: Path) -> None:
    new = made([sample(row, 1) for row in range(5, 100)])
    found = verdict(tmp_path, "grep: hit@k >= baseline", new, run(EVEN), overlap=0.9)
    assert found.status == "passed"
    assert str(found).endswith(", 95 of its 100 samples)")
    grown = verdict(tmp_path, "grep: hit@k >= baseline", run([1] * 104), run(EVEN), overlap=0.9)
    assert str(grown).endswith(", 100 samples in common)")


def test_samples_of_an_edited_file_are_the_same_where_their_facts_are(tmp_path: Path) -> None:
    edited = made(
        [sample(row, 1, source=OTHER_SOURCE) for row in range(9)]
        + [sample(9, 1, source=OTHER_SOURCE, gold=["b.c"])]
    )
    found = verdict(tmp_path, "grep: hit@k >= baseline", edited, run([1] * 10), overlap=0.9)
    assert found.record()["baseline"]["common"] == 9


def test_another_question_of_the_same_length_is_another_sample(tmp_path: Path) -> None:
    one, two = "ab" * 32, "cd" * 32
    before = made([sample(row, 1, query_sha256=one) for row in range(10)])
    edited = made(
        [sample(row, 1, source=OTHER_SOURCE, query_sha256=two if row < 1 else one) for row in range(10)]
    )
    found = verdict(tmp_path, "grep: hit@k >= baseline", edited, before, overlap=0.9)
    assert found.record()["baseline"]["common"] == 9
    # A report of before the digest was kept is compared by what it has.
    found = verdict(tmp_path, "grep: hit@k >= baseline", edited, run([1] * 10), overlap=0.9)
    assert found.record()["baseline"]["common"] == 10


@pytest.mark.parametrize(
    ("new", "old", "overlap", "why"),
    [
        (
            run([1] * 5),
            run([1] * 4),
            None,
            "it lacks 1 of 5 samples as they are here (first 's4'); --retrieval-baseline-overlap 0.9",
        ),
        (run([1] * 5), run([1] * 4), 0.9, "4 of 5 samples are common, less than the share of 0.9"),
        (run([1] * 4), run([1] * 9), 0.5, "4 of 9 samples are common"),
        (run([1]), run([1], limit=10), None, "its limit is 10, here 20; not comparable"),
        (run([1]), run([1], protocol="arb"), None, "its protocol is arb, here house; not comparable"),
        (run([1], **trees("a")), run([1], **trees("b")), None, "the snapshot acme/r0@0000"),
        (
            run([1]),
            run([1], sources=[{"path": "s.jsonl", "sha256": "ab" * 32, "rows": 1, "kept": 1}]),
            None,
            "it is not over other.jsonl as that is now; --retrieval-baseline-overlap 0.9",
        ),
        (made([sample(0, 1, label="rg")]), run([1]), None, "has no arm rg"),
    ],
    ids=["samples", "overlap", "both sides", "limit", "protocol", "trees", "files", "arm"],
)
def test_what_is_not_comparable_is_undecidable(
    tmp_path: Path, new: Any, old: Any, overlap: float | None, why: str
) -> None:
    (label,) = new.head["arms"]
    found = verdict(tmp_path, f"no_regression({label}, hit@k, 0.02)", new, old, overlap=overlap)
    assert (found.status, found.fails) == ("undecidable", True)
    assert found.reason is not None
    assert found.reason.startswith("baseline old.json")
    assert why in found.reason
    assert "\n" not in found.reason
    fits(found.record())
