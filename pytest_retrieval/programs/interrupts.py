"""The signals that end a run: made into one exception, and kept away from what must not be torn."""

from __future__ import annotations

import contextlib
import signal
import threading
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
