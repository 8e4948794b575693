"""SIGTERM is an interrupt like SIGINT, and neither tears what must stay whole."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from pytest_retrieval.programs.interrupts import Interrupts, interrupted_by_sigterm, postponed_interrupts
from pytest_retrieval.programs.process import run


@pytest.fixture(autouse=True)
def unchanged() -> Iterator[None]:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    yield
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


def test_sigterm_interrupts_within_the_block() -> None:
    with pytest.raises(KeyboardInterrupt, match="SIGTERM"), interrupted_by_sigterm():
        signal.raise_signal(signal.SIGTERM)


def test_a_handler_of_somebody_else_stays() -> None:
    came: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _: came.append(number))
    try:
        with interrupted_by_sigterm():
            signal.raise_signal(signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert came == [signal.SIGTERM]


def test_outside_the_main_thread_nothing_changes() -> None:
    def enter() -> None:
        with interrupted_by_sigterm(), postponed_interrupts():
            found.append(signal.getsignal(signal.SIGTERM))

    found: list[object] = []
    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert found == [signal.SIG_DFL]


def test_an_interrupt_goes_before_an_alarm_that_came_first() -> None:
    came: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda number, _: came.append(number))
    try:
        with pytest.raises(KeyboardInterrupt), postponed_interrupts():
            signal.raise_signal(signal.SIGALRM)
            signal.raise_signal(signal.SIGINT)
        assert came == []
        with postponed_interrupts():
            signal.raise_signal(signal.SIGALRM)
            assert came == []
        assert came == [signal.SIGALRM]
    finally:
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_waits_for_the_end_of_the_block(number: signal.Signals) -> None:
    done = False
    with pytest.raises(KeyboardInterrupt), interrupted_by_sigterm(), postponed_interrupts():
        os.kill(os.getpid(), number)
        done = True
    assert done


@pytest.fixture
def own_handlers() -> Iterator[None]:
    """SIGINT stays with an interrupted run."""
    before = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("own_handlers")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_hard_upon_another_is_dropped(
    number: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr("pytest_retrieval.programs.interrupts.time.monotonic", lambda: now)
    interrupts = Interrupts()
    with interrupts.installed():
        with pytest.raises(KeyboardInterrupt) as caught:
            signal.raise_signal(number)
        assert str(caught.value) == ("SIGTERM" if number == signal.SIGTERM else "")
        now = 100.9
        signal.raise_signal(number)
        now = 101.1
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(number)
        now = 110.0
        interrupts.held = True
        signal.raise_signal(number)
        interrupts.held = False
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(number)
        now = 120.0
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    now = 120.9
    signal.raise_signal(signal.SIGINT)  # the end of the process is not torn, either
    now = 121.1
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_the_handlers_of_a_run_without_an_interrupt_go_with_it() -> None:
    interrupts = Interrupts()
    with interrupts.installed():
        assert signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_interrupt_while_a_program_starts_ends_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[subprocess.Popen[bytes]] = []

    class Interrupted(subprocess.Popen[bytes]):
        def __init__(self, *words: Any, **more: Any) -> None:
            super().__init__(*words, **more)
            started.append(self)
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("pytest_retrieval.programs.groups.subprocess.Popen", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(["sleep", "300"], timeout=300)
    assert [process.returncode for process in started] == [-signal.SIGKILL]
