"""Reports of one trial that are joined."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pytest_retrieval.cli import main
from pytest_retrieval.errors import ReportError
from pytest_retrieval.report.build import Report
from pytest_retrieval.report.write import write_report
from pytest_retrieval.trial.merge import merge_trials
from pytest_retrieval.trial.reading import read_trial
from tests.trial.support import GOOD, NOT_OBSERVED, SOURCE, WRONG, built, entry, fenced, run, task

ARMS = {"none": {"memorisation": True}, "grep": {"baseline": True}}
NEVER = run("", wall_ms=NOT_OBSERVED, exit_code=NOT_OBSERVED)


def rows(*labels: str) -> list[dict[str, Any]]:
    replies = {"none": fenced(WRONG), "grep": GOOD}
    return [task(row, {label: entry("", run(replies[label])) for label in labels}) for row in range(4)]


def whole(details: list[dict[str, Any]], labels: tuple[str, ...] = ("none", "grep"), **fields: Any) -> Report:
    """A run that chose these four tasks, or a part of them."""
    count = len(details)
    header = {
        "tasks": count,
        "sources": [{"path": "tasks.json", "sha256": SOURCE, "rows": 4, "kept": count}],
        "selection": {"of": 4, "chosen": count, "lost": []},
        "arms": {label: ARMS[label] for label in labels},
        **fields,
    }
    return built(details, **header)


def joined(folder: Path, *reports: Report) -> Report:
    paths = [folder / f"{place}.json" for place in range(len(reports))]
    for path, report in zip(paths, reports, strict=True):
        write_report(path, report.chunks())
    return merge_trials([read_trial(path) for path in paths])


def same(found: Report, expected: Report) -> bool:
    """Whether the reports are the same but for what a machine makes of them."""

    def bare(report: Report) -> Mapping[str, Any]:
        return {**json.loads(b"".join(report.chunks())), "environment": {}}

    return bare(found) == bare(expected)


def test_parts_of_the_tasks_are_one_run(tmp_path: Path) -> None:
    details = rows("none", "grep")
    assert same(joined(tmp_path, whole(details[2:]), whole(details[:2])), whole(details))


def test_arms_of_two_runs_are_one_run(tmp_path: Path) -> None:
    one, two = whole(rows("none"), ("none",)), whole(rows("grep"), ("grep",))
    found = joined(tmp_path, one, two)
    assert same(found, whole(rows("none", "grep")))
    assert found.head["paired"]["all"]["grep - none"]["success"]["wins"] == 4


def test_what_was_lost_may_be_found_elsewhere(tmp_path: Path) -> None:
    details = rows("none", "grep")
    open_row = {**details[1], "arms": {**details[1]["arms"], "grep": entry("", NEVER)}}
    lost = [{"source": SOURCE, "id": name, "ordinal": 0, "why": "crashed"} for name in ("q2", "q3")]
    selection = {"of": 4, "chosen": 4, "lost": lost}
    first = whole([details[0], open_row], selection=selection)
    found = joined(tmp_path, first, whole(details[1:3])).head["selection"]
    assert (found["chosen"], found["judged"], found["lost"]) == (4, 3, lost[1:])


def test_a_later_run_has_the_word_unless_it_did_not_happen(tmp_path: Path) -> None:
    def success(*runs: dict[str, Any]) -> int:
        reports = [whole([task(0, {"grep": entry("", one)})], ("grep",)) for one in runs]
        head = joined(tmp_path, *reports).head
        return int(head["arms"]["grep"]["groups"]["all"]["success"]["count"])

    assert success(run("no idea"), run(GOOD)) == 1
    assert success(run(GOOD), run("no idea")) == 0
    assert success(run(GOOD), NEVER) == 1


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"model": "m2"}, "its model"),
        ({"access": "read-only"}, "its access"),
        ({"agent": {"kind": "codex"}}, "its agent"),
        ({"partition": "held-out"}, "its partition"),
        ({"repeats": 2}, "its repeats"),
        ({"corvint": {"sha256": "2", "version": "1"}}, "its corvint"),
        ({"arms": {"none": {}, "grep": {}}}, "the arm 'grep' is another one"),
        ({"prologues": {"grep": {"sha256": "00" * 32, "text": "x"}}}, "the arm 'grep' is another one"),
    ],
)
def test_another_trial_is_refused(tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    details = rows("none", "grep")
    prologues = {"grep": {"sha256": "11" * 32, "text": "y"}}
    first = whole(details, prologues=prologues, corvint={"sha256": "1", "version": "1"})
    with pytest.raises(ReportError) as caught:
        joined(tmp_path, first, whole(details, **changes))
    assert words in str(caught.value)
    assert "1.json" in str(caught.value)


def test_other_facts_of_a_task_are_refused(tmp_path: Path) -> None:
    one, two = ({**task(0), "gold": {"test-file": [name]}} for name in ("a.py", "b.py"))
    with pytest.raises(ReportError, match="'q0' has another gold"):
        joined(tmp_path, whole([one], ("grep",)), whole([two], ("grep",)))


def test_a_report_with_a_task_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "twice.json"
    write_report(path, whole(rows("grep"), ("grep",)).chunks())
    stored = json.loads(path.read_bytes())
    stored["details"].append(stored["details"][0])
    path.write_text(json.dumps(stored), encoding="utf-8")
    with pytest.raises(ReportError, match="'q0' comes twice"):
        merge_trials([read_trial(path)])


def test_summarize_at_the_console(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    details = rows("none", "grep")
    paths = [tmp_path / "a.json", tmp_path / "b.json"]
    for path, part in zip(paths, (details[:2], details[2:]), strict=True):
        write_report(path, whole(part).chunks())
    output = tmp_path / "both.json"
    words = ["summarize", *map(str, paths), "-o", str(output), "--gate", "grep: success >= 0.9"]
    assert main(words) == 0
    said = capsys.readouterr().out
    assert "PILOT grep      4   1.000" in said
    assert "PILOT gate PASSED grep: success >= 0.9" in said
    assert json.loads(output.read_bytes())["selection"]["judged"] == 4
    assert main(["gate", str(output), "--gate", "grep: success >= 0.9"]) == 0
    assert capsys.readouterr().out.startswith("PILOT gate PASSED")
    assert main([*words[:3], "--union"]) == 2
    assert "this is a report of a trial" in capsys.readouterr().err
    assert main(["trec", str(paths[0]), "-o", str(tmp_path / "trec")]) != 0
    assert "a report of a trial, which has no rankings" in capsys.readouterr().err
