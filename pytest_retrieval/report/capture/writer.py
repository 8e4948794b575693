"""Context packets as they came: a file of one line per call of the context arm, kept beside a report.

Only references are held while a program runs; :meth:`Capture.record` is called after the clock stopped.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from pytest_retrieval.arms.observed import Call
from pytest_retrieval.errors import ReportError
from pytest_retrieval.report.capture import lines
from pytest_retrieval.report.capture.lines import COMPLETE, PARTIAL, Descriptor
from pytest_retrieval.report.capture.place import CapturePlace


class Capture:
    """A capture that is being written: created with its header, and finished by a footer or not at all.

    Before the sidecar is written: ``place.check()`` and :func:`lines.header_line`. After it: this.
    Then one :meth:`record` for each call, in the order of ``invocations``, and :meth:`finish` once the run
    is known to be sound, before its report is written. Whatever ends a run otherwise calls :meth:`close`.

    Every failure is a ReportError and ends the run without a report. The file stays, without a footer, and
    the capture takes nothing more: it repeats its first failure.

    Raises:
        UsageError: the place is refused.
        ReportError: the header is too long (then there is no file), or the file cannot be written.
    """

    def __init__(
        self, place: CapturePlace, registration: Mapping[str, Any], invocations: Sequence[Descriptor]
    ) -> None:
        header = lines.header_line(registration, invocations)
        self.path = place.path
        self.invocations = tuple(invocations)
        self._failure: str | None = None
        self._prior = hashlib.sha256()
        self._size = 0
        self._records = 0
        self._all_produced = True
        self._file = os.fdopen(place.create(), "wb", buffering=0)
        self._made = os.fstat(self._file.fileno())
        with self._guarded():
            self._append(header)

    def record(self, descriptor: Descriptor, call: Call | None, error: str | None = None) -> None:
        """Write what became of the next planned invocation.

        ``descriptor`` is the one that the caller took it for, ``call`` the arm's latest call or None where
        none was made, ``error`` the error of its answer.

        Raises:
            ReportError: it is not the next one, its task is another one, a bound is exceeded, the file cannot
                be written, or an earlier record failed.
        """
        with self._guarded():
            self._check_planned(descriptor, call)
            observation = lines.observe(call)
            self._append(lines.record_line(descriptor, observation, error))
            self._records += 1
            self._all_produced = self._all_produced and observation.stdout.status == COMPLETE

    def finish(self) -> str:
        """Write the footer, sync and close; COMPLETE or PARTIAL.

        Raises:
            ReportError: an earlier record failed, or the file cannot be written; there is no footer then.
        """
        with self._guarded():
            whole = self._all_produced and self._records == len(self.invocations)
            status = COMPLETE if whole else PARTIAL
            self._write(lines.footer_line(status, self._records, self._size, self._prior.hexdigest()))
            os.fsync(self._file.fileno())
        self.close()
        return status

    def close(self) -> None:
        """Close the file as it is; harmless when repeated."""
        self._file.close()

    def check_report(self, report: Path) -> None:
        """Raise ReportError if writing ``report`` would write the capture, by whatever link."""
        with suppress(FileNotFoundError):
            if os.path.samestat(report.stat(), self._made):
                raise ReportError(f"cannot write the report {report}: it has become the capture {self.path}")

    def _check_planned(self, descriptor: Descriptor, call: Call | None) -> None:
        planned = self.invocations[self._records : self._records + 1]
        if planned != (descriptor,):
            raise ReportError(
                f"the capture {self.path}: invocation {descriptor.invocation_ordinal} ({descriptor.phase}, "
                f"sample {descriptor.sample_id!a:.80}) is not the one planned as number {self._records}"
            )
        task = None if call is None else call.task
        digest = None if task is None else hashlib.sha256(task).hexdigest()
        sent = (None if task is None else len(task), digest)
        if call is not None and sent != (descriptor.task_bytes, descriptor.task_sha256):
            raise ReportError(
                f"the capture {self.path}: the task of invocation {descriptor.invocation_ordinal} is not the"
                " planned one"
            )

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """Let the first failure stand for all later ones; no part of a line stays of it."""
        if self._failure is None and self._file.closed:
            self._failure = f"the capture {self.path} is closed"
        if self._failure is not None:
            raise ReportError(self._failure)
        try:
            yield
        except BaseException as error:
            with suppress(OSError):
                os.ftruncate(self._file.fileno(), self._size)
            if isinstance(error, OSError):
                self._failure = f"cannot write the capture {self.path}: {error.strerror or error}"
                raise ReportError(self._failure) from error
            self._failure = str(error) if isinstance(error, ReportError) else f"{self.path}: interrupted"
            raise

    def _append(self, line: bytes) -> None:
        room = lines.FILE_LIMIT - lines.FOOTER_ROOM - self._size
        if len(line) > room:
            raise ReportError(
                f"the capture {self.path} would exceed {lines.FILE_LIMIT:,} bytes: {len(line):,} more do not"
                f" fit into the {room:,} that are left"
            )
        self._write(line)
        self._prior.update(line)
        self._size += len(line)

    def _write(self, line: bytes) -> None:
        left = memoryview(line)
        while left:
            left = left[self._file.write(left) :]
