"""Where a report may go, and what it may replace."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_retrieval.errors import UsageError
from pytest_retrieval.report.journal import Journal
from pytest_retrieval.report.place import Inputs, check_place, check_replaceable

REPORT = json.dumps({"details": [], "profile": "pytest-retrieval/1"})
ORIGINAL = json.dumps({"profile": "corvint-retrieval-bench/0", "details": []})


def the_file(folder: Path) -> Path:
    return folder / "samples.jsonl"


def dotted(folder: Path) -> Path:
    (folder / "sub").mkdir()
    return folder / "sub" / ".." / "samples.jsonl"


def symbolic_link(folder: Path) -> Path:
    (folder / "r.json").symlink_to("samples.jsonl")
    return folder / "r.json"


def hard_link(folder: Path) -> Path:
    (folder / "r.json").hardlink_to(folder / "samples.jsonl")
    return folder / "r.json"


def below_a_link(folder: Path) -> Path:
    (folder / "link").symlink_to(folder)
    return folder / "link" / "samples.jsonl"


@pytest.mark.parametrize("explicit", [True, False])
@pytest.mark.parametrize("make", [the_file, dotted, symbolic_link, hard_link, below_a_link])
def test_no_input_by_whatever_name(make: Callable[[Path], Path], explicit: bool, tmp_path: Path) -> None:
    (tmp_path / "samples.jsonl").write_text(REPORT)  # what it holds is of no account
    inputs = Inputs([("the samples file", tmp_path / "samples.jsonl")])
    with pytest.raises(UsageError, match=r"^the report .* must not be the samples file .*; name another"):
        check_place(make(tmp_path), inputs, explicit=explicit)


@pytest.mark.parametrize("name", ["r.journal", "r.journal.previous", "r.partial.json"])
def test_nor_may_a_file_beside_the_report_be_one(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("{}\n")
    inputs = Inputs([("the snapshot", tmp_path / name)])
    with pytest.raises(UsageError, match=f"{name} must not be the snapshot"):
        check_place(tmp_path / "r", inputs, explicit=True)


def test_outside_of_folders_that_are_read_or_in_one_that_is_left_out(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    (tree / "deep" / ".retrieval").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tree)
    for place in (
        tree / "r.json",
        tree / "deep" / "r.json",
        tmp_path / "link" / "r.json",
        tree / ".retrieval",
    ):
        with pytest.raises(UsageError, match=rf"lies in {tree}, which the run reads; name .* \.retrieval of"):
            check_place(place, Inputs(trees=[tree]), explicit=True)
    for place in (tmp_path / "r.json", tmp_path / "tree.json", tree / "deep" / ".retrieval" / "r.json"):
        check_place(place, Inputs(trees=[tree]), explicit=True)


def test_a_searched_folder_may_itself_lie_in_one_that_is_left_out(tmp_path: Path) -> None:
    tree = tmp_path / ".retrieval" / "tree"
    tree.mkdir(parents=True)
    with pytest.raises(UsageError, match="which the run reads"):
        check_place(tree / "r.json", Inputs(trees=[tree]), explicit=True)


@pytest.mark.parametrize("content", ["", REPORT, ORIGINAL])
def test_a_report_or_nothing_may_be_replaced(content: str, tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text(content)
    check_place(tmp_path / "r.json", Inputs(), explicit=True)
    check_replaceable(tmp_path / "r.json")
    check_replaceable(tmp_path / "new.json")


@pytest.mark.parametrize(
    "content",
    ["x", "{}", "[]", '"pytest-retrieval/1"', '{"profile": "other/1"}', f"{REPORT}{REPORT}", REPORT[:-1]],
)
def test_anything_else_may_not(content: str, tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text(content)
    for check in (lambda path: check_place(path, Inputs(), explicit=True), check_replaceable):
        with pytest.raises(UsageError, match=r"r\.json would replace a file that no run wrote; name another"):
            check(tmp_path / "r.json")
    check_place(tmp_path / "r.json", Inputs(), explicit=False)


@pytest.mark.parametrize("name", ["r.journal", "r.journal.previous", "r.partial.json"])
def test_a_file_of_somebody_beside_the_report_stays(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("notes\n")
    with pytest.raises(UsageError, match=f"{name} would replace a file that no run wrote"):
        check_place(tmp_path / "r", Inputs(), explicit=True)


def test_what_interrupted_runs_left_is_no_obstacle(tmp_path: Path) -> None:
    for _ in range(2):
        journal = Journal(tmp_path / "r")
        journal.start({"version": "x"})
        journal.append("key", b"{}")
        journal.keep()
    (tmp_path / "r.partial.json").write_text(REPORT)
    assert len(list(tmp_path.iterdir())) == 3
    check_place(tmp_path / "r", Inputs(), explicit=True)
