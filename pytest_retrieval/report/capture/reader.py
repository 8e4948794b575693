"""A context capture read back: is all of it there, and is it what was written? Every fault is one line."""

from __future__ import annotations

import hashlib
import json
import stat
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from pytest_retrieval.errors import RetrievalError, UsageError
from pytest_retrieval.report.capture import lines
from pytest_retrieval.report.capture.lines import (
    COMPLETE,
    MALFORMED,
    NOT_PRODUCED,
    NOT_RUN,
    PARSED,
    PARTIAL,
    TRUNCATED,
)
from pytest_retrieval.report.capture.shapes import FOOTER, HEADER, RECORD, check_plan, check_record
from pytest_retrieval.report.shapes import MisfitError

_PAYLOAD_KEY = len('"base64":"",')


@dataclass(slots=True)
class Verification:
    """What a capture holds and what is wrong with it.

    ``status`` is the footer's, None without a readable one. ``records`` are the lines between header and
    footer; the counters are over those of them that can be read: their phases, the status of each stream,
    how the packets parsed, and how many had an error.
    """

    planned: int = 0
    records: int = 0
    status: str | None = None
    errors: int = 0
    phases: Counter[str] = field(default_factory=Counter)
    stdout: Counter[str] = field(default_factory=Counter)
    stderr: Counter[str] = field(default_factory=Counter)
    packets: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    @property
    def is_complete(self) -> bool:
        """Whether the capture is sound and holds the whole output of every planned call."""
        return not self.faults and self.status == COMPLETE

    def summary(self) -> list[str]:
        """Lines for people. COMPLETE speaks of packets alone: diagnostics that were cut show here."""
        phases = f" ({_counts(self.phases, self.phases)})" if self.phases else ""
        return [
            f"capture: {'NOT VALID' if self.faults else self.status}",
            f"calls: {self.records} of {self.planned} planned{phases}",
            f"stdout: {_counts(self.stdout, (COMPLETE, NOT_PRODUCED))}",
            f"stderr: {_counts(self.stderr, (COMPLETE, TRUNCATED, NOT_PRODUCED))}",
            f"packets: {_counts(self.packets, (PARSED, MALFORMED, NOT_RUN))}",
            f"errors: {self.errors}",
        ]


class _LineFaultError(RetrievalError):
    """What is wrong with a line."""


class _LastFaultError(_LineFaultError):
    """What is wrong with a line, so that the lines after it tell nothing more."""


def verify(path: Path) -> Verification:
    """Check the capture in the file ``path`` by everything that it says of itself.

    Raises:
        UsageError: the file cannot be read.
    """
    return examine(_read(path))


def examine(data: bytes) -> Verification:
    """Check a capture of these bytes."""
    verifier = _Verifier(data)
    verifier.check()
    return verifier.found


class _Verifier:
    """Goes once through the lines of a file."""

    def __init__(self, data: bytes) -> None:
        self.found = Verification()
        self._data = data
        self._plan: Sequence[Mapping[str, Any]] = ()
        self._footer_seen = False

    def check(self) -> None:
        """Fill :attr:`found`."""
        if len(self._data) > lines.FILE_LIMIT:
            self.found.faults.append(f"the file is larger than {lines.FILE_LIMIT:,} bytes")
            return
        for number, start, end in _whole_lines(self._data):
            try:
                self._check_line(number, start, self._data[start:end])
            except (MisfitError, _LineFaultError) as fault:
                self.found.faults.append(f"line {number}: {fault}")
                if isinstance(fault, _LastFaultError):
                    return
        if not self._data.endswith(b"\n"):
            self.found.faults.append("the last line is cut off: the file does not end with a line feed")
        if not self._footer_seen:
            self.found.faults.append("there is no footer: the capture is incomplete")

    def _check_line(self, number: int, start: int, line: bytes) -> None:
        if number == 1:
            self._take_header(line)
        elif self._footer_seen:
            raise _LastFaultError("nothing may follow the footer")
        elif line.startswith(b'{"type":"footer"'):
            self._footer_seen = True
            self._take_footer(start, line)
        elif self.found.records == self.found.planned:
            raise _LastFaultError(f"all {self.found.planned} planned invocations are before it")
        else:
            self.found.records += 1
            self._take_record(line)

    def _take_header(self, line: bytes) -> None:
        try:
            header = _parsed(line)
            HEADER(header)
            check_plan(header["invocations"])
        except (MisfitError, _LineFaultError) as fault:
            raise _LastFaultError(f"not the header of a capture: {fault}") from None
        self._plan = header["invocations"]
        self.found.planned = len(self._plan)
        if len(line) > lines.HEADER_LIMIT:
            raise _LineFaultError(f"a header has at most {lines.HEADER_LIMIT:,} bytes, not {len(line):,}")

    def _take_record(self, line: bytes) -> None:
        record = _parsed(line)
        RECORD(record)
        self._count(record)
        planned = self._plan[self.found.records - 1]
        for name, value in record["invocation"].items():
            if value != planned[name]:
                raise (
                    MisfitError(f"{planned[name]!a:.80} as planned", value).inside(name).inside("invocation")
                )
        check_record(record)
        payloads = [stream["base64"] for stream in (record["stdout"], record["stderr"]) if "base64" in stream]
        bare = len(line) - sum(len(payload) + _PAYLOAD_KEY for payload in payloads)
        if bare > lines.RECORD_LIMIT:
            raise _LineFaultError(f"{bare:,} bytes beside the payloads, more than {lines.RECORD_LIMIT:,}")

    def _count(self, record: Mapping[str, Any]) -> None:
        self.found.phases[record["invocation"]["phase"]] += 1
        self.found.stdout[record["stdout"]["status"]] += 1
        self.found.stderr[record["stderr"]["status"]] += 1
        self.found.packets[record["parse_status"]] += 1
        self.found.errors += "error" in record

    def _take_footer(self, start: int, line: bytes) -> None:
        footer = _parsed(line)
        FOOTER(footer)
        self.found.status = footer["status"]
        found = self.found
        whole = found.records == found.planned == found.stdout[COMPLETE]
        status = COMPLETE if whole else PARTIAL
        prior = hashlib.sha256(memoryview(self._data)[:start]).hexdigest()
        expected = {
            "status": (status, "by the invocations before it"),
            "invocations": (found.records, "counted"),
            "total_bytes": (len(self._data), "the size of the file"),
            "prior_sha256": (prior, "of all bytes before this line"),
        }
        for name, (value, why) in expected.items():
            if footer[name] != value:
                found.faults.append(f"footer: {MisfitError(f'{value!a}, {why}', footer[name]).inside(name)}")
        if line != lines.footer_line(footer["status"], found.records, start, footer["prior_sha256"]):
            raise _LineFaultError("not a footer to the byte")


def _whole_lines(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Number, start and end of each line that has an end."""
    number, start = 1, 0
    while end := data.find(b"\n", start) + 1:
        yield number, start, end
        number, start = number + 1, end


def _parsed(line: bytes) -> Any:
    try:
        value = json.loads(line, object_pairs_hook=_unique, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise _LineFaultError(f"not JSON: {error}") from None
    if not isinstance(value, dict):
        raise _LineFaultError("not a JSON object")
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a key comes twice")
    return dict(pairs)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _counts(counter: Counter[str], names: Iterable[str]) -> str:
    return ", ".join(f"{counter[name]} {name}" for name in names)


def _read(path: Path) -> bytes:
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise UsageError(f"{path}: not a regular file")
        with path.open("rb") as file:
            return file.read(lines.FILE_LIMIT + 1)
    except OSError as error:
        raise UsageError(f"cannot read the capture {path}: {error.strerror or error}") from error
