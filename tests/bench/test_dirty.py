"""A work tree that an arm left dirty: named, its fault, rebuilt, and none of the next arm's business."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pytest_retrieval.arms.base import Arm
from pytest_retrieval.arms.registry import ArmSpec
from pytest_retrieval.bench.judge import Judge
from pytest_retrieval.errors import SnapshotError
from pytest_retrieval.model import Answer, Capabilities, Query
from pytest_retrieval.snapshots.base import Snapshot
from tests.arms.support import snapshot_of
from tests.bench.test_judge import SAMPLE

FILES = {"a.c": b"ring", "b.c": b"wrap"}


class Doing(Arm):
    """Does something in the work tree; counts how often it was prepared."""

    capabilities = Capabilities(worktree=True)

    def __init__(self, deed: Callable[[Path], Answer | None]) -> None:
        self.deed = deed
        self.prepared = 0

    def prepare(self, snapshot: Snapshot) -> None:
        super().prepare(snapshot)
        self.prepared += 1

    def rank(self, query: Query) -> Answer | list[str]:
        return self.deed(self.snapshot.worktree()) or ["b.c"]


class Lexical(Arm):
    def rank(self, query: Query) -> list[str]:
        return ["b.c"]


@pytest.fixture
def snapshot() -> Iterator[Snapshot]:
    made = snapshot_of(FILES)
    yield made
    made.close()


def leave_a_file(root: Path) -> None:
    (root / "leak.txt").write_text("leak")


def change_a_file(root: Path) -> None:
    (root / "a.c").write_text("changed")


def remove_git(root: Path) -> None:
    (root / ".git" / "HEAD").unlink()


def refuse(root: Path) -> Answer:
    leave_a_file(root)
    return Answer(refusal="no rule")


def crash(root: Path) -> Answer:
    leave_a_file(root)
    raise RuntimeError("gone")


@pytest.mark.parametrize(
    ("deed", "fault"),
    [
        (leave_a_file, "work tree left dirty: ?? leak.txt"),
        (change_a_file, "work tree left dirty: M a.c"),
        (refuse, "work tree left dirty: ?? leak.txt"),
        (crash, "RuntimeError: gone; work tree left dirty: ?? leak.txt"),
        (remove_git, "work tree left dirty: its state cannot be told:"),
    ],
)
def test_case_20_repaired_a_dirty_copy_errs_its_arm_alone(
    deed: Callable[[Path], Answer | None], fault: str, snapshot: Snapshot
) -> None:
    """The original ends the run (weakness 28): here the arm is named, and the others go on."""
    seen: list[list[str]] = []

    def look(root: Path) -> None:
        seen.append(sorted(path.name for path in root.iterdir()))

    first, second = Doing(deed), Doing(look)
    judge = Judge([ArmSpec("bad", "bad", lambda: first), ArmSpec("good", "good", lambda: second)], 20)
    for _ in range(2):
        outcome = judge.judge(SAMPLE, lambda: snapshot)
        answers = outcome.detail["arms"]
        assert answers["bad"]["error"].startswith(fault)
        assert "refused" not in answers["bad"]
        assert answers["bad"]["wall_ms"] > 0
        assert answers["good"]["ranked"] == ["b.c"]
        assert "error" not in answers["good"]
        assert outcome.faults == (f"bad: {answers['bad']['error']}",)
        assert outcome.detail["status"] == "fault"
    assert seen == [[".git", "a.c", "b.c"]] * 2
    assert (snapshot.worktree() / "a.c").read_bytes() == b"ring"


def test_what_arms_had_prepared_in_a_rebuilt_copy_is_prepared_again(snapshot: Snapshot) -> None:
    tidy, bad = Doing(lambda root: None), Doing(leave_a_file)
    judge = Judge([ArmSpec("tidy", "tidy", lambda: tidy), ArmSpec("bad", "bad", lambda: bad)], 20)
    for _ in range(3):
        judge.judge(SAMPLE, lambda: snapshot)
    assert (tidy.prepared, bad.prepared) == (3, 3)


def test_only_arms_with_a_work_tree_are_looked_after(
    snapshot: Snapshot, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Snapshot] = []

    def changes(self: Snapshot) -> tuple[str, ...]:
        asked.append(self)
        return ()

    monkeypatch.setattr(Snapshot, "worktree_changes", changes)
    tidy = Doing(lambda root: None)
    arms = [ArmSpec("tidy", "tidy", lambda: tidy), ArmSpec("lexical", "lexical", Lexical)]
    Judge(arms, 20).judge(SAMPLE, lambda: snapshot)
    assert asked == [snapshot]


def test_a_copy_that_cannot_be_rebuilt_is_said(snapshot: Snapshot, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: Snapshot) -> None:
        raise SnapshotError("the work tree cannot be written: No space left on device")

    monkeypatch.setattr(Snapshot, "rebuild_worktree", fail)
    bad = Doing(leave_a_file)
    outcome = Judge([ArmSpec("bad", "bad", lambda: bad)], 20).judge(SAMPLE, lambda: snapshot)
    assert outcome.detail["arms"]["bad"]["error"] == (
        "work tree left dirty: ?? leak.txt; the work tree cannot be written: No space left on device"
    )
