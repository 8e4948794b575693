"""What a terminal shows of a report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_retrieval.report.build import build
from pytest_retrieval.report.pieces import Line, plain
from pytest_retrieval.report.table import render
from tests.report.samples import COMMIT, SOURCE, answer, detail, header, no_gold, positive


def measures(recall: float, hit: float) -> dict[str, float]:
    return positive(
        recall, hit, **{"recall@10": recall, "recall@20": hit, "mrr@k": hit / 2, "hard_negative_hits@k": 0.0}
    )


def report(details: list[dict[str, Any]], *labels: str, **fields: Any) -> Mapping[str, Any]:
    fields.setdefault("selection", {"of": len(details), "chosen": len(details), "lost": []})
    return build(header(*labels, **fields), details).head


def texts(lines: list[Line]) -> list[str]:
    return [plain(line).rstrip() for line in lines]


def two_arms() -> list[dict[str, Any]]:
    """Forty positives: ``grep`` hits every fourth, ``bm25:all`` every second; the times are 1 to 40 ms."""
    return [
        detail(
            row,
            {
                "grep": (answer(wall_ms=row + 1.0), measures(0.25, float(row % 4 == 0))),
                "bm25:all": (answer(wall_ms=(row + 1) * 100.0), measures(0.5, float(row % 2 == 0))),
            },
            ceiling={"recall@5": 0.9, "recall@10": 1.0, "recall@20": 1.0, "hit@k": 1.0},
        )
        for row in range(40)
    ]


def test_the_table() -> None:
    # Wilson's intervals of 10 and of 20 in 40, by scipy: 0.141872-0.401944 and 0.351994-0.648006
    lines = texts(render(report(two_arms(), "grep", "bm25:all"), 80, "out/r.json"))
    assert [*lines[:5], *lines[-2:]] == [
        "arm         n    R@5   R@10   R@20    MRR  hit@20 (95% CI)   abst  err     p50",
        "grep       40  0.250  0.250  0.250  0.125  0.250 .142-.402  0.000    0  20.0ms",
        "bm25:all   40  0.500  0.500  0.500  0.250  0.500 .352-.648  0.000    0    2.0s",
        "(ceiling)  40  0.900  1.000  1.000      -  1.000                -    -       -",
        "",
        "samples: 40 chosen, 40 with gold",
        "report: out/r.json",
    ]


def test_room_for_whole_intervals_and_more_columns() -> None:
    titles, grep, *_ = texts(render(report(two_arms(), "grep", "bm25:all"), 120))
    assert titles.split() == [
        "arm", "n", "R@5", "R@10", "R@20", "MRR", "hit@20", "(95%", "CI)", "answered", "selective", "(95%",
        "CI)", "abst", "err", "p50",
    ]  # fmt: skip
    assert "0.250 [0.142, 0.402]" in grep


def test_the_best_of_a_column_is_bold_and_errors_are_marked() -> None:
    details = [
        detail(0, {"a": (answer(), measures(1.0, 1.0)), "b": (answer(error="boom"), measures(0.0, 0.0))})
    ]
    titles, a, b, ceiling, *_ = render(report(details, "a", "b"), 80)
    assert next(piece.text for piece in a if piece.role == "bold") == "1.000"
    assert [piece.text for piece in b if piece.role == "bold"] == []
    assert [piece.text for piece in b if piece.role == "bad"] == ["1"]
    assert {piece.role for piece in titles} == {"bold"}
    assert {piece.role for piece in ceiling} == {"dim"}


def test_equal_arms_have_no_best() -> None:
    details = [detail(0, {label: (answer(), measures(1.0, 1.0)) for label in "ab"})]
    lines = render(report(details, "a", "b"), 80)
    assert all(piece.role != "bold" for line in lines[1:4] for piece in line)


def test_where_no_sample_has_gold_silence_is_judged() -> None:
    # Wilson's interval of 1 in 1, by scipy: 0.206543-1
    details = [detail(0, {"a": (answer(wall_ms=1.0), no_gold(1.0))}, stratum="natural_no_gold", gold=[])]
    titles, row, ceiling, *_ = texts(render(report(details, "a"), 80))
    assert titles.split() == ["arm", "n", "selective", "(95%", "CI)", "abst", "err", "p50"]
    assert row.split() == ["a", "1", "1.000", ".207-1.00", "1.000", "0", "-"]
    assert ceiling.split() == ["(ceiling)", "0", "-", "-", "-", "-"]


def test_what_was_not_measured_is_a_dash() -> None:
    details = [
        detail(0, {"a": (answer(wall_ms=1.0), {"abstained": 1.0}), "b": (answer(), measures(1.0, 1.0))})
    ]
    assert texts(render(report(details, "a", "b"), 80))[1].split() == [
        "a", "1", "-", "-", "-", "-", "-", "1.000", "0", "-",
    ]  # fmt: skip


def test_cuts_beyond_the_limit_have_no_column() -> None:
    titles = texts(render(report([], "a", limit=10), 80))[0]
    assert "R@10" in titles
    assert "R@20" not in titles
    assert "hit@10" in titles


def test_what_was_skipped_lost_absent_and_in_error() -> None:
    lost = [{"source": SOURCE, "id": "s9", "ordinal": 0, "why": "worker gw1 died"}]
    reasons = ["no changed_file in query"] * 2 + ["timed out\x1b[31m\nafter 120 s"]
    details = [
        detail(row, {"a": (answer(error=why, **({"refused": True} if row < 2 else {})), measures(0.0, 0.0))})
        for row, why in enumerate(reasons)
    ]
    snapshots = {f"acme/ring@{COMMIT}": {"cut": 3}}
    details[0].update(gold_absent=["x", "y"], gold_cut=["z"])
    head = report(
        details,
        "a",
        skipped={"no_gold_unlabeled": 3},
        selection={"of": 9, "chosen": 4, "lost": lost},
        snapshots=snapshots,
    )
    assert texts(render(head, 200))[4:] == [
        "samples: 4 of 9 chosen, 3 with gold",
        "skipped: 3 (no_gold_unlabeled: 3)",
        "gold files: 2 absent from the snapshot (see the ceiling), 1 cut by the view",
        "errors: a: 3, 2 of them refusals"
        r" (no changed_file in query: 2; timed out\x1b[31m\nafter 120 s: 1)",
        "lost: 1 of 4: s9 (worker gw1 died)",
    ]


def test_no_skipped_row_is_no_line() -> None:
    assert not any("skipped" in line for line in texts(render(report([], "a", skipped={"no_gold": 0}), 80)))


def test_losses_without_names_are_counted() -> None:
    head = report([], "a", selection={"of": 9, "chosen": 4, "lost": []})
    assert "lost: 4 of 4" in texts(render(head, 80))


@pytest.mark.parametrize(
    ("status", "role"), [("passed", "good"), ("failed", "bad"), ("undecidable", "bad"), ("undecided", "bold")]
)
def test_verdicts(status: str, role: str) -> None:
    record = {"gate": "a: errors == 0", "status": status, "expected": "== 0", "got": 2.0}
    head = {**report([], "a"), "gates": [{**record, "n": 4, "chosen": 4, "of": 9}]}
    (line,) = [line for line in render(head, 80) if plain(line).startswith("gate ")]
    assert plain(line) == f"gate {status.upper()} a: errors == 0: got 2 (n 4, on 4 of 9)"
    assert line[1] == (status.upper(), role)


LABELS = st.lists(
    st.from_regex(r"[A-Za-z0-9_.+:-]{1,60}", fullmatch=True), min_size=1, max_size=6, unique=True
)


@given(
    labels=LABELS,
    width=st.integers(80, 200),
    n=st.integers(0, 3),
    high=st.floats(0, 1),
    wall=st.floats(0, 1e7),
)
def test_the_table_fits(labels: list[str], width: int, n: int, high: float, wall: float) -> None:
    details = [
        detail(row, {label: (answer(wall_ms=wall), measures(high, 1.0)) for label in labels})
        for row in range(n)
    ]
    head = report(details, *labels, selection={"of": 99999, "chosen": n, "lost": []})
    lines = render(head, width)
    table = [plain(line) for line in lines[: len(labels) + 2]]
    assert {len(line) for line in table} == {len(table[0])}
    assert len(table[0]) <= width
    if all(len(label) <= 10 for label in labels):
        for title in ("R@5", "R@10", "R@20", "MRR", "hit@20", "abst", "err", "p50"):
            assert title in table[0]


def test_samples_of_arms_that_were_not_asked_the_same_are_all_counted() -> None:
    ceiling = {"hit@k": 1.0}
    asked = ["a"] * 2 + ["b"] * 3
    details = [
        detail(row, {label: (answer(), measures(1.0, 1.0))}, ceiling=ceiling)
        for row, label in enumerate(asked)
    ]
    assert "samples: 5 chosen, 5 with gold" in texts(render(report(details, "a", "b"), 80))
    unread = [{**one, "ceiling": {}} for one in details[:2]]
    assert "samples: 2 chosen, 2 with gold" in texts(render(report(unread, "a"), 80))


@pytest.mark.parametrize("width", [1, 10, 20, 40, 60])
def test_little_room_costs_columns_and_never_fails(width: int) -> None:
    lines = texts(render(report(two_arms(), "grep", "bm25:all"), width))
    assert lines[4] == ""
    if width >= 10:
        assert all(len(line) <= width for line in lines[:4])


def test_long_labels_are_shortened_so_that_they_fit() -> None:
    label = "my-engine:with-a-very-long-name"
    details = [detail(0, {label: (answer(), measures(1.0, 1.0))})]
    row = texts(render(report(details, label), 80))[1]
    assert row.startswith("my-engine:wi")
    assert "…  " in row


def test_labels_of_two_versions_can_be_told_apart() -> None:
    labels = ["code-index-mcp-v1", "code-index-mcp-v2"]
    details = [detail(0, {label: (answer(), measures(1.0, 1.0)) for label in labels})]
    assert [row.split()[0] for row in texts(render(report(details, *labels), 80))[1:3]] == [
        "code-in…-mcp-v1",
        "code-in…-mcp-v2",
    ]
    # Both ends are alike: a recall gives way until they differ.
    labels = ["code-index-of-mine-a-server-one", "code-index-of-mine-b-server-one"]
    details = [detail(0, {label: (answer(), measures(1.0, 1.0)) for label in labels})]
    head, *rows = texts(render(report(details, *labels), 80))[:3]
    assert head.split()[:5] == ["arm", "n", "R@5", "R@10", "MRR"]
    assert [row.split()[0] for row in rows] == ["code-index-of-mine-a-…", "code-index-of-mine-b-…"]


def test_a_narrow_terminal_keeps_the_errors() -> None:
    lines = texts(render(report(two_arms(), "grep", "bm25:all"), 60))
    assert lines[0] == "arm         n   R@10    MRR  hit@20 (95% CI)   abst  err"


def test_measures_that_do_not_fit_beside_the_others_follow_them() -> None:
    asked = ["ndcg@10", "ap@k", "rprec@k", "p@5", "f05@5", "full@5", "hit@5"]
    figures = {**measures(0.5, 1.0), **dict.fromkeys(asked, 0.125)}
    details = [detail(0, {"grep": (answer(), figures)})]
    lines = texts(render(report(details, "grep", measures=asked), 80))
    assert lines[:7] == [
        "arm        n    R@5   R@10   R@20    MRR  hit@20 (95% CI)   abst  err  p50",
        "grep       1  0.500  0.500  1.000  0.500  1.000 .207-1.00  0.000    0    -",
        "(ceiling)  0      -      -      -      -                -      -    -    -",
        "",
        "arm        ndcg@10  ap@20  rprec@20    p@5  f05@5  full@5  hit@5",
        "grep         0.125  0.125     0.125  0.125  0.125   0.125  0.125",
        "",
    ]


def test_what_every_arm_says_is_said_once() -> None:
    lines = texts(
        render(
            report(
                [
                    detail(
                        0,
                        {
                            "a": (answer(error="snapshot: gone"), measures(0.0, 0.0)),
                            "b": (answer(error="snapshot: gone"), measures(0.0, 0.0)),
                            "c": (answer(error="boom"), measures(0.0, 0.0)),
                        },
                    )
                ],
                "a",
                "b",
                "c",
            ),
            80,
        )
    )
    assert [line for line in lines if line.startswith("errors")] == [
        "errors: a, b: 1 (snapshot: gone: 1)",
        "errors: c: 1 (boom: 1)",
    ]


def test_a_report_without_arms_can_be_shown() -> None:
    assert texts(render(report([]), 80))[-1] == "samples: 0 chosen, 0 with gold"
