"""What a terminal says of a trial."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_retrieval.report.pieces import plain
from pytest_retrieval.trial.table import render
from tests.trial.support import CONTEXT, GOOD, NOT_OBSERVED, WRONG, built, entry, fenced, run, task

SILENT = '{"claims":[]}'
PRICES = {"currency": "USD", "sha256": "ab" * 32, "per_million": {"input_tokens": 2.0}, "within": {}}
FACTS: dict[str, Any] = {"none": {"memorisation": True}, "grep": {"baseline": True}, "slow": {}}
GATE = {
    "gate": "grep: success >= 0.4",
    "status": "passed",
    "fails": False,
    "expected": ">= 0.4",
    "n": 6,
    "chosen": 6,
    "of": 6,
    "got": 0.5,
}


def rows() -> list[dict[str, Any]]:
    """Six tasks of three arms, and a control that grep fails."""
    seen: dict[str, Any] = {"tokens": {"input_tokens": 900}, "tool_calls": 2}
    details = [
        task(
            row,
            {
                "none": entry("", run(SILENT)),
                "grep": entry(CONTEXT, run(GOOD if row % 2 else fenced(WRONG), **seen)),
                "slow": entry("", run("", error="timed out after 5 s")),
            },
        )
        for row in range(6)
    ]
    control = {"grep": entry("", run(fenced(WRONG))), "slow": entry("", run("", error="gone"))}
    return [*details, task(6, control, gold=None, control="already-fixed")]


def lines(width: int = 160, details: list[dict[str, Any]] | None = None, **fields: Any) -> list[str]:
    head = built(rows() if details is None else details, **{"arms": FACTS, **fields}).head
    return [plain(line) for line in render(head, width, "trial.json")]


def test_one_row_per_arm() -> None:
    found = {line.split()[1]: line.split()[2:] for line in lines()[1:4]}
    assert found["none"][:3] == ["6", "0.000", "[0.000,"]
    assert found["grep"][:7] == ["6", "0.500", "[0.188,", "0.812]", "0.500", "[0.188,", "0.812]"]
    assert found["slow"][:5] == ["6", "-", "-", "-", "6"]  # errors score nothing
    assert found["grep"][-1] == "12"
    assert found["none"][-1] == "-"  # nobody saw its tool calls


def test_a_pilot_says_so_wherever_a_figure_stands() -> None:
    said = lines(1000, gates=[GATE], prices=PRICES)
    # Besides these: blank lines, how many tasks there are, tokens that nobody saw, and the path.
    for line in said:
        figures = any(character.isdigit() for character in line)
        assert line.startswith("PILOT") or not figures or line.startswith("tasks: ")
    assert "PILOT: these figures may not be presented as held-out" in said
    assert not [line for line in lines(partition="held-out", gates=[GATE]) if "PILOT" in line]


def test_the_memorisation_check_is_named() -> None:
    (line,) = [line for line in lines() if "memorisation" in line]
    assert line == "PILOT memorisation check: none, which gets no context: success 0.000 [0.000, 0.390]"


def test_pairs_controls_errors_tokens_and_money() -> None:
    said = "\n".join(lines(1000, prices=PRICES, partition="unseen"))
    assert "grep - none: success +0.500 [" in said
    assert "(3 higher, 0 lower of 6, McNemar p 0.250, unit sample)" in said
    assert "controls: grep: 1 of 1 failed\n" in said
    assert "controls: slow: 0 of 0 failed, 1 erred" in said
    assert "errors: slow: 7 (timed out after 5 s: 6; gone: 1)" in said
    assert "tokens: none, slow: NOT_OBSERVED" in said
    assert "tokens: grep: input_tokens 5400 (in 6 of 6 invocations)" in said
    assert "money: grep: 0.0108 USD, 0.0018 per task, 0.0036 per success (in 6 of 6 invocations)" in said
    assert said.endswith("report: trial.json")


def test_an_arm_without_contexts_is_named() -> None:
    lacking = {"rg": entry("(none)", run(GOOD), context_error="cannot start 'rg'\nmore"), "grep": entry("")}
    said = "\n".join(lines(1000, [task(row, lacking) for row in range(3)], arms={}))
    assert "PILOT no context: rg: 3 (cannot start 'rg': 3)" in said
    assert "no context: grep" not in said


def test_repetitions_and_what_was_lost() -> None:
    never = run("", wall_ms=NOT_OBSERVED)
    details = [
        task(0, {"grep": entry("", run(GOOD), run(SILENT))}),
        task(1, {"grep": entry("", run(GOOD), never)}),
    ]
    said = "\n".join(lines(details=details, repeats=2, partition="unseen", arms={}))
    assert "pass@2" in said
    assert "2 attempts each" in said
    assert "unstable: grep: 1 tasks (q0 1/2)" in said
    assert "lost: 1 of 2: q1 (not finished)" in said


def test_money_of_repetitions_is_that_of_an_attempt() -> None:
    paid = [run(GOOD, tokens={"output_tokens": 1_000_000}) for _ in range(2)]
    prices = {"currency": "USD", "sha256": "ab" * 32, "per_million": {"output_tokens": 1}, "within": {}}
    for repeats, each in ((2, "attempt at a task"), (1, "task")):
        said = "\n".join(
            lines(
                details=[task(0, {"grep": entry("", *paid[:repeats])})],
                repeats=repeats,
                prices=prices,
                arms={},
            )
        )
        assert f"money: grep: {repeats} USD, 1 per {each}, 1 per success" in " ".join(said.split())


def test_use_of_a_tool() -> None:
    call = {"tool": "search", "query": "q", "n_results": 1, "ms": 2}
    details = [task(0, {"grep": entry("", run(calls=[call])), "none": entry("", run(calls=[]))})]
    head, *arms = lines(details=details, access="tools", arms={})[:3]
    column = head.index("tool used")
    assert [line[column : column + 9].strip() for line in arms] == ["1.000", "0.000"]


@pytest.mark.parametrize("width", [20, 40, 60, 80, 100, 200])
def test_it_fits(width: int) -> None:
    said = lines(width, prices=PRICES)
    assert max(map(len, said)) <= width


def test_no_tasks() -> None:
    assert lines(details=[], arms={})[-1] == "report: trial.json"
    assert lines(details=[])[1].split() == ["PILOT", "none", "0", "-", "-", "-", "0", "-", "-", "0", "-", "-"]
