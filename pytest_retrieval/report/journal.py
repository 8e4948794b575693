"""Outcomes on disk as they arrive, so that an interrupted run keeps what it had.

``REPORT.journal`` holds one JSON object a line: a header, then ``{"key":KEY,"outcome":OUTCOME}`` for each
outcome; a later line of a key replaces an earlier one. The disk is a second copy: everything stays in memory
too, compressed, so that a full disk loses nothing of the run.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson

from pytest_retrieval.errors import ReportError
from pytest_retrieval.regular import open_regular
from pytest_retrieval.report.canonical import PROFILE, encode

# A quote inside an encoded key is always escaped, so the first of these in a line ends the key.
_SEPARATOR = b',"outcome":'
_HEADER_LIMIT = 4096
_FASTEST = 1  # zlib level: outcomes shrink about fivefold at it


def journal_path(report: Path) -> Path:
    """Where the journal of a report lies while its run lasts, or is left by an interrupted one."""
    return report.with_name(report.name + ".journal")


def previous_path(journal: Path) -> Path:
    """Where an earlier run's journal is moved to."""
    return journal.with_name(journal.name + ".previous")


class Journal:
    """The outcomes of a run, in memory and beside the report at ``REPORT.journal``.

    Nothing here raises because of the disk: the first failure is kept in ``fault`` as one line, and from then
    on the journal lives in memory alone.
    """

    def __init__(self, report: Path) -> None:
        self.path = journal_path(report)
        self.fault: str | None = None
        self._descriptor: int | None = None
        self._header = b""
        self._packed: dict[str, bytes] = {}

    def start(self, header: Mapping[str, Any]) -> None:
        """Open the file and write ``header``; an earlier run's journal is moved to ``.journal.previous``."""
        self._header = encode({"profile": PROFILE, **header})
        try:
            if self.path.exists():
                self.path.replace(previous_path(self.path))
            flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC
            self._descriptor = os.open(self.path, flags, 0o666)
        except OSError as error:
            self._give_up(error)
        self._write(self._header)

    def append(self, key: str, payload: bytes) -> None:
        """Keep ``payload``, one JSON value without a line feed, as the outcome of ``key``."""
        self._packed[key] = zlib.compress(payload, _FASTEST)
        self._write(_line(key, payload))

    def latest(self, key: str) -> bytes | None:
        """The latest payload of ``key``; None for one that never came."""
        packed = self._packed.get(key)
        return None if packed is None else zlib.decompress(packed)

    def outcomes(self) -> Iterator[bytes]:
        """The latest payload of every key, in the order in which the keys first came."""
        return map(zlib.decompress, self._packed.values())

    def copy(self, path: Path) -> None:
        """Write the header and the latest payloads to the new file ``path``; raises OSError if it cannot."""
        with path.open("xb") as target:
            target.write(self._header + b"\n")
            for key, packed in self._packed.items():
                target.write(_line(key, zlib.decompress(packed)) + b"\n")

    def __contains__(self, key: object) -> bool:
        return key in self._packed

    def __len__(self) -> int:
        return len(self._packed)

    def publish(self) -> None:
        """Close and remove the file: its report is written."""
        try:
            if self._is_ours():
                self.path.unlink()
        except OSError as error:
            self._give_up(error)
        self.keep()

    def keep(self) -> None:
        """Close the file and leave it where it is; harmless when repeated."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)

    def _is_ours(self) -> bool:
        """Whether the file of our name is the one we opened: another session may have moved ours aside."""
        if self._descriptor is None or not self.path.exists():
            return False
        return os.path.samestat(os.fstat(self._descriptor), self.path.stat())

    def _write(self, line: bytes) -> None:
        if self._descriptor is None:
            return
        rest = memoryview(line + b"\n")
        start = os.lseek(self._descriptor, 0, os.SEEK_END)
        try:
            while rest:
                rest = rest[os.write(self._descriptor, rest) :]
        except BaseException as error:  # an interrupt must not leave half a line before the next one
            with suppress(OSError):
                os.ftruncate(self._descriptor, start)
            if not isinstance(error, OSError):
                raise
            self._give_up(error)

    def _give_up(self, error: OSError) -> None:
        if self.fault is None:
            self.fault = f"cannot write the journal {self.path}: {error.strerror or error}"
        self.keep()


def _line(key: str, payload: bytes) -> bytes:
    return b'{"key":' + encode(key) + _SEPARATOR + payload + b"}"


def is_journal(path: Path) -> bool:
    """Whether the file begins as journals do."""
    try:
        with open_regular(path) as stream:
            return _row(stream.readline(_HEADER_LIMIT)).get("profile") == PROFILE
    except OSError:
        return False


def read_journal(path: Path) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The header of a journal and the latest payload of every key, in the order in which keys first came.

    A last line that was cut short is left out. Raises ReportError for a file that is no journal, or is
    damaged before its last line.
    """
    try:
        with open_regular(path) as stream:
            return _read_lines(path, stream)
    except OSError as error:
        raise ReportError(f"cannot read the journal {path}: {error.strerror or error}") from error


def _read_lines(path: Path, lines: Iterator[bytes]) -> tuple[dict[str, Any], dict[str, bytes]]:
    header: dict[str, Any] | None = None
    payloads: dict[str, bytes] = {}
    for number, line in enumerate(lines, start=1):
        if not line.endswith(b"\n"):
            break
        row = _row(line)
        if header is None and row.get("profile") == PROFILE:
            header = row
        elif header is not None and isinstance(row.get("key"), str) and _SEPARATOR in line:
            payloads[row["key"]] = line.partition(_SEPARATOR)[2][: -len(b"}\n")]
        else:
            raise ReportError(f"{path}: line {number}: not a line of a journal of {PROFILE}")
    if header is None:
        raise ReportError(f"{path}: not a journal of {PROFILE}: it has no header")
    return header, payloads


def _row(line: bytes) -> dict[str, Any]:
    """The object of a line, or an empty one."""
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError:
        return {}
    return row if isinstance(row, dict) else {}
