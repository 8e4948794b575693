"""A run that is interrupted, killed, or out of disk keeps what it had, says so, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.plugin.survival_support import Project, wait_until

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="looks processes up in /proc")

ALL = {f"s{number:03d}" for number in range(24)}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """The details of a run in which nothing happens, by sample."""
    project = Project(tmp_path_factory.mktemp("undisturbed"))
    done = project.run(TAME="1")
    assert done.code == 0, done.output
    project.assert_nothing_is_left()
    return project.reported()


INTERRUPTS = [
    pytest.param("-n0", "group", signal.SIGINT, id="ctrl-c"),
    pytest.param("-n2", "group", signal.SIGINT, id="ctrl-c-workers"),
    pytest.param("-n0", "controller", signal.SIGTERM, id="term"),
    pytest.param("-n2", "controller", signal.SIGTERM, id="term-workers"),
    pytest.param("-n2", "worker", signal.SIGTERM, id="term-a-worker"),
]


@pytest.mark.parametrize(("workers", "whom", "number"), INTERRUPTS)
def test_an_interrupt_in_the_middle(
    tmp_path: Path, workers: str, whom: str, number: signal.Signals, undisturbed: dict[str, dict[str, Any]]
) -> None:
    project = Project(tmp_path, {13: "hang"})
    project.report.write_text("an older report\n")
    session = project.start(workers)
    worker, _ = project.wait_for("m013", "program")
    if whom == "group":
        session.signal_group(number)
    else:
        os.kill(worker if whom == "worker" else session.process.pid, number)
    done = session.end()

    assert done.code == pytest.ExitCode.INTERRUPTED, done.output
    kept = project.journalled()
    assert 0 < len(kept) < 24
    assert "s013" not in kept
    assert kept == {name: undisturbed[name] for name in kept}
    assert project.report.read_text() == "an older report\n"
    line = done.line("interrupted:", str(project.journal))
    assert f"{len(kept)} of 24 samples" in line
    assert "Traceback" not in done.output
    project.assert_nothing_is_left()


@pytest.mark.parametrize("dist", ["load", "worksteal"])
@pytest.mark.parametrize("dying", [(13,), (0,), (23,), (4, 9, 14, 19)], ids=["middle", "first", "last", "four"])
def test_a_killed_worker_loses_the_item_that_it_ran(
    tmp_path: Path, dist: str, dying: tuple[int, ...], undisturbed: dict[str, dict[str, Any]]
) -> None:
    project = Project(tmp_path, dict.fromkeys(dying, "die"))
    done = project.run("-n2", f"--dist={dist}", "--gate=steady: recall@5 >= 0")

    assert done.code == pytest.ExitCode.TESTS_FAILED, done.output
    names = {f"s{number:03d}" for number in dying}
    found = project.reported()
    assert found.keys() == ALL
    assert {name for name, detail in found.items() if detail["status"] == "crashed"} == names
    assert {name: found[name] for name in ALL - names} == {name: undisturbed[name] for name in ALL - names}
    report = project.read_report()
    assert {lost["id"] for lost in report["selection"]["lost"]} == names
    assert [gate["status"] for gate in report["gates"]] == ["undecidable"]
    assert not project.journal.exists()
    assert "Traceback" not in done.output
    project.assert_nothing_is_left()


def test_the_programs_and_work_trees_of_a_killed_worker_go_with_it(tmp_path: Path) -> None:
    project = Project(tmp_path, {13: "hang", 14: "wait"})
    session = project.start("-n2")
    worker, _, _ = project.wait_for("m013", "m014", "program")
    os.kill(worker, signal.SIGKILL)
    wait_until(lambda: not project.programs("sleep"), "the end of the worker's programs")
    (project.marks / "go").touch()
    done = session.end()
    assert done.code == pytest.ExitCode.TESTS_FAILED, done.output
    assert [lost["id"] for lost in project.read_report()["selection"]["lost"]] == ["s013"]
    project.assert_nothing_is_left()
