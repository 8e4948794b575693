"""Trials as sessions: what agents find of repositories, and what an interrupt leaves: case 81 of trial.md."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.agents.support import executable
from tests.plugin.support import BOAT, CLICK, COMMITS, ROOT, TREES, Bench
from tests.processes import wait_until, wait_until_gone

pytest_plugins = ["pytester"]

SUITE = """
import pytest

@pytest.mark.retrieval_trial(tasks="tasks.json", corpus="release/corpus/mini")
def test_trial(retrieval_trial_judge):
    retrieval_trial_judge()
"""

READER = """
from pytest_retrieval import Arm, Capabilities

class Reader(Arm):
    name = "reader"
    capabilities = Capabilities(worktree=True)

    def rank(self, query):
        root = self.snapshot.worktree()
        return sorted(str(path.relative_to(root)) for path in root.rglob("*.[gp][oy]"))

def pytest_retrieval_arms():
    return [Reader]
"""

LOOKING = """
import json, os, tempfile
found = []
for place, folders, files in os.walk(tempfile.gettempdir()):
    found += [name for name in folders if name == ".git"]
    found += [name for name in files if name in NAMES]
print(json.dumps({"here": os.listdir(), "found": found}))
"""

HANGING = """
trap '' TERM
cd "$MARKS"
sh -c 'trap "" TERM; echo $$ > new; mv new child; sleep 600; echo late > late' &
echo $$ > new2; mv new2 agent
wait
sleep 600
"""


@pytest.fixture
def trial(bench: Bench) -> Bench:
    """A suite of four tasks over two repositories."""
    tasks = [
        {
            "id": f"t{number}",
            "kind": "retrieval",
            "repo": repo,
            "base_commit": COMMITS[repo],
            "text": f"Which file tests the hull or echoes? ({number})",
            "gold": {"test-file": ["boat/hull_test.go"]},
        }
        for number, repo in enumerate((BOAT, CLICK, BOAT, CLICK))
    ]
    bench.write("tasks.json", json.dumps({"partition": "pilot", "tasks": tasks}))
    bench.write("test_suite.py", SUITE)
    bench.write("conftest.py", READER)
    # A worker that collects late would meet what tools of another one have been given there.
    bench.write("pytest.ini", "[pytest]\nnorecursedirs = temporary\n")
    return bench


@pytest.mark.parametrize("workers", ["-n0", "-n2"])
def test_agents_without_access_find_no_copy_anywhere(trial: Bench, workers: str) -> None:
    """They look through the whole temporary folder while others run beside them."""
    names = sorted({path.rpartition("/")[2] for repo in (BOAT, CLICK) for path in TREES[repo]})
    text = LOOKING.replace("NAMES", repr(names))
    agent = executable(trial.path / "look", text, sys.executable)
    result = trial.run(
        workers, f"--agent=script:{agent}", "--arms=none,grep,reader,engine:grep", "--access=none"
    )
    result.assert_outcomes(passed=4)
    report = json.loads((trial.path / ".retrieval" / "report.json").read_text())
    assert len(report["details"]) == 4
    for detail in report["details"]:
        assert (
            "hull_test.go" in detail["arms"]["reader"]["context"]
            or "core.py" in detail["arms"]["reader"]["context"]
        )
        for entry in detail["arms"].values():
            [run] = entry["runs"]
            assert json.loads(run["reply"]) == {"here": [], "found": []}


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks processes up in /proc")
@pytest.mark.parametrize(
    ("number", "access"),
    [(signal.SIGINT, "none"), (signal.SIGTERM, "none"), (signal.SIGTERM, "read-only")],
    ids=["SIGINT", "SIGTERM", "SIGTERM-read-only"],
)
def test_case_81_an_interrupt_ends_the_agent_and_its_child(
    trial: Bench, number: signal.Signals, access: str
) -> None:
    """Repaired, 25-3: the original reported cancelled errors and left with 0; here it is an interrupt."""
    agent = executable(trial.path / "hang", HANGING)
    marks = trial.path / "marks"
    marks.mkdir()
    argv = [sys.executable, "-m", "pytest", "-p", "pytest_retrieval.plugin", "-p", "no:cacheprovider"]
    argv += [f"--agent=script:{agent}", f"--access={access}"]
    session = subprocess.Popen(
        argv,
        cwd=trial.path,
        env={**os.environ, "MARKS": str(marks), "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        wait_until(
            lambda: (marks / "child").exists() and (marks / "agent").exists(), "the agent and its child"
        )
        session.send_signal(number)
        output = session.communicate(timeout=60)[0]
    finally:
        session.kill()
    assert session.returncode == pytest.ExitCode.INTERRUPTED, output
    for name in ("agent", "child"):
        assert wait_until_gone(int((marks / name).read_text()))
    assert not (marks / "late").exists()
    assert "Traceback" not in output
    assert not (trial.path / ".retrieval" / "report.json").exists()
