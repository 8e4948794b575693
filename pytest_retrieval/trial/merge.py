"""Several reports of one trial become one, as if it had been one run: parts of its tasks, or further arms.

What the first report says of a task stands; a later report's invocations replace an earlier one's of the same
arm, unless they were never run. Scores and sections are built anew; verdicts of gates are dropped, for they
speak of a part.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson

from pytest_retrieval.errors import ReportError
from pytest_retrieval.model import NOT_OBSERVED
from pytest_retrieval.report.build import Report
from pytest_retrieval.report.canonical import encode
from pytest_retrieval.report.stored import Key, key_of
from pytest_retrieval.trial.document import build
from pytest_retrieval.trial.pairs import trial_pairs
from pytest_retrieval.trial.scoring import was_run
from pytest_retrieval.trial.stored import StoredTrial

_AGREED = (
    *("tasks_sha256", "partition", "source", "access", "agent", "model", "limit", "repeats"),
    "skeleton_sha256",
)
_ONE_OF = ("corvint", "aider", "prices")  # where one of two reports says nothing, the other one has the word
_FACTS = ("kind", "repo", "base_commit", "gold", "control")
_FASTEST = 1  # zlib level


def merge_trials(reports: Sequence[StoredTrial]) -> Report:
    """One report of all tasks and arms of ``reports``.

    Raises ReportError, one line that names the file, where one is of another trial: other tasks, another
    agent, model, access, limit or number of attempts, another program, a context of the same name with
    another text, or other facts of a task.
    """
    header: dict[str, Any] = {**reports[0].header, "arms": {}, "prologues": {}, "gates": [], "pairs": []}
    tasks = _Tasks()
    for report in reports:
        _agree(header, report, reports[0])
        tasks.take(report)
    header.pop("registration", None)
    lost = tasks.lost
    chosen = len(tasks.packed) + sum(key not in tasks.packed for key in lost)
    source = {**header["sources"][0], "kept": chosen}
    of = max(report.header["selection"]["of"] for report in reports)
    header |= {
        "tasks": chosen,
        "sources": [source],
        "selection": {"of": of, "chosen": chosen, "lost": [lost[key] for key in sorted(lost)]},
        "pairs": _pairs(header["arms"], reports),
        "environment": _environment(reports),
    }
    return build(header, tasks.details())


def _agree(header: dict[str, Any], report: StoredTrial, first: StoredTrial) -> None:
    """Take a report's header into ``header``; raises ReportError where they contradict each other."""
    for name in _AGREED:
        if report.header.get(name, 1) != first.header.get(name, 1):
            raise ReportError(
                f"{report.path}: its {name} is not that of {first.path}: they are not of one trial"
            )
    for name in _ONE_OF:
        known, found = header.get(name, NOT_OBSERVED), report.header.get(name, NOT_OBSERVED)
        if NOT_OBSERVED not in (known, found) and known != found:
            raise ReportError(f"{report.path}: its {name} is not that of the reports before it")
        if found != NOT_OBSERVED:
            header[name] = found
    for section in ("prologues", "arms"):
        for label, facts in report.header[section].items():
            if header[section].setdefault(label, facts) != facts:
                raise ReportError(
                    f"{report.path}: the arm {label!a:.60} is another one than in the reports before it; give"
                    " one of them its own label"
                )


def _pairs(arms: Mapping[str, Mapping[str, Any]], reports: Sequence[StoredTrial]) -> list[tuple[str, str]]:
    """Those that were compared, and between arms of several reports the usual ones, too."""
    compared = [pair for report in reports for pair in report.header.get("pairs", ())]
    same = all(report.header["arms"].keys() == arms.keys() for report in reports)
    return list(dict.fromkeys([*compared, *(() if same else trial_pairs(arms))]))


def _environment(reports: Sequence[StoredTrial]) -> dict[str, Any]:
    environments = [report.header.get("environment", {}) for report in reports]
    return {"reports": [found for each in environments for found in each.get("reports", [each])]}


class _Tasks:
    """The tasks of the reports taken so far by their keys, packed; and those that were lost."""

    def __init__(self) -> None:
        self.packed: dict[Key, bytes] = {}
        self.lost: dict[Key, Mapping[str, Any]] = {}

    def take(self, report: StoredTrial) -> None:
        """Take in one more report."""
        seen: set[Key] = set()
        for detail in report.details():
            key = key_of(detail)
            if key in seen:
                raise ReportError(f"{report.path}: the task {key[1]!a:.80} comes twice")
            seen.add(key)
            known = self.packed.get(key)
            joined = (
                detail if known is None else _joined(orjson.loads(zlib.decompress(known)), detail, report)
            )
            self.packed[key] = zlib.compress(encode(joined), _FASTEST)
        for item in report.header["selection"]["lost"]:
            self.lost.setdefault(key_of(item), item)

    def details(self) -> Iterator[dict[str, Any]]:
        """All tasks, in the order in which they came first."""
        return (orjson.loads(zlib.decompress(packed)) for packed in self.packed.values())


def _joined(first: dict[str, Any], second: Mapping[str, Any], report: StoredTrial) -> dict[str, Any]:
    for name in _FACTS:
        if first.get(name) != second.get(name):
            raise ReportError(f"{report.path}: the task {first['id']!a:.80} has another {name} there")
    finished = {
        label: entry
        for label, entry in second["arms"].items()
        if label not in first["arms"] or all(map(was_run, entry["runs"]))
    }
    return {**second, **first, "arms": {**first["arms"], **finished}}
