"""An unseen task set out of a local history: ``tasks.json`` and the trees that its tasks are about."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from pytest_retrieval.datasets.rows import REPO
from pytest_retrieval.errors import SnapshotError, UsageError
from pytest_retrieval.history.classes import language
from pytest_retrieval.history.cochange import Candidate, Made, candidates, evenly, make_task
from pytest_retrieval.history.commits import changes_of, commits_since, diffs_of, messages_of
from pytest_retrieval.history.isolated import isolated
from pytest_retrieval.history.moments import shown_moment
from pytest_retrieval.history.trees import TreeWriter
from pytest_retrieval.report.write import write_report
from pytest_retrieval.snapshots.git import list_entries
from pytest_retrieval.snapshots.program import Git, git_directory

PARTITION = "unseen"
VIEW = (
    "raw blobs of regular files whose name is that of a text (no path that starts with '.', not in testdata/,"
    " no image, archive, font or lock file), of at most 1 MiB and without NUL in the first 8,192 bytes"
)
_REGULAR = ("100644", "100755")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be generated: tasks about ``repo``, whose history is in the folder ``source``."""

    source: Path
    repo: str
    since: datetime
    output: Path
    limit: int = 40
    min_files: int = 2
    max_files: int = 6
    tip: str = "HEAD"

    def check(self) -> None:
        """Raise UsageError for values that mean nothing."""
        if not REPO.fullmatch(self.repo):
            raise UsageError(f"--name: {self.repo!r} is not OWNER/NAME")
        if self.limit < 1:
            raise UsageError(f"--limit: {self.limit} tasks are none; give 1 or more")
        if self.min_files < 2:
            raise UsageError(f"--min-files: {self.min_files} leaves nothing to ask for; give 2 or more")
        if self.max_files < self.min_files:
            raise UsageError(f"--max-files: {self.max_files} is less than --min-files {self.min_files}")


class Generated(NamedTuple):
    """What was made: ``manifest`` as it was written to ``path``."""

    path: Path
    manifest: dict[str, Any]


def generate(wanted: Wanted, tell: Callable[[str], object]) -> Generated:
    """Write ``tasks.json`` and ``corpus/`` below the output folder; ``tell`` hears what is about to be read.

    The source is only read. ``tasks.json`` is written last, so that one that is there is whole.

    Raises:
        UsageError: an option means nothing, or no commit qualifies.
        SnapshotError: the repository or an object of it cannot be read.
        ReportError: the output cannot be written.
    """
    wanted.check()
    git = Git(git_directory(wanted.source))
    tip = git.resolve(wanted.tip)
    if tip is None:
        raise SnapshotError(f"{wanted.source}: no commit {wanted.tip!r} in this repository")
    commits = commits_since(git, tip, wanted.since)
    with isolated(git) as objects:
        found = list(candidates(changes_of(objects, commits), wanted.min_files, wanted.max_files))
        chosen = evenly(found, wanted.limit)
        if not chosen:
            raise UsageError(f"{wanted.source}: {_nothing(wanted, len(commits))}")
        trees = len({candidate.commit.parent for candidate in chosen})
        tell(f"{len(commits)} commits, {len(found)} qualify, {len(chosen)} tasks over {trees} trees")
        made, rows = _make(objects, wanted, chosen)
    manifest = _manifest(wanted, tip, len(found), made, rows)
    path = wanted.output / "tasks.json"
    text = json.dumps(manifest, ensure_ascii=False, indent=2)
    write_report(path, [text.encode("utf-8", "replace")], "the task manifest")
    return Generated(path, manifest)


def _make(git: Git, wanted: Wanted, chosen: Sequence[Candidate]) -> tuple[list[Made], dict[str, int]]:
    """Every task, and how many rows the tree of each parent has; trees are written on the way."""
    commits = [candidate.commit for candidate in chosen]
    messages = messages_of(git, commits)
    listed = dict(changes_of(git, commits))
    writer = TreeWriter(git, wanted.output / "corpus", wanted.repo)
    made, rows = [], {}
    for candidate, (commit, diffs) in zip(chosen, diffs_of(git, commits), strict=True):
        entries = list_entries(git, commit.parent)
        if commit.parent not in rows:
            rows[commit.parent] = writer.write(commit.parent, entries)
        paths = [change.path for change in listed[commit]]
        base = [entry.path for entry in entries if entry.mode in _REGULAR]
        of_path = dict(zip(paths, diffs, strict=True))
        made.append(make_task(candidate, wanted.repo, messages[commit.oid], of_path, base))
    return made, rows


def _manifest(
    wanted: Wanted, tip: str, population: int, made: Sequence[Made], rows: dict[str, int]
) -> dict[str, Any]:
    since, subjects = shown_moment(wanted.since), [one.task["changed_file"] for one in made]
    return {
        "name": f"unseen-{wanted.repo.replace('/', '-')}",
        "partition": PARTITION,
        "source": f"commits of {wanted.repo} from {since} to {tip}",
        "repository": wanted.repo,
        "since": since,
        "tip": tip,
        "view": VIEW,
        "population": population,
        "novel_gold_paths": sum(one.novel for one in made),
        "counterpart_gold_paths": sum(one.counterparts for one in made),
        "gold_paths": sum(one.gold for one in made),
        "sampling_rule": _rule(wanted),
        "tasks": [one.task for one in made],
        "snapshots": rows,
        "per_kind_counts": {"change": len(made)},
        "per_language_counts": dict(sorted(Counter(map(language, subjects)).items())),
    }


def _rule(wanted: Wanted) -> str:
    return (
        f"Commits with one parent and a committer date of {shown_moment(wanted.since)} or later, oldest "
        f"first, that add or modify {wanted.min_files} to {wanted.max_files} texts (by name; renames are not "
        "looked for, deletions do not count) and modify at least one source file that is no test. All of "
        f"them if there are at most {wanted.limit}, else those at the places floor(i*N/{wanted.limit}) of N. "
        "The subject is the modified source file that is no test with the largest diff, the first in Git's "
        "order among equals. Gold is every other of these files, and the tests with the subject's stem in "
        "its folder at the parent."
    )


def _nothing(wanted: Wanted, commits: int) -> str:
    span = f"from {shown_moment(wanted.since)} on"
    if not commits:
        return f"no commit with one parent {span}; give an earlier --since"
    return (
        f"none of {commits} commits {span} qualifies: each must add or modify {wanted.min_files} to "
        f"{wanted.max_files} texts, one of them a source file that was there and is no test"
    )
