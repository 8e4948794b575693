"""Prepared tasks in the run's private folder: what an agent is told, but never what the right answer is.

The folder lies beside the one that an agent is in, and both are its user's: so a task is sealed by a key that
only the processes of the run have, in memory. Who looks around finds no prompt, context or reply but its own.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import shake_256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from pytest_retrieval.report.canonical import encode

if TYPE_CHECKING:
    from pytest_retrieval.trial.run_task import Known

_STOP = "stop"


@dataclass(frozen=True, slots=True)
class Ready:
    """The ``arms`` of a prepared task, and its invocations that are ``known`` already, by arm and repeat."""

    arms: dict[str, Any]
    known: Mapping[str, Mapping[str, Any]]

    def known_or(self, may_start: Callable[[], bool]) -> Known:
        """What is known of an invocation; of any other that it is not made, where it may not be started."""
        from pytest_retrieval.agents.observe import unobserved

        def known(label: str, repeat: int) -> dict[str, Any] | None:
            found = self.known.get(label, {}).get(str(repeat))
            if found is not None:
                return dict(found)
            return None if may_start() else unobserved()

        return known


class Shelf:
    """The folder ``path``: a file for each task by its row, written by the controller and read by all.

    ``key`` seals the files; it is of one run.
    """

    def __init__(self, path: Path, key: str) -> None:
        self._path = path
        self._key = key

    def put(self, row: int, arms: Mapping[str, Any], known: Mapping[str, Mapping[int, Any]]) -> None:
        """Leave a prepared task, with the records of its invocations that need not be made."""
        self._path.mkdir(mode=0o700, exist_ok=True)
        told = {
            label: {str(repeat): run for repeat, run in records.items()} for label, records in known.items()
        }
        data = encode({"arms": dict(arms), "known": told})
        self._place(row).write_bytes(self._sealed(row, data))

    def prepared(self, row: int) -> Ready:
        """A task as it was left."""
        record = orjson.loads(self._sealed(row, self._place(row).read_bytes()))
        return Ready(record["arms"], record["known"])

    def stop(self, why: str) -> None:
        """Let no process start a further invocation."""
        temporary = self._path / f"{_STOP}.{os.getpid()}"  # others may read it at this moment
        temporary.write_text(why, encoding="utf-8")
        temporary.replace(self._path / _STOP)

    @property
    def stopped(self) -> str | None:
        """Why no further invocation may be started; None while they may."""
        try:
            return (self._path / _STOP).read_text(encoding="utf-8")
        except FileNotFoundError:
            return None

    def _place(self, row: int) -> Path:
        return self._path / f"{row}.sealed"

    def _sealed(self, row: int, data: bytes) -> bytes:
        """``data`` under a stream of bytes that is this row's alone, which takes it off again, too."""
        stream = shake_256(f"{self._key}:{row}".encode()).digest(len(data))
        mixed = int.from_bytes(data, "little") ^ int.from_bytes(stream, "little")
        return mixed.to_bytes(len(data), "little")
