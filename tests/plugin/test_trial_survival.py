"""A trial that is killed, interrupted, or loses a worker keeps every finished invocation, and is taken up."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pytest_retrieval.report.canonical import encode
from pytest_retrieval.report.identity import strip_times
from pytest_retrieval.report.journal import read_journal
from tests.plugin.survival_support import ROOT, Finished, Place, Session
from tests.plugin.trial_support import GOOD, SUITE, tasks
from tests.processes import wait_until
from tests.trial.quota import FILES

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="looks processes up in /proc")

# Does what the number of its task says, once; it always leaves a child behind that ignores SIGTERM.
AGENT = f"""#!/bin/sh
marks=$(dirname "$0")/marks
for number in 1 2 3 4 5 6; do case $1 in *"($number)"*) task=$number;; esac; done
echo "$task" >> "$marks/asked"
(trap "" TERM; sleep 6; echo late >> "$marks/late") > /dev/null 2>&1 &
if [ "$task" = 3 ] && [ ! -e "$marks/tame" ]; then
    sleep 0.3  # by then its starter knows that it runs
    echo $$ > "$marks/program"
    sleep 600
fi
{GOOD}
"""


class TrialProject(Place):
    """Six tasks with two arms each; the agent hangs at the third one until it is tamed."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        for name, text in FILES.items():
            place = folder / "Q" / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
        (self.root / "test_suite.py").write_text(SUITE)
        found = [{**task, "snapshot": "../Q"} for task in tasks(6)]
        (self.root / "tasks.json").write_text(json.dumps({"partition": "pilot", "tasks": found}))
        agent = self.root / "agent.sh"
        agent.write_text(AGENT)
        agent.chmod(0o755)

    arms = "none,grep"

    def ask(self, *words: str) -> Session:
        """Start a trial."""
        return self.start("--tasks=tasks.json", "--agent=script:agent.sh", *words)

    def resume(self, *words: str) -> Finished:
        """Take the trial up, with an agent that no longer hangs."""
        (self.marks / "tame").touch()
        return self.ask("--retrieval-resume", *words).end()

    def journalled_runs(self) -> dict[tuple[str, str], Mapping[str, Any]]:
        """The invocations of the journal by task and arm."""
        records = [json.loads(payload) for payload in read_journal(self.journal)[1].values()]
        return {(record["task"], record["arm"]): record["run"] for record in records}

    def asked(self) -> list[str]:
        return (self.marks / "asked").read_text().split()

    def same(self) -> bytes:
        """The report as every run of the trial has it."""
        return encode(strip_times(self.read_report()))

    def assert_all_is_over(self) -> None:
        """No process of the trial lives, no file of it is left, and none writes any more."""
        self.assert_nothing_is_left()
        assert not (self.marks / "late").exists()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The report of a run in which nothing happens."""
    project = TrialProject(tmp_path_factory.mktemp("undisturbed"))
    (project.marks / "tame").touch()
    done = project.ask("-n0").end()
    assert done.code == 0, done.output
    assert len(project.asked()) == 12
    project.assert_all_is_over()
    return project.same()


KILLS = [
    pytest.param("-n0", signal.SIGKILL, id="kill"),
    pytest.param("-n2", signal.SIGKILL, id="kill-workers"),
    pytest.param("-n0", signal.SIGTERM, id="term"),
    pytest.param("-n2", signal.SIGTERM, id="term-workers"),
    pytest.param("-n0", signal.SIGINT, id="int"),
]


@pytest.mark.parametrize(("workers", "number"), KILLS)
def test_case_81_ended_half_way_and_taken_up(
    tmp_path: Path, workers: str, number: signal.Signals, undisturbed: bytes
) -> None:
    project = TrialProject(tmp_path)
    session = project.ask(workers)
    project.wait_for("program")
    os.kill(session.process.pid, number)
    done = session.end()
    wait_until(lambda: not project.programs("sleep"), "the end of the agent and of its children")
    if number != signal.SIGKILL:
        assert done.code == pytest.ExitCode.INTERRUPTED, done.output
        done.line("interrupted:", "no report was written", str(project.journal))
        assert "Traceback" not in done.output
        project.assert_all_is_over()
    assert not project.report.exists()
    finished = project.journalled_runs()
    assert 4 <= len(finished) < 12
    assert ("q3", "none") not in finished

    before = len(project.asked())
    done = project.resume(workers)
    assert done.code == 0, done.output
    assert len(project.asked()) == before + 12 - len(finished)  # only what had not finished
    assert project.same() == undisturbed
    assert not list(project.report.parent.glob("*.journal*"))
    project.assert_all_is_over()


def test_a_run_that_was_taken_up_can_be_killed_and_taken_up_again(tmp_path: Path, undisturbed: bytes) -> None:
    project = TrialProject(tmp_path)
    for words in ((), ("--retrieval-resume",)):
        session = project.ask("-n0", *words)
        project.wait_for("program")
        session.process.kill()
        session.end()
        project.sessions.clear()
        (project.marks / "program").unlink()
        wait_until(lambda: not project.programs("sleep"), "the end of the agent")
        assert len(project.journalled_runs()) == 4
    assert project.resume("-n2").code == 0
    assert project.same() == undisturbed
    assert len(project.asked()) == 14  # twelve, and the third twice in vain
    project.assert_all_is_over()


def test_a_run_that_is_killed_within_its_first_invocation_is_taken_up(tmp_path: Path) -> None:
    project = TrialProject(tmp_path)
    agent = project.root / "agent.sh"
    agent.write_text(AGENT.replace('"$task" = 3', '"$task" = 1'))
    session = project.ask("-n0")
    project.wait_for("program")
    session.process.kill()
    session.end()
    wait_until(lambda: not project.programs("sleep"), "the end of the agent")
    assert project.journalled_runs() == {}
    done = project.resume("-n0")
    assert done.code == 0, done.output
    assert len(project.asked()) == 13
    assert len(project.read_report()["details"]) == 6
    project.assert_all_is_over()


def test_a_killed_worker_loses_the_task_that_it_ran(tmp_path: Path, undisturbed: bytes) -> None:
    project = TrialProject(tmp_path)
    session = project.ask("-n2")
    (agent,) = project.wait_for("program")
    os.kill(worker_of(agent), signal.SIGKILL)
    (project.marks / "tame").touch()
    done = session.end()
    assert done.code == pytest.ExitCode.TESTS_FAILED, done.output
    report = project.read_report()
    assert [(lost["id"], lost["why"]) for lost in report["selection"]["lost"]] == [("q3", "worker died")]
    others = [detail for detail in strip_times(report)["details"] if detail["id"] != "q3"]
    known = json.loads(undisturbed)["details"]
    assert others == [detail for detail in known if detail["id"] != "q3"]
    project.assert_all_is_over()


def worker_of(agent: int) -> int:
    """The process of pytest above an agent: between them stands the guard of the agent's group, if any."""
    pid = agent
    while True:
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        words = Path(f"/proc/{pid}/cmdline").read_text().split("\0")
        if os.path.normpath(sys.executable) in map(os.path.normpath, words):
            return pid


def test_the_embedded_trial_runs_by_name(tmp_path: Path) -> None:
    project = TrialProject(tmp_path)
    (project.marks / "asked").touch()
    session = project.start(str(ROOT / "suites" / "trial"), "--max-samples=2", "-n0")
    done = session.end()
    assert done.code == 0, done.output
    assert project.read_report()["partition"] == "embedded"
    project.assert_nothing_is_left()
