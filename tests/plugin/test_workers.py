"""The end of a run with workers, as far as no process is needed to see it."""

from __future__ import annotations

import subprocess
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_retrieval.plugin.workers import Workers


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
