"""Invocations on their way: from an agent to the journal, and from the journal of an interrupted run back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from pytest_retrieval.errors import ReportError, UsageError
from pytest_retrieval.plugin.harvest import ATTRIBUTE
from pytest_retrieval.plugin.trial.plan import KIND
from pytest_retrieval.report.canonical import encode
from pytest_retrieval.report.journal import journal_path, previous_path, read_journal

if TYPE_CHECKING:
    from pytest_retrieval.trial.run_task import Finished

DONE_PAYLOAD = b"done"  # of an item: all that it had to send has been sent
RESUMED = "resumed"


def key_of(task: str, label: str, repeat: int) -> str:
    """By what the journal knows an invocation."""
    return orjson.dumps([task, label, repeat]).decode("utf-8")


def payload_of(task: str, label: str, repeat: int, prompt_sha256: str, run: Mapping[str, Any]) -> bytes:
    """An invocation as it travels and is journalled: with what tells whether it may be taken up again."""
    return encode(
        {"task": task, "arm": label, "repeat": repeat, "prompt_sha256": prompt_sha256, "run": dict(run)}
    )


def announce(item: pytest.Item, task: str, arms: Mapping[str, Any]) -> Finished:
    """What sends each invocation of a task to the controller as soon as it is over.

    It travels like an outcome does, on a report of its item: one that says that its set-up went well, which
    every plugin takes calmly.
    """

    def finished(label: str, repeat: int, record: dict[str, Any]) -> None:
        report = pytest.TestReport(
            nodeid=item.nodeid,
            location=item.location,
            keywords={},
            outcome="passed",
            longrepr=None,
            when="setup",
        )
        setattr(report, ATTRIBUTE, payload_of(task, label, repeat, arms[label]["prompt_sha256"], record))
        item.ihook.pytest_runtest_logreport(report=report)

    return finished


def faults_of(detail: Mapping[str, Any]) -> list[str]:
    """A line for each invocation of a scored task that could not be made or read."""
    return [
        f"{label}: {fault}"
        for label, entry in detail["arms"].items()
        for run in entry["runs"]
        if (fault := run.get("error") or run.get("score_error"))
    ]


class Earlier:
    """The invocations that the journal beside ``report`` has of an interrupted run with this ``identity``.

    Raises:
        UsageError: there is no journal, or it is that of a run that asked something else.
    """

    def __init__(self, report: Path, identity: Mapping[str, Any]) -> None:
        self._runs: dict[tuple[str, str, int], dict[str, Any]] = {}
        path = journal_path(report)
        if not path.exists():
            published = (
                f"; the run that wrote it was not interrupted: --reuse {report} with another --report takes "
                "over what it has"
            )
            raise UsageError(
                f"--retrieval-resume: there is no {path}: nothing was interrupted that writes {report}"
                f"{published if report.exists() else ''}"
            )
        header, payloads = _read(path)
        _check(path, header, identity)
        # A run that took up an earlier one may have been killed before it had copied all of it.
        older = previous_path(path)
        if header.get(RESUMED) and older.exists():
            before, copied = _read(older)
            payloads = {**copied, **payloads} if _same(before, identity) else payloads
        for payload in payloads.values():
            record = orjson.loads(payload)
            self._runs[record["task"], record["arm"], record["repeat"]] = record

    def record(self, task: str, label: str, prompt_sha256: str, repeat: int) -> dict[str, Any] | None:
        """The record of an invocation that had finished with exactly this prompt."""
        from pytest_retrieval.trial.reuse import is_reusable

        found = self._runs.get((task, label, repeat))
        if found is None or found["prompt_sha256"] != prompt_sha256 or not is_reusable(found["run"]):
            return None
        run: dict[str, Any] = found["run"]
        return run


def identity_of(header: Mapping[str, Any]) -> dict[str, Any]:
    """What must be the same for an interrupted run to be taken up: who is asked, and how."""
    return {"kind": KIND, **{name: header[name] for name in ("agent", "model", "access")}}


def _read(path: Path) -> tuple[dict[str, Any], dict[str, bytes]]:
    try:
        return read_journal(path)
    except ReportError as error:
        raise UsageError(f"--retrieval-resume: {error}") from error


def _same(header: Mapping[str, Any], identity: Mapping[str, Any]) -> bool:
    return all(header.get(name) == value for name, value in identity.items())


def _check(path: Path, header: Mapping[str, Any], identity: Mapping[str, Any]) -> None:
    for name, value in identity.items():
        if header.get(name) != value:
            raise UsageError(
                f"--retrieval-resume: {path} is of a run whose {name} is {shown(header.get(name), value)}, "
                f"and this run's is {shown(value, header.get(name))}; start anew without --retrieval-resume"
            )


def shown(value: Any, other: Any) -> str:
    """A value for a message; of two objects only what differs."""
    if isinstance(value, Mapping) and isinstance(other, Mapping):
        value = {name: said for name, said in sorted(value.items()) if other.get(name) != said}
    return f"{value!a:.120}"


def each_run(arms: Mapping[str, Any], repeats: int) -> Iterator[tuple[str, int]]:
    """Every invocation of a task, by arm and repeat."""
    return ((label, repeat) for label in arms for repeat in range(repeats))
