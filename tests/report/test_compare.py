"""Two reports side by side: worked out by hand from ranks."""

from __future__ import annotations

from html import unescape
from pathlib import Path
from typing import Any

import pytest

from pytest_retrieval.errors import UsageError
from pytest_retrieval.report.compare import Comparison, compare_reports
from pytest_retrieval.report.compare_table import compare_lines, markdown
from pytest_retrieval.report.judged import read_judged
from pytest_retrieval.report.pieces import plain
from tests.gates.reports import FAULT, made, run, sample, trees, written

BEFORE = [1, 2, 0, 4, 1, 1]
AFTER: list[int | str] = [1, 0, 1, 5, FAULT, 1]


def compared(folder: Path, old: Any = None, new: Any = None, **options: Any) -> Comparison:
    paths = (
        written(folder, old or run(BEFORE), "old.json"),
        written(folder, new or run(AFTER), "new.json"),
    )
    return compare_reports(*map(read_judged, paths), **options)


def test_means_differences_and_counts(tmp_path: Path) -> None:
    (arm,) = compared(tmp_path, measures=["hit@k", "mrr@k"]).arms
    hit, mrr = (row for row in arm.rows if row.group == "all")
    # Hits 1 1 0 1 1 1 become 1 0 1 1 0 1: one won, two lost.
    assert (hit.old, hit.new, hit.difference["mean"]) == (0.833333, 0.666667, -0.166667)
    assert [hit.difference[name] for name in ("wins", "losses", "ties")] == [1, 2, 3]
    # 1 1/2 0 1/4 1 1 become 1 0 1 1/5 0 1
    assert (mrr.old, mrr.new) == (0.625, 0.533333)
    assert (hit.difference["unit"], hit.difference["units"]) == ("repository", 6)


def test_the_samples_that_moved_most_come_first(tmp_path: Path) -> None:
    (arm,) = compared(tmp_path, moved=3).arms
    assert arm.changed == 4
    assert [(moved.id, moved.before, moved.now) for moved in arm.moved] == [
        ("s2", 0, 1),
        ("s4", 1, -1),
        ("s1", 2, 0),
    ]


def test_groups_that_are_all_samples_again_are_left_out(tmp_path: Path) -> None:
    assert {row.group for row in compared(tmp_path).arms[0].rows} == {"all"}
    old = made([sample(row, 1, partition="A" if row else "B") for row in range(3)])
    new = made([sample(row, 2, partition="A" if row else "B") for row in range(3)])
    assert {row.group for row in compared(tmp_path, old, new).arms[0].rows} == {"all", "fold:A", "fold:B"}


@pytest.mark.parametrize(
    ("limit", "shown"),
    [
        (4, ["mrr@k", "hit@k"]),
        (7, ["recall@5", "mrr@k", "hit@k"]),
        (20, ["recall@10", "mrr@k", "hit@k"]),
    ],
)
def test_recall_is_shown_at_a_cut_that_rankings_have(tmp_path: Path, limit: int, shown: list[str]) -> None:
    found = compared(tmp_path, run([1, 2, 3], limit=limit), run([2, 2, 3], limit=limit))
    assert [row.measure for row in found.arms[0].rows] == shown


def test_what_an_arm_was_not_asked_has_not_moved(tmp_path: Path) -> None:
    part = made([sample(row, 2, label="grep" if row < 3 else "rg") for row in range(6)])
    for old, new in ((run([1] * 6), part), (part, run([1] * 6))):
        (arm,) = compared(tmp_path, old, new).arms
        assert (arm.new, [moved.id for moved in arm.moved]) == ("grep", ["s0", "s1", "s2"])


def test_only_common_samples_count(tmp_path: Path) -> None:
    found = compared(tmp_path, run([1, 1, 1]), made([sample(row, 1) for row in (2, 3)]))
    assert (found.common, found.only_old, found.only_new) == (1, 2, 1)
    assert "compared on 1 common sample, 2 only in the old, 1 only in the new" in texts(found)


def test_arms_are_matched_by_label_or_as_told(tmp_path: Path) -> None:
    old = made([sample(0, 1, label="rg")])
    with pytest.raises(UsageError, match="have no arm in common; match two with --arm OLD=NEW"):
        compared(tmp_path, old, run([1]))
    (arm,) = compared(tmp_path, old, run([2]), renamed={"rg": "grep"}).arms
    assert (arm.old, arm.new) == ("rg", "grep")
    with pytest.raises(UsageError, match="no arm 'gr'; did you mean 'rg'"):
        compared(tmp_path, old, run([1]), renamed={"gr": "grep"})


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"limit": 10}, "its limit is 10, here 20"),
        ({"protocol": "arb"}, "its protocol is arb, here house"),
        (trees("b"), "the snapshot acme/r0@0000"),
    ],
)
def test_what_is_not_comparable(tmp_path: Path, fields: dict[str, Any], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        compared(tmp_path, run(BEFORE, **fields), run(AFTER, **trees("a")))


def texts(found: Comparison, width: int = 100) -> list[str]:
    return [plain(line) for line in compare_lines(found, width)]


def test_a_terminal(tmp_path: Path) -> None:
    found = compared(tmp_path, measures=["hit@k"], moved=1)
    row = next(line for line in texts(found) if line.startswith("all"))
    figures = found.arms[0].rows[0].difference
    assert row.split() == [
        "all", "hit@k", "6", "0.833", "0.667",
        "-0.167", f"[{figures['low']:+.3f},", f"{figures['high']:+.3f}]", "1/2/3",
    ]  # fmt: skip
    assert texts(found)[3:5] == ["", "grep, intervals over 6 repositories"]
    assert texts(found)[-2:] == [
        "  4 samples moved, the 1 that moved most:",
        "  acme/r2 s2: not found -> rank 1",
    ]
    assert all(len(line) <= 80 for line in texts(found, 80) if str(tmp_path) not in line)


def test_an_arm_of_which_nothing_moved_is_one_line(tmp_path: Path) -> None:
    found = compared(tmp_path, run(BEFORE), run(BEFORE, of=7))
    assert texts(found)[-1] == "grep: no sample moved"


@pytest.mark.parametrize(("samples", "shown", "role"), [(5, "all equal  ", ""), (6, "all equal*", "bad")])
def test_equal_losses_are_marked_where_the_randomisation_test_tells_them(
    tmp_path: Path, samples: int, shown: str, role: str
) -> None:
    # Signs of five units give no smaller p than 2 / 2**5 = 0.0625, those of six 0.03125.
    found = compared(tmp_path, run([1] * samples), run([0] * samples), measures=["hit@k"])
    (row,) = [line for line in compare_lines(found, 100) if plain(line).startswith("all")]
    assert f"-1.000 {shown}" in plain(row)
    assert row[0].role == role


def test_markdown_shows_names_as_text(tmp_path: Path) -> None:
    name = "<b>|![x](http://example.org/x.png) @octocat {}"
    old = made([sample(row, 1, id=name.format(row), repo="a_b/`c`") for row in range(6)])
    new = made([sample(row, 0, id=name.format(row), repo="a_b/`c`") for row in range(6)])
    lines = list(markdown(compared(tmp_path, old, new, measures=["hit@k"])))
    assert "| all | hit@k | 6 | 1.000 | 0.000 | -1.000 all equal \\* | 0 / 6 / 0 |" in lines
    moved = next(line for line in lines if "octocat 0" in line)
    shown = moved.removeprefix("- <code>").removesuffix("</code>: rank 1 -> not found")
    assert not set("<>|![]@`_*") & set(shown)  # no image is fetched, nobody is called
    assert unescape(shown) == f"a_b/`c` {name.format(0)}"
    assert lines[-1] == "\\* zero is outside the interval"
