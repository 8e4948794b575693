"""The embedded task sets are what their script makes, and the frozen one has the digest that is published."""

from __future__ import annotations

import filecmp
import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from pytest_retrieval.cli import main
from pytest_retrieval.trial.manifest import load_manifest

TESTDATA = Path(__file__).parents[1] / "testdata"
SETS = TESTDATA / "trial"
FROZEN = "unseen-tidepool-gauge"


def make(*words: str | Path) -> None:
    command = [sys.executable, TESTDATA / "trial_sets.py", *words]
    subprocess.run(command, check=True, timeout=60, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})


def files(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_the_default_set_and_the_fixture(tmp_path: Path) -> None:
    make("embedded", tmp_path / "tasks.json")
    assert (tmp_path / "tasks.json").read_bytes() == (SETS / "embedded" / "tasks.json").read_bytes()
    make("fixture", tmp_path / "fixture")
    names = files(SETS / "already-fixed")
    assert filecmp.cmpfiles(SETS / "already-fixed", tmp_path / "fixture", names, shallow=False)[0] == names


def test_the_frozen_set(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make("history", tmp_path / "history")
    words = ["--name=tidepool/gauge", "--since=2026-10-01", f"--output={tmp_path / 'set'}"]
    assert main(["trial", "generate", f"--repo={tmp_path / 'history'}", *words]) == 0
    names = files(SETS / FROZEN)
    assert filecmp.cmpfiles(SETS / FROZEN, tmp_path / "set", names, shallow=False)[0] == names
    digest = sha256((SETS / FROZEN / "tasks.json").read_bytes()).hexdigest()
    assert f"`{digest}`" in (SETS / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "tasks", "controls"), [("embedded", 18, 3), ("already-fixed", 2, 1), (FROZEN, 4, 0)]
)
def test_the_sets_load(name: str, tasks: int, controls: int) -> None:
    found = load_manifest(SETS / name / "tasks.json").tasks
    assert len(found) == tasks
    assert sum(task.is_control for task in found) == controls
    assert {task.kind for task in found} >= {"change"}
