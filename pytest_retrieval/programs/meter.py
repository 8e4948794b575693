"""Runs one program and tells how much memory it needed: this file, run as a script by a small interpreter.

A program that is started by a big process seems to need as much, for the high-water mark of the copy that
was to become it stays. So this script starts it, waits for it, and writes one line of JSON to a descriptor:
``peak`` is what the system says of the program and of the descendants that it waited for, the largest of
them; ``tree`` is the largest sum seen over all living processes of the tree (null where there is no
``/proc``); both in bytes. ``wall`` are the seconds from its start to its end. Then this script ends as the
program did. ``peak`` is never below what this script needs, about 10 MiB.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Iterator, Mapping

_PROCESSES = "/proc"
_FIRST = 0.005
_PAUSE = 0.05
_SHARE = 20  # looking takes one part of so many of the time
_UNIT = 1 if sys.platform == "darwin" else 1024  # of ru_maxrss, in bytes
_IGNORED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)
_DEFAULT = (*_IGNORED, signal.SIGPIPE, signal.SIGXFSZ)


class Tree:
    """The processes of a program: its descendants, and whatever is in its session.

    A process that was seen stays known, also where its parent ends before it does.
    """

    def __init__(self, program: int, session: int) -> None:
        self._session = session
        self._own = os.getpid()
        self._known: dict[int, int] = {program: 0}
        self._page = os.sysconf("SC_PAGE_SIZE")
        self.peak = 0

    def look(self) -> None:
        """Take the sum of the memory that the processes have now."""
        found = {pid: row for pid, *row in _processes() if pid != self._own}
        members = {pid for pid, row in found.items() if self._is_known(pid, row) or row[1] == self._session}
        grown = True
        while grown:
            more = {pid for pid, row in found.items() if row[0] in members} - members
            members |= more
            grown = bool(more)
        self._known = {pid: found[pid][2] for pid in members}
        self.peak = max(self.peak, self._page * sum(found[pid][3] for pid in members))

    def _is_known(self, pid: int, row: list[int]) -> bool:
        return self._known.get(pid) in (row[2], 0)


def _processes() -> Iterator[tuple[int, int, int, int, int]]:
    """Number, parent, session, start and resident pages of every process.

    Without pathlib, whose memory would count in the figures of small programs.
    """
    for name in os.listdir(_PROCESSES):  # noqa: PTH208
        if name.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError):
                with open(f"{_PROCESSES}/{name}/stat", encoding="latin-1") as file:  # noqa: PTH123
                    fields = file.read().rpartition(")")[2].split()
                yield int(name), int(fields[1]), int(fields[3]), int(fields[19]), int(fields[21])


def _watched(program: int) -> tuple[int, int, int | None]:
    """The wait status of the program, its peak and its tree's."""
    tree = Tree(program, os.getsid(0)) if os.path.isdir(_PROCESSES) else None  # noqa: PTH112
    pause = _FIRST
    while True:
        started = time.process_time()
        if tree is not None:
            tree.look()
        pause = max(min(2 * pause, _PAUSE), _SHARE * (time.process_time() - started))
        _wait(pause)
        done, status, usage = os.wait4(program, os.WNOHANG)
        if done:
            peak = usage.ru_maxrss * _UNIT
            return status, peak, None if tree is None else max(tree.peak, peak)


def _wait(seconds: float) -> None:
    """Until the program ends, or for ``seconds``."""
    if hasattr(signal, "sigtimedwait"):
        signal.sigtimedwait([signal.SIGCHLD], seconds)
    else:
        time.sleep(min(seconds, _FIRST))


def _tell(descriptor: int, told: Mapping[str, object]) -> None:
    """Write the line; who does not listen any more needs none."""
    with contextlib.suppress(OSError):
        os.write(descriptor, json.dumps(told).encode())


def _end_as(status: int) -> None:
    """End as the program did, without a second dump of memory."""
    if os.WIFSIGNALED(status):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        number = os.WTERMSIG(status)
        with contextlib.suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


def main(descriptor: int, argv: list[str]) -> None:
    """Run ``argv``, whose first word is a whole path."""
    os.set_inheritable(descriptor, False)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
    for number in _IGNORED:
        signal.signal(number, signal.SIG_IGN)
    started = time.monotonic()
    try:
        program = os.posix_spawn(argv[0], argv, os.environ, setsigdef=_DEFAULT, setsigmask=())
    except OSError as error:
        _tell(descriptor, {"error": error.strerror})
        os._exit(127)
    with contextlib.suppress(OSError):  # the program has its own
        for stream in (0, 1, 2):
            os.close(stream)
    status, peak, tree = _watched(program)
    _tell(descriptor, {"peak": peak, "tree": tree, "wall": time.monotonic() - started})
    _end_as(status)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
