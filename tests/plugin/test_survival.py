"""A run that is interrupted, killed, or out of disk keeps what it had, says so, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.plugin.survival_support import Project

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
