"""Co-change tasks: from each commit that touches a few files together, one file is told and the others asked.

The rule is that of the original trial dispatcher's ``generate``: which commits qualify, how they are sampled
evenly, which of their files is the subject and which are gold.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_retrieval.history.classes import is_source_path, is_test_path, is_text_path
from pytest_retrieval.history.commits import ADDED, MODIFIED, Change, Commit
from pytest_retrieval.text.cutting import CUT_BYTES, truncate
from pytest_retrieval.text.stems import stem

HUNKS_LIMIT = 8_192
TEXT_LIMIT = 32_000  # a task-context packet accepts no longer question
_ID_DIGITS = 12
_QUESTION = (
    "A developer is making the change described below. Which other file(s) of the repository must change"
    " alongside the file that is shown?"
)
_INSTRUCTION = (
    "Report the repository-relative path of each such file as one claim: with kind test-file for a test, with"
    " kind source-file for any other file."
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A commit that makes a task, with every file of it that counts."""

    commit: Commit
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Made:
    """A task as a manifest holds it, and how many of its gold paths are of what kind."""

    task: dict[str, Any]
    novel: int
    counterparts: int
    gold: int


def candidates(
    changed: Iterable[tuple[Commit, Sequence[Change]]], min_files: int, max_files: int
) -> Iterator[Candidate]:
    """The commits that touch ``min_files`` to ``max_files`` texts, one of them code that was there before."""
    for commit, changes in changed:
        kept = tuple(change for change in changes if is_text_path(change.path))
        if min_files <= len(kept) <= max_files and any(map(is_subject, kept)):
            yield Candidate(commit, kept)


def is_subject(change: Change) -> bool:
    """Whether a task may be about the file: modified code that is no test."""
    return change.status == MODIFIED and is_source_path(change.path) and not is_test_path(change.path)


def evenly(found: Sequence[Candidate], limit: int) -> list[Candidate]:
    """All of them, or ``limit`` at equal distances: the places ``floor(i * N / limit)``."""
    if len(found) <= limit:
        return list(found)
    return [found[place * len(found) // limit] for place in range(limit)]


def make_task(
    candidate: Candidate, repo: str, message: str, diffs: dict[str, bytes], base_paths: Iterable[str]
) -> Made:
    """The task of ``candidate``; ``diffs`` by path, ``base_paths`` are the files of its parent."""
    subject = max(
        filter(is_subject, candidate.changes), key=lambda change: len(diffs[change.path])
    ).path  # of equal ones max() takes the first
    others = [change for change in candidate.changes if change.path != subject]
    golds = {change.path for change in others}
    tests = {path for path in golds if is_test_path(path)}
    beside = set(counterparts(subject, base_paths)) - golds
    gold = {"source-file": sorted(golds - tests), "test-file": sorted(tests | beside)}
    novel = sum(change.status == ADDED for change in others)
    task = {
        "id": f"cochange:{candidate.commit.oid[:_ID_DIGITS]}",
        "kind": "change",
        "repo": repo,
        "base_commit": candidate.commit.parent,
        "changed_file": subject,
        "text": task_text(subject, message, diffs[subject]),
        "gold": {kind: paths for kind, paths in gold.items() if paths},
        "source": {
            "commit": candidate.commit.oid,
            "touched_files": len(candidate.changes),
            "novel_gold_paths": novel,
            "counterpart_gold_paths": len(beside),
        },
    }
    return Made(task, novel, len(beside), len(golds) + len(beside))


def counterparts(subject: str, paths: Iterable[str]) -> Iterator[str]:
    """The tests among ``paths`` in the folder of ``subject`` that have its stem."""
    folder, wanted = subject.rpartition("/")[0], stem(subject)
    for path in paths:
        is_beside = path.rpartition("/")[0] == folder and path != subject
        if is_beside and is_test_path(path) and stem(path) == wanted:
            yield path


def task_text(subject: str, message: str, diff: bytes) -> str:
    """What the agent is told, in at most 32,000 bytes: a long message gives way, never the instruction."""
    shown, _ = truncate(hunks(diff), HUNKS_LIMIT)
    before = f"{_QUESTION}\n\nChanged file: {subject}\n\nIntent:\n"
    behind = f"\n\nDiff of the changed file:\n{shown}\n\n{_INSTRUCTION}"
    room = TEXT_LIMIT - len((before + behind).encode("utf-8", "replace")) - CUT_BYTES
    return before + truncate(message, room)[0] + behind


def hunks(diff: bytes) -> str:
    """A diff from its first hunk on, or all of it where it has none."""
    start = 0 if diff.startswith(b"@@") else diff.find(b"\n@@") + 1
    return diff[start:].decode("utf-8", "replace").rstrip("\n")
