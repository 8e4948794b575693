"""Built reports against figures worked out by hand."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_retrieval.errors import ReportError
from pytest_retrieval.report import schema
from pytest_retrieval.report.build import build
from pytest_retrieval.report.identity import strip_times
from tests.report.samples import (
    COMMIT,
    OTHER_SOURCE,
    SOURCE,
    answer,
    detail,
    header,
    no_gold,
    positive,
)

ZEROS = positive(0.0, 0.0)


def whole(head: dict[str, Any], details: list[dict[str, Any]]) -> dict[str, Any]:
    """The report as a reader gets it; every one is held against the schema."""
    report: dict[str, Any] = json.loads(b"".join(build(head, details).chunks()))
    jsonschema.Draft202012Validator(schema()).validate(report)
    return report


def three_samples() -> list[dict[str, Any]]:
    """Two positives in two repositories, the second a fault of ``b``, and one sample without gold."""
    return [
        detail(
            0,
            {"a": (answer(wall_ms=2.0), positive(1.0, 1.0)), "b": (answer(), positive(0.5, 1.0))},
            ceiling={"recall@5": 1.0, "hit@k": 1.0},
        ),
        detail(
            1,
            {"a": (answer(), positive(0.0, 0.0)), "b": (answer(error="timed out"), ZEROS)},
            repo="acme/bell",
            partition="A",
            status="fault",
            gold=["a.c", "gone.c"],
            gold_absent=["gone.c"],
            gold_cut=["a.c"],
            ceiling={"recall@5": 0.5, "hit@k": 1.0},
        ),
        detail(
            2,
            {
                "a": (answer(abstained=True), no_gold(1.0)),
                "b": (answer(error="no changed_file in query", refused=True), no_gold(0.0)),
            },
            stratum="natural_no_gold",
            task_type="abstention",
            gold=[],
        ),
    ]


def test_an_arm_over_all() -> None:
    group = whole(header("a", "b", of=5, chosen=3), three_samples())["arms"]["a"]["groups"]["all"]
    assert group == {
        "n": 3,
        "positives": 2,
        "errors": 0,
        "refused": 0,
        "error_reasons": {},
        "recall@5": 0.5,
        "hit@k": 0.5,
        "abstained": 0.333333,
        "selective_success": 0.666667,
        # scipy.stats.binomtest(1, 2) and (2, 3), proportion_ci(method="wilson")
        "intervals": {
            "hit@k": {"successes": 1, "n": 2, "low": 0.094531, "high": 0.905469},
            "selective_success": {"successes": 2, "n": 3, "low": 0.207660, "high": 0.938508},
        },
        "answered": {
            "n": 3,
            "positives": 2,
            "recall@5": 0.5,
            "hit@k": 0.5,
            "abstained": 0.333333,
            "selective_success": 0.666667,
        },
        "common": {
            "n": 1,
            "positives": 1,
            "recall@5": 1,
            "hit@k": 1,
            "abstained": 0,
            "selective_success": 1,
        },
        # acme/ring: abstained (0 + 1) / 2, selective (1 + 1) / 2; acme/bell: 0 and 0
        "macro": {
            "repositories": 2,
            "recall@5": 0.5,
            "hit@k": 0.5,
            "abstained": 0.25,
            "selective_success": 0.5,
        },
    }


def test_errors_score_zero_and_answered_leaves_them_out() -> None:
    group = whole(header("a", "b"), three_samples())["arms"]["b"]["groups"]["all"]
    assert (group["n"], group["positives"], group["errors"], group["refused"]) == (3, 2, 2, 1)
    assert group["error_reasons"] == {"no changed_file in query": 1, "timed out": 1}
    assert (group["recall@5"], group["answered"]["recall@5"]) == (0.25, 0.5)
    assert (group["answered"]["n"], group["answered"]["positives"]) == (1, 1)
    assert group["common"] == group["answered"]


def test_groups_by_task_stratum_and_fold() -> None:
    groups = whole(header("a", "b"), three_samples())["arms"]["a"]["groups"]
    assert {name: group["n"] for name, group in groups.items()} == {
        "all": 3,
        "fold:A": 1,
        "fold:unassigned": 2,
        "stratum:natural_no_gold": 1,
        "stratum:positive": 2,
        "task:abstention": 1,
        "task:code2test": 2,
    }
    abstention = groups["task:abstention"]
    assert abstention["intervals"]["hit@k"] == {"successes": 0, "n": 0}
    assert "hit@k" not in abstention
    assert "error_reasons" not in abstention
    assert abstention["abstained"] == 1


def test_cases_72_and_73_samples_with_anchors_are_a_group() -> None:
    plain = detail(0, {"a": (answer(), positive(0.0, 0.0))})
    flagged = detail(1, {"a": (answer(), positive(1.0, 1.0))}, anchor_bearing=True, anchors={"config": 1})
    report = whole(header("a"), [plain, flagged])
    groups = report["arms"]["a"]["groups"]
    assert (groups["all"]["n"], groups["stratum:anchor-bearing"]["n"]) == (2, 1)
    assert groups["stratum:anchor-bearing"]["recall@5"] == 1
    assert [found.get("anchor_bearing") for found in report["details"]] == [None, True]
    assert "stratum:anchor-bearing" not in whole(header("a"), [plain])["arms"]["a"]["groups"]


def test_weakness_17_samples_with_an_anchor_that_stands_alone_are_a_group_of_their_own() -> None:
    loose = detail(0, {"a": (answer(), positive(0.0, 0.0))}, anchor_bearing=True, anchors={"config": 2})
    both = {"anchor_bearing": True, "anchors": {"config": 2}, "anchors_strict": {"config": 1}}
    strict = detail(1, {"a": (answer(), positive(1.0, 1.0))}, **both)
    groups = whole(header("a"), [loose, strict])["arms"]["a"]["groups"]
    assert groups["stratum:anchor-bearing"]["n"] == 2
    assert groups["stratum:anchor-bearing-strict"]["n"] == 1
    assert groups["stratum:anchor-bearing-strict"]["recall@5"] == 1
    assert "stratum:anchor-bearing-strict" not in whole(header("a"), [loose])["arms"]["a"]["groups"]


def test_ceiling_and_unreached_gold() -> None:
    snapshots = {f"acme/ring@{COMMIT}": {"source": "chunks", "view": "arb", "files": 3, "cut": 1}}
    report = whole(header("a", "b", snapshots=snapshots), three_samples())
    assert report["ceiling"]["all"] == {"n": 2, "recall@5": 0.75, "hit@k": 1}
    assert report["ceiling"]["task:abstention"] == {"n": 0}
    assert report["snapshots"] == {
        f"acme/ring@{COMMIT}": {
            "source": "chunks", "view": "arb", "files": 3, "cut": 1, "gold_absent": 0, "gold_cut": 0,
        },
        f"acme/bell@{COMMIT}": {"gold_absent": 1, "gold_cut": 1},
    }  # fmt: skip


def test_a_report_of_nothing() -> None:
    report = whole(header("a"), [])
    group = report["arms"]["a"]["groups"]["all"]
    assert (group["n"], group["positives"], group["errors"]) == (0, 0, 0)
    assert group["macro"] == {"repositories": 0}
    assert report["details"] == []
    assert report["latency"] == {"a": {}}


def test_an_arm_whose_every_sample_is_an_error() -> None:
    rows = [detail(n, {"a": (answer(error="crash"), ZEROS)}, status="fault") for n in range(4)]
    group = whole(header("a"), rows)["arms"]["a"]["groups"]["all"]
    assert (group["n"], group["errors"], group["hit@k"]) == (4, 4, 0)
    assert group["answered"] == {"n": 0, "positives": 0}
    assert group["intervals"]["hit@k"]["low"] == 0


def test_an_arm_that_was_not_asked_is_not_counted() -> None:
    rows = [
        detail(0, {"a": (answer(), positive(1.0, 1.0))}),
        detail(1, {label: (answer(), positive(0.5, 1.0)) for label in "ab"}),
    ]
    arms = whole(header("a", "b"), rows)["arms"]
    assert arms["b"]["groups"]["all"]["n"] == 1
    assert arms["a"]["groups"]["all"]["common"]["n"] == 1


def test_latency_is_per_cache_label_from_thirty_times_on() -> None:
    rows = [
        detail(n, {"a": (answer(wall_ms=float(n + 1), cache_state="COLD_UNIQUE"), ZEROS)}) for n in range(40)
    ]
    rows.append(detail(40, {"a": (answer(wall_ms=1.5), ZEROS)}))
    rows.append(detail(41, {"a": (answer(wall_ms=0.0), ZEROS)}))
    assert whole(header("a"), rows)["latency"]["a"] == {
        "COLD_UNIQUE": {"n": 40, "min_ms": 1, "p50_ms": 20, "p95_ms": 38, "max_ms": 40, "mad_ms": 10},
        "NOT_APPLICABLE": {"n": 1, "state": "NOT_RUN"},
    }


def test_details_follow_the_sources_then_rows_then_ordinals() -> None:
    places = [(OTHER_SOURCE, 0, 0), (SOURCE, 10, 0), (SOURCE, 9, 1), (SOURCE, 9, 0)]
    rows = [detail(row, {}, source=source, ordinal=ordinal) for source, row, ordinal in places]
    details = whole(header("a"), rows)["details"]
    assert [(d["source"], d["row"], d["ordinal"]) for d in details] == places[::-1]


def test_crashed_samples_are_lost_and_an_answer_beats_a_loss() -> None:
    lost = [
        {"source": SOURCE, "id": "s7", "ordinal": 0, "why": "interrupted"},
        {"source": SOURCE, "id": "s0", "ordinal": 0, "why": "worker gw0 died"},
        {"source": SOURCE, "id": "s1", "ordinal": 0, "why": "worker gw1 died"},
    ]
    rows = [
        detail(0, {"a": (answer(), ZEROS)}),
        detail(1, {"a": (answer(error="worker gw1 died"), ZEROS)}, status="crashed"),
        detail(2, {"a": (answer(error="worker gw2 died"), ZEROS)}, status="crashed"),
    ]
    head = header("a", selection={"of": 9, "chosen": 4, "lost": lost})
    assert whole(head, rows)["selection"] == {
        "of": 9,
        "chosen": 4,
        "judged": 1,
        "lost": [lost[2], {"source": SOURCE, "id": "s2", "ordinal": 0, "why": "crashed"}, lost[0]],
    }


@pytest.mark.parametrize(
    ("head", "rows", "why"),
    [
        (header("a"), [detail(0, {}), detail(0, {})], "comes twice"),
        (header("a"), [detail(0, {"b": (answer(), ZEROS)})], "the arm 'b'"),
        (header("a"), [detail(0, {}, source="ef" * 32)], "samples file that the report does not list"),
        (header("a"), [detail(0, {"a": (answer(top_score=float("nan")), ZEROS)})], "finite numbers only"),
        ({**header("a"), "sauces": []}, [], "has no sauces"),
        ({"arms": {}, "limit": 20}, [], "needs selection, sources"),
    ],
)
def test_what_cannot_be_reported_is_refused(
    head: dict[str, Any], rows: list[dict[str, Any]], why: str
) -> None:
    with pytest.raises(ReportError, match=why):
        build(head, rows)


def many_samples() -> list[dict[str, Any]]:
    """Values whose float sums depend on the order of adding, over groups, errors and sources."""
    return [
        detail(
            row,
            {
                "a": (answer(wall_ms=1.0 + row), positive(1 / (row + 3), float(row % 2))),
                "b": (
                    answer(error=f"reason {row % 3}") if row % 4 == 0 else answer(),
                    positive(0.1 * row, 1.0),
                ),
            },
            repo=f"acme/{row % 3}",
            partition="AB"[row % 2],
            source=SOURCE if row % 5 else OTHER_SOURCE,
            ceiling={"recall@5": 1 / (row + 1), "hit@k": 1.0},
            status="crashed" if row == 7 else "measured",
        )
        for row in range(10)
    ]


@settings(max_examples=40)
@given(st.permutations(many_samples()))
def test_any_order_of_arrival_gives_the_same_bytes(rows: list[dict[str, Any]]) -> None:
    head = header("a", "b", of=10, chosen=10)
    assert b"".join(build(head, rows).chunks()) == b"".join(build(head, many_samples()).chunks())


def test_gates_are_added_to_a_built_report() -> None:
    verdict = {"gate": "a: errors == 0", "status": "passed", "expected": "== 0", "got": 0}
    report = build(header("a"), three_samples()[:0]).with_gates([{**verdict, "n": 0, "chosen": 0, "of": 0}])
    assert json.loads(b"".join(report.chunks()))["gates"][0]["status"] == "passed"


def test_stripping_times_leaves_out_the_listed_fields_and_nothing_else() -> None:
    timed = {"wall_ms": 1.0, "build_ms": 2.0, "cache_state": "COLD_UNIQUE"}
    report = whole(
        header("latency", environment={"cores": 2}),
        [detail(0, {"latency": (answer(**timed, state="wall_ms"), ZEROS)})],
    )
    report["registration"] = {"registered_at": "now", "arms": ["latency"]}
    kept = strip_times(report)
    assert set(report) - set(kept) == {"environment", "latency"}
    assert kept["arms"] == report["arms"]
    assert kept["registration"] == {"arms": ["latency"]}
    assert kept["details"][0]["arms"]["latency"] == {"abstained": False, "ranked": [], "state": "wall_ms"}
    assert "wall_ms" in report["details"][0]["arms"]["latency"]


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("surprise",), 1),
        (("limit",), 51),
        (("arms", "a", "groups", "all", "surprise"), 1),
        (("arms", "a", "groups", "all", "recall@5"), 1.5),
        (("arms", "a", "groups", "all", "answered", "errors"), 1),
        (("arms", "a", "groups", "elsewhere"), {}),
        (("details", 0, "surprise"), 1),
        (("details", 0, "metrics", "a", "surprise"), 1),
        (("details", 0, "arms", "a", "refused"), True),
        (("details", 0, "gold"), None),
        (("sources", 0, "sha256"), "AB" * 32),
    ],
)
def test_the_schema_is_strict(place: tuple[Any, ...], value: object) -> None:
    report = whole(header("a", "b"), three_samples())
    inner = report
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    validator = jsonschema.Draft202012Validator(schema())
    assert not validator.is_valid(report)


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())
