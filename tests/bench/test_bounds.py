"""The time bound of arms in this process: what ends late, what it leaves, and who else has an alarm."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, ClassVar

import pytest

from pytest_retrieval.arms.base import Arm
from pytest_retrieval.arms.corvint_verb import CorvintVerb
from pytest_retrieval.arms.engine.arm import EngineArm
from pytest_retrieval.arms.registry import ArmSpec
from pytest_retrieval.bench.bounds import within
from pytest_retrieval.bench.judge import Judge
from pytest_retrieval.errors import ArmError
from pytest_retrieval.model import Capabilities, Query
from pytest_retrieval.programs.interrupts import postponed_interrupts
from pytest_retrieval.programs.process import run
from tests.arms.support import snapshot_of
from tests.bench.test_judge import FILES, SAMPLE

LATE = "timed out after 0.1 s"


def sleeping() -> list[str]:
    time.sleep(60)
    return ["b.c"]


def busy() -> list[str]:
    while True:
        pass


def swallowing() -> list[str]:
    with contextlib.suppress(BaseException):
        time.sleep(60)
    return ["b.c"]


def covering() -> list[str]:
    """Makes another exception of its interruption, of a kind that pytest treats as its own."""
    try:
        time.sleep(60)
    except BaseException as error:  # noqa: BLE001
        pytest.skip(str(error))
    return ["b.c"]


def lazy() -> Iterator[str]:
    yield "b.c"
    time.sleep(60)


def program() -> list[str]:
    run(["sleep", "60"], timeout=60)
    return ["b.c"]


@pytest.fixture(autouse=True)
def _nothing_is_left() -> Iterator[None]:
    before = signal.getsignal(signal.SIGALRM)
    yield
    assert signal.getsignal(signal.SIGALRM) is before
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


class Timed(Arm):
    """Answers by a function, within the time that it declares."""

    name: ClassVar[str] = "timed"

    def __init__(self, function: Callable[[], Any], timeout: Any) -> None:
        self.capabilities = Capabilities(timeout=timeout)
        self.function = function

    def rank(self, query: Query) -> Any:
        return self.function()


def judged(arm: Arm) -> dict[str, Any]:
    outcome = Judge([ArmSpec("x", "x", lambda: arm)], 20).judge(SAMPLE, lambda: snapshot_of(FILES))
    row: dict[str, Any] = outcome.detail["arms"]["x"]
    assert outcome.faults == ((f"x: {row['error']}",) if "error" in row else ())
    return row


@pytest.mark.parametrize("function", [sleeping, busy, swallowing, covering, lazy, program])
def test_an_arm_that_takes_longer_than_it_declares_is_a_fault(function: Callable[[], Any]) -> None:
    row = judged(Timed(function, 0.1))
    assert row["error"] == LATE
    assert "refused" not in row
    assert row["ranked"] == []
    assert 100 <= row["wall_ms"] < 50_000


@pytest.mark.parametrize("timeout", [None, 0, 60, 60.5])
def test_an_arm_in_time_is_not_disturbed(timeout: float | None) -> None:
    row = judged(Timed(lambda: ["b.c"], timeout))
    assert row["ranked"] == ["b.c"]
    assert "error" not in row


@pytest.mark.parametrize(
    ("timeout", "shown"), [(-1, "-1"), (float("inf"), "inf"), (float("nan"), "nan"), ("1s", "'1s'")]
)
def test_what_is_no_time_is_a_fault(timeout: Any, shown: str) -> None:
    row = judged(Timed(lambda: ["b.c"], timeout))
    assert row["error"] == f"capabilities.timeout must be a number of seconds, not {shown}"


def test_the_next_query_has_its_whole_time() -> None:
    arm = Timed(sleeping, 0.1)
    judge = Judge([ArmSpec("x", "x", lambda: arm)], 20)
    snapshot = snapshot_of(FILES)
    errors = []
    for function in (sleeping, lambda: ["b.c"], sleeping):
        arm.function = function
        errors.append(judge.judge(SAMPLE, lambda: snapshot).detail["arms"]["x"].get("error"))
    assert errors == [LATE, None, LATE]


def test_preparing_is_not_under_the_bound() -> None:
    class Slow(Timed):
        def prepare(self, snapshot: Any) -> None:
            time.sleep(0.2)
            super().prepare(snapshot)

    assert "error" not in judged(Slow(lambda: ["b.c"], 0.1))


def test_arms_that_ask_programs_keep_their_time_themselves() -> None:
    """Their programs are ended in order, which takes some time more."""

    class Program(Timed):
        keeps_timeout = True

        def rank(self, query: Query) -> Any:
            time.sleep(0.2)
            return ["b.c"]

    assert "error" not in judged(Program(sleeping, 0.1))
    assert CorvintVerb.keeps_timeout
    assert EngineArm.keeps_timeout


def test_an_arm_in_another_thread_is_found_late_afterwards() -> None:
    def slow() -> list[str]:
        time.sleep(0.2)
        return ["b.c"]

    def ask() -> None:
        rows.append(judged(Timed(slow, 0.1)))
        rows.append(judged(Timed(lambda: ["b.c"], 60)))

    rows: list[dict[str, Any]] = []
    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()
    assert [row.get("error") for row in rows] == [LATE, None]


def test_what_interrupts_a_run_is_no_timeout() -> None:
    def interrupted() -> list[str]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        judged(Timed(interrupted, 60))


def test_other_faults_stay_what_they_are() -> None:
    def failing() -> list[str]:
        raise TimeoutError("the arm's own")

    assert judged(Timed(failing, 60))["error"] == "TimeoutError: the arm's own"


class OtherError(Exception):
    """What the alarm of somebody else raises."""


@pytest.fixture
def alarm() -> Iterator[Callable[[float, float], object]]:
    """Sets an alarm of somebody else, pytest-timeout's for one."""

    def ring(number: int, frame: object) -> None:
        raise OtherError

    before = signal.signal(signal.SIGALRM, ring)
    yield partial(signal.setitimer, signal.ITIMER_REAL)
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def test_an_earlier_alarm_of_somebody_else_rings(alarm: Callable[[float, float], object]) -> None:
    alarm(0.1, 0)
    with pytest.raises(OtherError):
        within(30, sleeping)


def test_a_later_alarm_of_somebody_else_rings_when_it_would_have(
    alarm: Callable[[float, float], object],
) -> None:
    started = time.monotonic()
    alarm(2, 7)
    with pytest.raises(ArmError, match=LATE):
        within(0.1, sleeping)
    assert signal.getitimer(signal.ITIMER_REAL)[0] <= 2 - 0.1
    with pytest.raises(OtherError):
        time.sleep(60)
    assert time.monotonic() - started >= 2
    assert signal.getitimer(signal.ITIMER_REAL)[1] == 7


def test_a_later_alarm_that_is_over_by_then_rings_at_once(alarm: Callable[[float, float], object]) -> None:
    def stubborn() -> None:
        until = time.monotonic() + 1.6
        while time.monotonic() < until:
            with contextlib.suppress(BaseException):
                time.sleep(0.05)

    alarm(1.5, 0)
    with pytest.raises(OtherError):
        try:
            within(0.1, stubborn)
        except ArmError:
            time.sleep(60)


@pytest.mark.parametrize(("outer", "inner"), [(0.1, 30), (30, 0.1)])
def test_the_earlier_of_two_bounds_counts(outer: float, inner: float) -> None:
    with pytest.raises(ArmError, match=LATE):
        within(outer, lambda: within(inner, sleeping))


def test_an_arm_that_catches_its_interruption_again_and_again_can_be_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pytest_retrieval.bench.bounds._AGAIN", 0.05)

    def twice() -> None:
        with contextlib.suppress(BaseException):
            time.sleep(60)
        time.sleep(60)

    with pytest.raises(ArmError, match=LATE):
        within(0.1, twice)


def test_a_bound_waits_for_what_must_not_be_torn() -> None:
    done = []

    def careful() -> None:
        with postponed_interrupts():
            until = time.monotonic() + 0.2
            while time.monotonic() < until:
                time.sleep(0.01)
            done.append("whole")
        time.sleep(60)

    with pytest.raises(ArmError, match=LATE):
        within(0.1, careful)
    assert done == ["whole"]


def test_no_alarm_rings_after_the_end() -> None:
    """The bound ends about when the function does, at every turn of it."""
    for number in range(100):
        until = time.monotonic() + 0.002
        with contextlib.suppress(ArmError):
            within(0.002, lambda: spin(until - number % 20 / 1e5))  # noqa: B023


def spin(until: float) -> None:
    while time.monotonic() < until:
        pass
