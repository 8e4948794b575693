"""Arms that users bring, well-behaved and otherwise: each is a row of the report, and none ends the run."""

from __future__ import annotations

from typing import Any

import pytest

from tests.plugin.support import BOAT, CORE, ECHO, FFT, HULL, IDS, LEAK, SAIL, SVD, TREES, Bench

pytest_plugins = ["pytester"]

MINE = """
import pytest
from pytest_retrieval import Answer, Arm, Capabilities, Hit

class Backwards(Arm):
    name = "backwards"
    version = "2"
    capabilities = Capabilities(deterministic=False)

    def rank(self, query):
        yield from sorted(self.snapshot.paths, reverse=True)

def first(query, snapshot):
    return [(snapshot.paths[0], 1.5)]

def make():
    return Backwards()

class Wild(Arm):
    name = "wild"

    def rank(self, query):
        for word, answer in ANSWERS.items():
            if word in query.text:
                return answer()
        return ["README.md", "main.go"]

def fall():
    raise RuntimeError("two\\nlines")

def leave():
    raise SystemExit(3)

ANSWERS = {
    "SVD": fall,
    "rfft": leave,
    "Echo": lambda: [("README.md", float("nan"))],
    "float": lambda: Answer(refusal="no changed file"),
    "panic": lambda: ["main.go", Hit("gone.go", score=2), "main.go"],
    "Anchors": lambda: Answer(abstained=True),
    "Colours": lambda: pytest.skip("not today"),
}

class Unmade(Arm):
    def __init__(self):
        raise SystemExit("cannot be made")

    def rank(self, query):
        return []

class Unprepared(Arm):
    def prepare(self, snapshot):
        if snapshot.repo == "acme/boat":
            raise OSError("no room")
        super().prepare(snapshot)

    def rank(self, query):
        return self.snapshot.paths

class Unclosed(Backwards):
    name = "unclosed"

    def close(self):
        raise RuntimeError("will not close")

class Odd(Backwards):
    name = "odd"
    capabilities = {}
"""

COUNTING = """
from pytest_retrieval import Arm

class Counting(Arm):
    name = "counting"
    prepared = []

    def prepare(self, snapshot):
        super().prepare(snapshot)
        self.prepared.append(snapshot.repo)

    def rank(self, query):
        return [f"{number} {repo}" for number, repo in enumerate(self.prepared)]

def pytest_retrieval_arms():
    return [Counting]
"""

SLOW = """
import time
from pytest_retrieval import Arm, Capabilities

class Slow(Arm):
    name = "slow"
    capabilities = Capabilities(timeout=0.1)

    def rank(self, query):
        if "SVD" in query.text:
            time.sleep(60)
        return ["README.md"]

def pytest_retrieval_arms():
    return [Slow]
"""

FAULTS = {
    SVD: "RuntimeError: two lines",
    FFT: "SystemExit: 3",
    ECHO: "row 1 of the answer: the score is nan; a score is finite",
    CORE: "Skipped: not today",
}


def judge(bench: Bench, arms: str, *arguments: str) -> pytest.RunResult:
    bench.write("mine.py", MINE)
    bench.pytester.syspathinsert()
    return bench.run("--release=release", f"--arms={arms}", *arguments)


def rows(bench: Bench, label: str) -> dict[str, dict[str, Any]]:
    """The arm's answers by sample, without times."""
    times = ("wall_ms", "build_ms", "cache_state")
    return {
        name: {key: value for key, value in detail["arms"][label].items() if key not in times}
        for name, detail in bench.judged().items()
    }


@pytest.mark.parametrize("workers", [[], ["-n2"]])
def test_a_query_that_takes_longer_than_its_arm_declares_fails(bench: Bench, workers: list[str]) -> None:
    bench.write("conftest.py", SLOW)
    bench.run("--release=release", "--arms=slow", *workers).assert_outcomes(passed=6, failed=1)
    answers = rows(bench, "slow")
    assert answers[SVD] == {"ranked": [], "abstained": False, "error": "timed out after 0.1 s"}
    assert [name for name, answer in answers.items() if "error" in answer] == [SVD]


@pytest.mark.parametrize("workers", [[], ["-n1"]])
def test_a_class_a_function_and_a_maker_by_their_module(bench: Bench, workers: list[str]) -> None:
    arms = "mine:Backwards,mine:first,made=mine:make,grep"
    judge(bench, arms, *workers).assert_outcomes(passed=7)
    found = bench.report()["arms"]
    assert sorted(found) == ["backwards", "first", "grep", "made"]
    assert (found["backwards"]["name"], found["backwards"]["version"]) == ("backwards", "2")
    assert found["backwards"]["capabilities"]["deterministic"] is False
    assert found["made"]["name"] == "backwards"
    backwards = [path for path in sorted(TREES[BOAT], reverse=True) if path != "boat/hull.go"]
    assert rows(bench, "backwards")[HULL] == {"ranked": backwards, "abstained": False}
    assert rows(bench, "first")[LEAK] == {"ranked": ["boat/hull.go"], "abstained": False}
    # Backwards the gold files are first, third, first, second and first: (1 + 1/3 + 1 + 1/2 + 1) / 5.
    assert found["backwards"]["groups"]["all"]["mrr@k"] == 0.766667


@pytest.mark.parametrize("workers", [[], ["-n2"]])
def test_what_an_arm_does_stays_on_its_row(bench: Bench, workers: list[str]) -> None:
    result = judge(bench, "mine:Wild,mine:Backwards", *workers)
    assert result.ret == 1
    result.assert_outcomes(passed=3, failed=4)
    result.stdout.fnmatch_lines_random([f"wild: {fault}*" for fault in FAULTS.values()])
    nothing = {"ranked": [], "abstained": False}
    assert rows(bench, "wild") == {
        **{name: {**nothing, "error": fault} for name, fault in FAULTS.items()},
        HULL: {**nothing, "error": "no changed file", "refused": True},
        LEAK: {"ranked": ["main.go", "gone.go"], "abstained": False, "duplicates": 1, "unknown": 1},
        SAIL: {"ranked": [], "abstained": True},
    }
    statuses = {name: detail["status"] for name, detail in bench.judged().items()}
    assert statuses == {**dict.fromkeys(IDS, "measured"), **dict.fromkeys(FAULTS, "fault")}
    group = bench.report()["arms"]["wild"]["groups"]["all"]
    assert (group["n"], group["errors"], group["refused"]) == (7, 5, 1)
    assert group["hit@k"] == 0.2  # of the five with gold one is found, errors are misses
    assert group["answered"]["hit@k"] == 1
    assert bench.report()["arms"]["backwards"]["groups"]["all"]["errors"] == 0


def test_a_fault_scores_nothing_and_is_no_abstention(bench: Bench) -> None:
    judge(bench, "mine:Wild")
    judged = bench.judged()
    assert judged[SVD]["metrics"]["wild"] == {
        "recall@5": 0,
        "recall@10": 0,
        "recall@20": 0,
        "mrr@k": 0,
        "precision@k": 0,
        "f1@k": 0,
        "hit@k": 0,
        **{key: 0 for key in judged[SVD]["metrics"]["wild"] if key.startswith(("full@k", "hard_negative"))},
        "abstained": 0,
        "selective_success": 0,
    }
    assert judged[CORE]["metrics"]["wild"] == {"abstained": 0, "selective_success": 0}
    assert judged[SAIL]["metrics"]["wild"] == {"abstained": 1, "selective_success": 1}


@pytest.mark.parametrize(
    ("tolerance", "code"), [("3", 1), ("4", 0), ("50%", 1), ("57%", 1), ("57.2%", 0), ("100%", 0), ("0", 1)]
)
def test_faults_are_tolerated_up_to_a_number(bench: Bench, tolerance: str, code: int) -> None:
    result = judge(bench, "mine:Wild", f"--retrieval-max-errors={tolerance}")  # four of seven are faults
    result.assert_outcomes(passed=7)
    assert result.ret == code
    line = "4 samples have faults, more than --retrieval-max-errors allows"
    assert (line in result.outlines) == (code == 1)
    assert bench.report()["arms"]["wild"]["groups"]["all"]["errors"] == 5


def test_an_arm_that_cannot_be_made_or_prepared(bench: Bench) -> None:
    judge(bench, "mine:Unmade,mine:Unprepared").assert_outcomes(failed=7)
    assert {row["error"] for row in rows(bench, "Unmade").values()} == {"SystemExit: cannot be made"}
    assert {name for name, row in rows(bench, "Unprepared").items() if "error" in row} == {HULL, LEAK, SAIL}
    assert rows(bench, "Unprepared")[LEAK]["error"] == "OSError: no room"


@pytest.mark.parametrize("workers", [[], ["-n1"]])
def test_an_arm_that_will_not_close_harms_nothing(bench: Bench, workers: list[str]) -> None:
    assert judge(bench, "mine:Unclosed", *workers).ret == 0
    assert len(bench.judged()) == 7


def test_an_arm_that_declares_nonsense_is_a_fault_of_its_rows(bench: Bench) -> None:
    result = judge(bench, "mine:Odd,mine:Backwards")
    assert result.ret == 1
    assert "INTERNALERROR" not in result.stdout.str()
    assert all("error" in row for row in rows(bench, "odd").values())
    assert bench.report()["arms"]["backwards"]["groups"]["all"]["errors"] == 0


def test_an_interrupt_is_not_a_fault(bench: Bench) -> None:
    bench.write("mine.py", f"{MINE}\ndef interrupt(query, snapshot): raise KeyboardInterrupt\n")
    result = bench.run_apart("-o", "pythonpath=.", "--release=release", "--arms=mine:interrupt")
    assert result.ret == 2


def test_every_arm_of_a_run_is_prepared_once_for_each_snapshot(bench: Bench) -> None:
    bench.write("conftest.py", COUNTING)
    bench.run("--release=release", "--arms=counting").assert_outcomes(passed=7)
    assert rows(bench, "counting")[CORE]["ranked"] == ["0 acme/boat", "1 numpy/numpy", "2 pallets/click"]
    assert [("build_ms" in detail["arms"]["counting"]) for detail in bench.judged().values()].count(True) == 3
