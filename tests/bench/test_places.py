"""Where in its own code an arm raised: known to the failure of the item, not to the report."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_retrieval.arms.base import Arm
from pytest_retrieval.arms.objects import factory_of
from pytest_retrieval.arms.registry import ArmSpec
from pytest_retrieval.bench.judge import Judge, Outcome
from pytest_retrieval.errors import ArmError
from pytest_retrieval.model import Query
from pytest_retrieval.snapshots.base import Snapshot
from tests.arms.support import snapshot_of
from tests.bench.test_judge import FILES, SAMPLE

HERE = Path(__file__)


def line_of(mark: str) -> int:
    lines = HERE.read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.endswith(f"# {mark}"))


class Deep(Arm):
    name, version = "deep", "1"

    def rank(self, query: Query) -> Any:
        return self.load()

    def load(self) -> Any:
        return json.loads("{")  # in load


class Slow(Arm):
    name, version = "slow", "1"

    def rank(self, query: Query) -> Iterator[str]:
        yield "a.c"
        raise RuntimeError("boom")  # in a generator


class Unprepared(Arm):
    name, version = "unprepared", "1"

    def prepare(self, snapshot: Snapshot) -> None:
        raise RuntimeError("boom")  # in prepare

    def rank(self, query: Query) -> Any:
        return []


class Unmade(Arm):
    name, version = "unmade", "1"

    def __init__(self) -> None:
        raise RuntimeError("boom")  # in __init__

    def rank(self, query: Query) -> Any:
        return []


def function(query: Query, snapshot: Snapshot) -> Any:
    raise RuntimeError("boom")  # in a function


def judged(target: object) -> Outcome:
    return Judge([ArmSpec("x", "x", factory_of(target, "x"))], 20).judge(SAMPLE, lambda: snapshot_of(FILES))


@pytest.mark.parametrize(
    ("target", "mark", "where"),
    [
        (Deep, "in load", "Deep.load"),
        (Slow, "in a generator", "Slow.rank"),
        (Unprepared, "in prepare", "Unprepared.prepare"),
        (Unmade, "in __init__", "Unmade.__init__"),
        (function, "in a function", "function"),
    ],
)
def test_the_last_frame_of_the_arms_own_code(
    target: object, mark: str, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(HERE.parents[1])
    outcome = judged(target)
    (fault,) = outcome.faults
    assert fault == f"x: {outcome.detail['arms']['x']['error']}"
    assert outcome.failures() == [f"{fault} (bench/test_places.py:{line_of(mark)} in {where})"]
    assert "test_places" not in json.dumps(outcome.detail)


def test_a_file_elsewhere_is_named_in_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert judged(function).failures()[0].endswith(f"({HERE}:{line_of('in a function')} in function)")


def refuse(query: Query, snapshot: Snapshot) -> Any:
    raise ArmError("the tool is not there")


def test_what_an_arm_says_itself_needs_no_place() -> None:
    assert judged(refuse).failures() == ["x: the tool is not there"]


def test_a_snapshot_that_is_lost_has_none() -> None:
    assert Judge([], 20).lost(SAMPLE, "gone", status="fault").failures() == ["gone"]
