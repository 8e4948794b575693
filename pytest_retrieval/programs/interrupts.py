"""The signals that end a run: made into one exception, and kept away from what must not be torn."""

from __future__ import annotations

import contextlib
import math
import signal
import threading
import time
from collections.abc import Iterator
from typing import NoReturn


@contextlib.contextmanager
def interrupted_by_sigterm() -> Iterator[None]:
    """Within the block SIGTERM raises KeyboardInterrupt, as SIGINT does, unless it is handled already."""
    if not _in_main_thread() or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


class Interrupts:
    """The handler of a run's interrupts, once :meth:`installed`: SIGINT and SIGTERM raise KeyboardInterrupt.

    Who presses Ctrl-C twice means it once. What follows hard upon an interrupt would hit its handling instead
    of the work, and is dropped; so is what comes while the run is :meth:`held`, to keep what it has.
    """

    def __init__(self) -> None:
        self.held = False
        self._latest = -math.inf

    @contextlib.contextmanager
    def installed(self) -> Iterator[None]:
        """Within the block signals come here, unless somebody else handles them already.

        SIGINT stays with an interrupted run, so that none tears the end of its process: after that moment it
        does what it does by default.
        """
        defaults = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}
        own = {number: old for number, old in defaults.items() if signal.getsignal(number) is old}
        if not _in_main_thread():
            own.clear()
        for number in own:
            signal.signal(number, self._handle)
        try:
            yield
        finally:
            if self._latest > -math.inf:
                self._latest = time.monotonic()
                own.pop(signal.SIGINT, None)
            for number, old in own.items():
                signal.signal(number, old)

    def _handle(self, number: int, frame: object) -> None:
        now = time.monotonic()
        if self.held or now - self._latest < _HASTE:
            return
        self._latest = now
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        _interrupt(number, frame)


_HASTE = 1.0  # seconds
_POSTPONED = (signal.SIGINT, signal.SIGTERM, signal.SIGALRM)  # the alarm of an arm's bound comes last


@contextlib.contextmanager
def postponed_interrupts() -> Iterator[None]:
    """SIGINT, SIGTERM and SIGALRM that come within the block are handled at its end; for short blocks."""
    if not _in_main_thread():
        yield
        return
    came: list[int] = []
    found = {number: signal.getsignal(number) for number in _POSTPONED}
    handlers = {number: handler for number, handler in found.items() if callable(handler)}
    for number in handlers:
        signal.signal(number, lambda number, _: came.append(number))
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        if came:
            signal.raise_signal(min(came, key=_POSTPONED.index))


def _in_main_thread() -> bool:
    """Only there handlers may be set."""
    return threading.current_thread() is threading.main_thread()


def _interrupt(number: int, frame: object) -> NoReturn:
    raise KeyboardInterrupt(signal.Signals(number).name)
