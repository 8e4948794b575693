"""The end of a run with workers."""

from __future__ import annotations

import subprocess
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_retrieval.plugin.workers import Workers
from tests.plugin.support import Bench

pytest_plugins = ["pytester"]

SUMMARISED = """
import os

def pytest_terminal_summary(terminalreporter):
    with open(os.path.join(os.path.dirname(__file__), "summarised"), "a") as target:
        target.write(os.environ.get("PYTEST_XDIST_WORKER", "controller") + "\\n")
    terminalreporter.write_line("summary of another plugin")
"""


def test_the_controller_alone_makes_a_summary(bench: Bench) -> None:
    bench.write("conftest.py", SUMMARISED)
    result = bench.run("--release=release", "--arms=grep", "-n2")
    result.stdout.fnmatch_lines_random(["summary of another plugin", "grep *"])
    assert (bench.path / "summarised").read_text() == "controller\n"


def test_who_interrupts_the_wait_for_workers_ends_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """The report has been told by then: what is left is to wait, at most until xdist kills them."""
    process = subprocess.Popen(["sleep", "600"])
    joined: list[int | None] = []

    def join() -> None:
        joined.append(process.poll())
        if len(joined) == 1:
            raise KeyboardInterrupt
        process.wait(timeout=10)

    gateway = SimpleNamespace(spec=SimpleNamespace(popen=True), _io=SimpleNamespace(popen=process))
    workers: Any = Workers(SimpleNamespace())  # type: ignore[arg-type]  # its role is not asked
    monkeypatch.setattr(workers, "_nodes", [SimpleNamespace(gateway=gateway)])
    monkeypatch.setattr(workers, "_farewell", SimpleNamespace(join=join))
    try:
        workers.pytest_unconfigure()
    finally:
        process.kill()
    assert len(joined) == 2
    assert process.returncode == -15
