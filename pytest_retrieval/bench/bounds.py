"""The time that an arm in this process may take for one query, as it declares."""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import TypeVar

from pytest_retrieval.errors import ArmError

_AGAIN = 5.0  # seconds; an arm may catch what ends it, and what is raised in a destructor is lost

T = TypeVar("T")


class _ExpiredError(BaseException):
    """Ends what takes too long; no arm's ``except Exception`` is meant to catch it."""


def within(seconds: float | None, function: Callable[[], T]) -> T:
    """What ``function`` returns, or raises, if that takes at most ``seconds``; None or 0 is no bound.

    In the main thread the function is interrupted by SIGALRM. Elsewhere, or where the process has an earlier
    alarm of its own, which keeps its time, and where the function catches what interrupts it, the time is
    looked at afterwards. A call into C code is only interrupted at its end.

    Raises:
        ArmError: it took longer, or ``seconds`` is no time.
    """
    if not seconds:
        return function()
    if not isinstance(seconds, int | float) or not 0 < seconds < math.inf:
        raise ArmError(f"capabilities.timeout must be a number of seconds, not {seconds!r:.40}")
    started = time.monotonic()
    alarm = _Alarm(seconds)
    try:
        alarm.set()
        result = function()
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:
        alarm.open = False
        if time.monotonic() - started >= seconds:  # whatever the function made of its interruption
            raise ArmError(f"timed out after {seconds:g} s") from error
        raise
    finally:
        # Not one instruction may be between the return and this, for the alarm may come in between.
        alarm.open = False
        alarm.put_back()
    if time.monotonic() - started >= seconds:
        raise ArmError(f"timed out after {seconds:g} s")
    return result


class _Alarm:
    """The process's one timer, borrowed for ``seconds``; it rings in vain while not ``open``."""

    def __init__(self, seconds: float) -> None:
        self.open = False
        self._seconds = seconds
        self._handler = signal.getsignal(signal.SIGALRM)
        self._left, self._interval = signal.getitimer(signal.ITIMER_REAL)
        self._started = time.monotonic()
        self._borrowed = False

    def set(self) -> None:
        """Set the timer, if this thread may and nobody needs it before."""
        in_main = threading.current_thread() is threading.main_thread()
        is_needed = 0 < self._left <= self._seconds
        if in_main and not is_needed and self._handler is not None:  # None: set by C code, not to be put back
            self._borrowed = self.open = True
            signal.signal(signal.SIGALRM, self._ring)
            signal.setitimer(signal.ITIMER_REAL, self._seconds, _AGAIN)

    def put_back(self) -> None:
        """Restore the timer as it would be by now, and its handler."""
        if not self._borrowed:
            return
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self._handler)
        if self._left:
            left = self._left - (time.monotonic() - self._started)
            signal.setitimer(signal.ITIMER_REAL, max(left, 1e-6), self._interval)

    def _ring(self, number: int, frame: FrameType | None) -> None:
        if self.open:
            raise _ExpiredError
