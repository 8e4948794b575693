"""Where a report may go: over no file that the run reads, into no folder that it reads, over nobody's file.

What holds for the report holds for the files beside it: its journals, and the part of it that a failed run
leaves.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_retrieval.errors import ReportError, UsageError
from pytest_retrieval.report import corvint
from pytest_retrieval.report.canonical import PROFILE
from pytest_retrieval.report.distinct import resolve_target, same_file
from pytest_retrieval.report.document import Document
from pytest_retrieval.report.journal import is_journal, journal_path, previous_path
from pytest_retrieval.snapshots.paths import OWN_FOLDER


@dataclass(frozen=True, slots=True)
class Inputs:
    """What a run reads: single files, each with what it is, and folders that may be read whole."""

    files: Sequence[tuple[str, Path]] = ()
    trees: Sequence[Path] = ()

    def check(self, what: str, path: Path, *, makes_folder: bool = False) -> None:
        """Refuse to write ``path``, which is ``what``, where that would change an input.

        Its folder need not be there if writing it ``makes_folder``. A folder ``.retrieval`` is never part of
        an input, wherever it lies.

        Raises:
            UsageError: it is one of the files, by whatever links, or lies in one of the folders.
        """
        target = Path(os.path.realpath(path)) if makes_folder else resolve_target(path)
        for kind, file in self.files:
            if same_file(path, file) or target == resolve_target(file):
                raise UsageError(f"{what} {path} must not be {kind} {file}; name another file")
        for tree in self.trees:
            resolved = Path(os.path.realpath(tree))
            if target.is_relative_to(resolved) and OWN_FOLDER not in target.relative_to(resolved).parts[:-1]:
                raise UsageError(
                    f"{what} {path} lies in {tree}, which the run reads; name a file outside of it, or in a"
                    f" folder {OWN_FOLDER} of it"
                )


def partial_path(report: Path) -> Path:
    """Where a run that may publish no report leaves what it measured."""
    return report.with_name(f"{report.name}.partial.json")


def check_place(report: Path, inputs: Inputs, *, explicit: bool) -> None:
    """Refuse a place of the report where writing it, or a file beside it, would harm another file.

    ``explicit`` says that a user named the place; in the default folder everything is ours.

    Raises:
        UsageError: a file is an input or lies in one, or is there and none that a run has written.
    """
    for what, path in written(report):
        inputs.check(what, path)
    if explicit:
        check_replaceable(report)
        for what, path in written(report):
            if not (_is_empty(path) or is_journal(path) or is_report(path)):
                raise _refusal(what, path)


def check_replaceable(report: Path) -> None:
    """Refuse to write a report over a file that is none.

    Raises:
        UsageError: it is there, not empty, and no report of a known profile.
    """
    if not (_is_empty(report) or is_report(report)):
        raise _refusal("the report", report)


def is_report(path: Path) -> bool:
    """Whether the file is one JSON object of a profile that reports have."""
    try:
        return Document(path, "details").members.get("profile") in (PROFILE, corvint.PROFILE)
    except ReportError:
        return False


def written(report: Path) -> Iterator[tuple[str, Path]]:
    """The report and the files that a run may write beside it, each with what it is."""
    journal = journal_path(report)
    yield "the report", report
    yield "the report's journal", journal
    yield "the report's earlier journal", previous_path(journal)
    yield "the partial report", partial_path(report)


def _is_empty(path: Path) -> bool:
    """Whether there is nothing in the file, or no file."""
    try:
        return path.stat().st_size == 0
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False


def _refusal(what: str, path: Path) -> UsageError:
    return UsageError(f"{what} {path} would replace a file that no run wrote; name another, or remove it")
