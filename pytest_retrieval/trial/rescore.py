"""A report is scored again from what it recorded: the same bytes, unless rules or files changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pytest_retrieval.report.build import Report
from pytest_retrieval.snapshots.program import Git, git_directory
from pytest_retrieval.trial.document import build
from pytest_retrieval.trial.manifest import load_manifest
from pytest_retrieval.trial.prices import load_prices
from pytest_retrieval.trial.reading import read_trial
from pytest_retrieval.trial.stored import StoredTrial
from pytest_retrieval.trial.values import PATH_KINDS, normalise

_JUDGED = ("arms", "paired", "selection")  # what gates read


def rescore(
    report: Path, *, tasks: Path | None = None, history: Path | None = None, prices: Path | None = None
) -> Report:
    """The report in the file ``report``, with every derived member built anew.

    ``tasks``, a run manifest, gives the subjects that the report lacks. ``history``, a Git repository, tells
    which gold exists at the base commits that it has, where nobody looked. ``prices``, a file, says what the
    tokens of the report's model cost. What a run recorded is never overwritten. Verdicts of gates are kept as
    long as what they speak of is the same. Raises ReportError, SampleError, SnapshotError and UsageError, one
    line each, for files that cannot be read.
    """
    stored = read_trial(report)
    subjects = {} if tasks is None else {task.id: task.subject for task in load_manifest(tasks).tasks}
    git = None if history is None else Git(git_directory(history))
    details = (_looked_at(_with_subject(detail, subjects), git) for detail in stored.details())
    header = dict(stored.header)
    if prices is not None:
        header["prices"] = load_prices(prices).of(header.get("model", "")).facts()
    rebuilt = build(header, details)
    return rebuilt if _same_figures(stored, rebuilt) else rebuilt.with_gates([])


def _same_figures(stored: StoredTrial, rebuilt: Report) -> bool:
    return all(stored.head.get(name) == rebuilt.head[name] for name in _JUDGED)


def _with_subject(detail: Mapping[str, Any], subjects: Mapping[str, str | None]) -> Mapping[str, Any]:
    subject = subjects.get(detail["id"])
    return detail if detail.get("subject") or not subject else {**detail, "subject": subject}


def _looked_at(detail: Mapping[str, Any], git: Git | None) -> Mapping[str, Any]:
    """The detail with the gold that its base commit has, unless that is known."""
    if git is None or detail.get("gold_checked") or (commit := git.resolve(detail["base_commit"])) is None:
        return detail
    return {**detail, "gold_at_base": list(_present(detail, git, commit)), "gold_checked": True}


def _present(detail: Mapping[str, Any], git: Git, commit: str) -> Iterator[str]:
    """The gold paths that are files of ``commit``, sorted."""
    gold = detail["gold"] or {}
    paths = sorted({normalise(kind, path) for kind in PATH_KINDS for path in gold.get(kind, ())})
    for path in paths:
        if "\n" in path or "\0" in path:
            continue
        asked = f"{commit}:{path}\n".encode("utf-8", "surrogateescape")
        words = git.output("cat-file", "--batch-check", stdin=asked).split()
        if len(words) == 3 and words[1] == b"blob":
            yield path
