"""A run that is interrupted, killed, or out of disk keeps what it had, says so, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from tests.plugin.survival_support import OLDER_REPORT, Project
from tests.processes import wait_until

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
    project.report.write_text(OLDER_REPORT)
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
    assert project.report.read_text() == OLDER_REPORT
    line = done.line("interrupted:", str(project.journal))
    assert f"{len(kept)} of 24 samples" in line
    assert "Traceback" not in done.output
    project.assert_nothing_is_left()


@pytest.mark.parametrize("workers", ["-n0", "-n2"])
@pytest.mark.parametrize("pause", [0.01, 0.1])
def test_a_second_interrupt_hard_upon_the_first_loses_nothing(
    tmp_path: Path, workers: str, pause: float
) -> None:
    """It must not tear the handling of the first: the journal stays, and so does the older report."""
    project = Project(tmp_path, {13: "hang"})
    project.report.write_text(OLDER_REPORT)
    session = project.start(workers)
    project.wait_for("m013", "program")
    session.signal_group(signal.SIGINT)
    time.sleep(pause)
    session.signal_group(signal.SIGINT)
    done = session.end()
    assert done.code == pytest.ExitCode.INTERRUPTED, done.output
    assert project.report.read_text() == OLDER_REPORT
    assert f"{len(project.journalled())} of 24 samples" in done.line("interrupted:", str(project.journal))
    assert "Traceback" not in done.output
    assert "Warning" not in done.output
    project.assert_nothing_is_left()


@pytest.mark.parametrize("dist", ["load", "worksteal"])
@pytest.mark.parametrize(
    "dying", [(13,), (0,), (23,), (4, 9, 14, 19)], ids=["middle", "first", "last", "four"]
)
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
    assert "ran again" not in done.output
    project.assert_nothing_is_left()


@pytest.mark.parametrize("dist", ["loadfile", "loadscope"])
def test_modes_that_run_an_item_again_whose_worker_died_are_named(tmp_path: Path, dist: str) -> None:
    project = Project(tmp_path, {0: "die"}, count=3)
    done = project.run("-n2", f"--dist={dist}", "--max-worker-restart=1")
    assert done.code == pytest.ExitCode.TESTS_FAILED, done.output
    assert "1 sample that a worker died of ran again, up to 2 times in all" in done.line("ran again")
    (crashed,) = project.read_report()["details"]
    assert (crashed["status"], crashed["attempts"]) == ("crashed", 2)
    project.assert_nothing_is_left()


def test_a_killed_worker_where_the_plugin_for_reruns_is_installed(tmp_path: Path) -> None:
    pytest.importorskip("pytest_rerunfailures", reason="asks the scheduler about a killed worker's item")
    done = (project := Project(tmp_path, {13: "die"})).run("-n2", "-p", "pytest_rerunfailures")
    assert done.code == pytest.ExitCode.TESTS_FAILED, done.output
    assert "INTERNALERROR" not in done.output
    assert {lost["id"] for lost in project.read_report()["selection"]["lost"]} == {"s013"}


KILLING = """

@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node):
    send = node.sendcommand

    def sendcommand(name, **arguments):
        if name == "runtests" and not (MARKS / "killed").exists():
            mark("killed")
            process = node.gateway._io.popen
            process.kill()
            process.wait()
        send(name, **arguments)

    vars(node)["sendcommand"] = sendcommand
"""


@pytest.mark.parametrize("dist", ["load", "worksteal"])
def test_work_that_is_sent_to_a_worker_that_has_just_died_ends_no_run(tmp_path: Path, dist: str) -> None:
    project = Project(tmp_path)
    with (project.root / "conftest.py").open("a") as conftest:
        conftest.write(KILLING)
    done = project.run("-n2", f"--dist={dist}")
    assert (project.marks / "killed").exists()
    assert "INTERNALERROR" not in done.output, done.output
    found = project.reported()
    assert found.keys() == ALL
    lost = [name for name, detail in found.items() if detail["status"] == "crashed"]
    assert len(lost) <= (1 if dist == "worksteal" else 0)  # xdist's own scheduler believes that one was run
    project.assert_nothing_is_left()


def test_the_programs_and_work_trees_of_a_killed_worker_go_with_it(tmp_path: Path) -> None:
    project = Project(tmp_path, {0: "wait", 1: "hang"})
    session = project.start("-n2")
    _, worker, _ = project.wait_for("m000", "m001", "program")
    os.kill(worker, signal.SIGKILL)
    wait_until(lambda: not project.programs("sleep"), "the end of the worker's programs")
    (project.marks / "go").touch()
    done = session.end()
    assert done.code == pytest.ExitCode.TESTS_FAILED, done.output
    assert [lost["id"] for lost in project.read_report()["selection"]["lost"]] == ["s001"]
    project.assert_nothing_is_left()


def test_all_workers_killed_at_once(tmp_path: Path, undisturbed: dict[str, dict[str, Any]]) -> None:
    project = Project(tmp_path, {6: "wait", 7: "wait"})
    session = project.start("-n2")
    for worker in project.wait_for("m006", "m007"):
        os.kill(worker, signal.SIGKILL)
    done = session.end()
    assert done.code == pytest.ExitCode.TESTS_FAILED, done.output
    found = project.reported()
    lost = {"s006", "s007"}
    assert {name for name, detail in found.items() if detail["status"] == "crashed"} == lost
    assert {name: found[name] for name in ALL - lost} == {name: undisturbed[name] for name in ALL - lost}
    project.assert_nothing_is_left()


@pytest.mark.parametrize("when", ["configure", "collection"])
def test_a_worker_that_dies_before_its_first_item_is_replaced(
    tmp_path: Path, when: str, undisturbed: dict[str, dict[str, Any]]
) -> None:
    project = Project(tmp_path)
    done = project.run("-n2", DIE_AT=when)
    assert done.code == 0, done.output
    assert project.reported() == undisturbed
    project.assert_nothing_is_left()


@pytest.mark.parametrize(
    ("words", "died"),
    [
        pytest.param(("--max-worker-restart=0",), range(1, 3), id="no-restart"),
        pytest.param(("--max-worker-restart=1",), range(2, 4), id="one-restart"),
        pytest.param(("--dist=worksteal", "--max-worker-restart=1"), range(2, 4), id="worksteal"),
    ],
)
def test_workers_that_die_in_every_item(tmp_path: Path, words: tuple[str, ...], died: range) -> None:
    project = Project(tmp_path, dict.fromkeys(range(24), "leave"))
    done = project.run("-n2", "--gate=steady: recall@5 >= 0", *words)
    assert done.code == pytest.ExitCode.TESTS_FAILED, done.output
    report = project.read_report()
    lost = report["selection"]["lost"]
    assert {item["id"] for item in lost} == ALL
    crashed = [detail["id"] for detail in report["details"]]
    assert len(crashed) in died
    assert {item["id"] for item in lost if item["why"] != "not run"} == set(crashed)
    assert [gate["status"] for gate in report["gates"]] == ["undecidable"]
    assert "Traceback" not in done.output
    project.assert_nothing_is_left()


def test_the_workers_of_a_killed_controller_end_by_themselves(tmp_path: Path) -> None:
    project = Project(tmp_path, {13: "hang"})
    session = project.start("-n2")
    project.wait_for("m013", "program")
    session.process.kill()
    session.end()
    project.assert_nothing_is_left()


def test_the_next_run_removes_what_a_killed_one_left_and_spares_one_that_lives(tmp_path: Path) -> None:
    (tmp_path / "living").mkdir()
    (tmp_path / "killed").mkdir()
    killed = Project(tmp_path / "killed", {13: "hang"})
    living = Project(tmp_path / "living", {13: "wait"})
    other = living.start("-n1", TMPDIR=str(killed.temporary))
    living.wait_for("m013")
    before = roots(killed)
    session = killed.start("-n0")
    killed.wait_for("m013", "program")
    session.signal_group(signal.SIGKILL)
    session.end()
    wait_until(lambda: not killed.programs("sleep"), "the end of the killed run's programs")
    assert len(roots(killed)) == 2

    assert killed.run("-n0", TAME="1").code == 0
    assert roots(killed) == before
    (living.marks / "go").touch()
    assert other.end().code == 0
    assert living.reported().keys() == ALL
    killed.assert_nothing_is_left()


def roots(project: Project) -> list[str]:
    return [path for path in project.left() if path.count("/") == 1 and not path.endswith(".lock")]


@pytest.mark.parametrize(("workers", "number"), [("-n0", signal.SIGINT), ("-n2", signal.SIGTERM)])
def test_an_interrupt_after_the_last_item_keeps_the_report(
    tmp_path: Path, workers: str, number: signal.Signals, undisturbed: dict[str, dict[str, Any]]
) -> None:
    project = Project(tmp_path)
    session = project.start(workers, LINGER="1")
    project.wait_for("linger")
    os.kill(session.process.pid, number)
    done = session.end()
    assert done.code == pytest.ExitCode.INTERRUPTED, done.output
    assert project.reported() == undisturbed
    done.line("report: ")
    assert "Traceback" not in done.output
    project.assert_nothing_is_left()


def test_an_interrupt_ends_an_arm_that_does_not_close(tmp_path: Path) -> None:
    project = Project(tmp_path, {23: "tree"})
    session = project.start("-n0", SLOW_CLOSE="1")
    (controller,) = project.wait_for("closing")
    os.kill(controller, signal.SIGINT)
    done = session.end()
    assert done.code == 0, done.output
    assert project.reported().keys() == ALL
    assert "Traceback" not in done.output
    project.assert_nothing_is_left()


def test_an_interrupt_before_the_first_outcome_keeps_an_older_journal(tmp_path: Path) -> None:
    project = Project(tmp_path, {0: "wait"})
    older = '{"profile":"pytest-retrieval/1","version":"0"}\n'
    project.journal.write_text(older)
    session = project.start("-n0")
    project.wait_for("m000")
    session.signal_group(signal.SIGINT)
    done = session.end()
    assert done.code == pytest.ExitCode.INTERRUPTED
    assert "0 of 24 samples" in done.line("interrupted:")
    assert project.journal.read_text() == older
    project.assert_nothing_is_left()


@pytest.mark.parametrize("workers", ["-n0", "-n2"])
def test_an_arm_that_fails_costs_its_own_row(tmp_path: Path, workers: str) -> None:
    """So does one whose program runs out of time; what an arm does to its work tree goes with the tree."""
    project = Project(tmp_path, {3: "fail", 8: "overrun", 13: "spoil", 18: "quit"})
    done = project.run(workers)
    assert done.code == pytest.ExitCode.TESTS_FAILED, done.output
    details = {detail["id"]: detail for detail in project.read_report()["details"]}
    assert details.keys() == ALL
    faults = {name: detail["arms"]["wild"].get("error") for name, detail in details.items()}
    assert {name: fault for name, fault in faults.items() if fault} == {
        "s003": "RuntimeError: this arm fails on request",
        "s008": "TimeoutError: the program ran out of time",
        "s013": "work tree left dirty: ?? away",
        "s018": "SystemExit: 9",
    }
    assert all("error" not in detail["arms"]["steady"] for detail in details.values())
    assert "closing it failed: RuntimeError: this arm cannot be closed" in done.output
    project.assert_nothing_is_left()


# xdist waits twice as long as this for a worker whose output is held open by somebody else.
IMPATIENT = """
from xdist.workermanage import NodeManager

NodeManager.EXIT_TIMEOUT = 1
"""


@pytest.mark.parametrize("workers", ["-n0", "-n2"])
def test_a_process_that_an_arm_forked_and_forgot_holds_no_folder(tmp_path: Path, workers: str) -> None:
    project = Project(tmp_path, {5: "fork"})
    with (project.root / "conftest.py").open("a") as conftest:
        conftest.write(IMPATIENT)
    session = project.start(workers)
    (forked,) = project.wait_for("m005")
    wait_until(lambda: project.report.exists() and project.left() == [], "the folder's end")
    os.kill(forked, signal.SIGKILL)  # it has the session's output, too, and so its end
    assert session.end().code == 0
    project.assert_nothing_is_left()


SLOW = """
def close(self):
    time.sleep(1)
    (MARKS / f"closed-{os.getpid()}").touch()

Wild.close = close

def pytest_unconfigure(config):
    if not hasattr(config, "workerinput"):
        (MARKS / "end").write_text(str(len(list(MARKS.glob("closed-*")))))
"""


@pytest.mark.parametrize("workers", [1, 3])
def test_a_run_is_over_when_its_workers_are(tmp_path: Path, workers: int) -> None:
    project = Project(tmp_path)
    with (project.root / "conftest.py").open("a") as conftest:
        conftest.write(SLOW)
    assert project.run(f"-n{workers}").code == 0
    assert (project.marks / "end").read_text() == str(workers)


COUNTING = """
import gc
import pytest
from pytest_retrieval.bench.judge import Outcome

@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session):
    found = gc.get_objects()
    outcomes = [thing for thing in found if isinstance(thing, Outcome)]
    reports = [vars(thing) for thing in found if isinstance(thing, pytest.TestReport)]
    kept = len(outcomes) + sum("retrieval_outcome" in fields for fields in reports)
    (MARKS / f"kept-{os.getpid()}").write_text(str(kept))
"""


@pytest.mark.parametrize(("workers", "processes"), [("-n0", 1), ("-n2", 3)])
def test_outcomes_do_not_pile_up_in_any_process(tmp_path: Path, workers: str, processes: int) -> None:
    project = Project(tmp_path)
    with (project.root / "conftest.py").open("a") as conftest:
        conftest.write(COUNTING)
    assert project.run(workers).code == 0
    kept = [int(mark.read_text()) for mark in project.marks.glob("kept-*")]
    assert len(kept) == processes
    assert max(kept) <= 1  # the last one may still be in somebody's hands


@pytest.mark.parametrize("workers", ["-n0", "-n2"])
def test_a_journal_that_cannot_be_written_harms_nothing(tmp_path: Path, workers: str) -> None:
    project = Project(tmp_path)
    done = project.run(workers, FULL="journal")
    assert done.code == 0, done.output
    assert project.reported().keys() == ALL
    done.line("cannot write the journal", "No space left on device")
    project.assert_nothing_is_left()


def test_a_report_that_cannot_be_written_is_rescued(tmp_path: Path, undisturbed: dict[str, Any]) -> None:
    project = Project(tmp_path)
    project.report.write_text(OLDER_REPORT)
    done = project.run("-n0", FULL="report")
    assert done.code == pytest.ExitCode.TESTS_FAILED
    assert project.report.read_text() == OLDER_REPORT
    line = done.line("cannot write the report", "No space left on device", "it was written to")
    project.report = Path(line.rpartition(" ")[2])
    assert project.reported() == undisturbed
    assert "Traceback" not in done.output


def test_a_full_disk_keeps_what_fits_and_says_what_does_not(tmp_path: Path) -> None:
    """No file may grow beyond 8,000 bytes: neither journal nor report fit, here or elsewhere."""
    project = Project(tmp_path)
    project.report.write_text(OLDER_REPORT)
    done = project.run("-n0", LARGEST_FILE="8000")
    assert done.code == pytest.ExitCode.TESTS_FAILED
    assert project.report.read_text() == OLDER_REPORT
    done.line("cannot write the journal", "File too large")
    done.line("cannot write the report", "File too large", "the outcomes could be written nowhere")
    assert 0 < len(project.journalled()) < 24
    assert "Traceback" not in done.output
    project.assert_nothing_is_left()


def test_an_interrupted_run_with_a_full_disk_saves_its_outcomes_elsewhere(tmp_path: Path) -> None:
    project = Project(tmp_path, {13: "hang"})
    session = project.start("-n0", FULL="journal")
    project.wait_for("m013", "program")
    session.signal_group(signal.SIGINT)
    done = session.end()
    assert done.code == pytest.ExitCode.INTERRUPTED
    done.line("cannot write the journal", "No space left on device")
    project.journal = Path(done.line("interrupted:").rpartition(" ")[2])
    assert len(project.journalled()) == 12
    project.journal.unlink()
    project.journal.parent.rmdir()
    assert project.left() == []


def test_a_report_that_will_not_be_writable_ends_the_run_before_it_starts(tmp_path: Path) -> None:
    project = Project(tmp_path, {0: "die"})
    project.report.mkdir()
    done = project.run("-n0")
    assert done.code == pytest.ExitCode.USAGE_ERROR
    done.line("ERROR", "cannot write the report", "it is a folder")
    (project.root / ".retrieval").touch()
    for workers in ("-n0", "-n2"):
        done = project.run(workers, "--report=")
        assert done.code == pytest.ExitCode.USAGE_ERROR, done.output
        done.line("ERROR", ".retrieval", "File exists")
        assert "Traceback" not in done.output
    project.assert_nothing_is_left()
