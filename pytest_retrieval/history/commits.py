"""The commits of a history and what they change, read by few Git processes however many commits there are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from pytest_retrieval.errors import SnapshotError
from pytest_retrieval.snapshots.program import Git

ADDED, MODIFIED = "A", "M"
_LISTED = ("-r", "--no-renames", "--diff-filter=AM")
# Diffs as Git makes them where nobody configured anything, with names of objects that are always as long.
_PATCH = (
    "--patch",
    "--unified=3",
    "--inter-hunk-context=0",
    "--full-index",
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--diff-algorithm=myers",
    "--indent-heuristic",
    "--src-prefix=a/",
    "--dst-prefix=b/",
)


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit with exactly one parent."""

    oid: str
    parent: str


@dataclass(frozen=True, slots=True)
class Change:
    """One file that a commit added (``A``) or modified (``M``)."""

    path: str
    status: str


def commits_since(git: Git, tip: str, since: datetime) -> list[Commit]:
    """The commits up to ``tip`` with one parent and a committer date of ``since`` or later, oldest first."""
    earliest = int(since.timestamp())
    with git.stream("rev-list", "--no-merges", "--reverse", "--timestamp", "--parents", tip, "--") as reader:
        rows = [line.decode("ascii").split() for line in reader]
    return [Commit(row[1], row[2]) for row in rows if len(row) == 3 and int(row[0]) >= earliest]


def changes_of(git: Git, commits: Sequence[Commit]) -> Iterator[tuple[Commit, list[Change]]]:
    """Each commit with the files that it added or modified, in Git's order; renames are not looked for."""
    if not commits:
        return
    asked = "".join(f"{commit.oid}\n" for commit in commits).encode()
    with git.stream("diff-tree", "--stdin", "--raw", "-z", *_LISTED, stdin=asked) as reader:
        words = iter(_records(reader))
        found: dict[str, list[Change]] = {}
        current: list[Change] = []
        for word in words:
            if word.startswith(b":"):
                path = next(words).decode("utf-8", "surrogateescape")
                current.append(Change(path, word.rsplit(b" ", 1)[1][:1].decode("ascii")))
            elif word:
                current = found.setdefault(word.decode("ascii"), [])
    for commit in commits:
        yield commit, found.get(commit.oid, [])


def diffs_of(git: Git, commits: Sequence[Commit]) -> Iterator[tuple[Commit, list[bytes]]]:
    """Each commit with the diffs of the files that :func:`changes_of` names, in the same order.

    A diff is what ``git diff PARENT COMMIT -- PATH`` prints, but for full names of objects.
    """
    if not commits:
        return
    asked = "".join(f"{commit.oid}\n" for commit in commits).encode()
    found: dict[str, list[list[bytes]]] = {commit.oid: [] for commit in commits}
    with git.stream("diff-tree", "--stdin", *_LISTED, *_PATCH, stdin=asked) as reader:
        current: list[list[bytes]] = []
        for line in reader:  # those of a hunk begin with a blank or a sign
            if line.startswith(b"diff --git "):
                current.append([line])
            elif line[:-1].decode("latin-1") in found:
                current = found[line[:-1].decode("ascii")]
            else:
                current[-1].append(line)
    for commit in commits:
        yield commit, [b"".join(lines) for lines in found[commit.oid]]


def messages_of(git: Git, commits: Iterable[Commit]) -> dict[str, str]:
    """The message of each commit by its name, without white space around it."""
    wanted = [commit.oid for commit in commits]
    if not wanted:
        return {}
    asked = "".join(f"{oid}\n" for oid in wanted).encode()
    said: dict[str, str] = {}
    with git.stream("rev-list", "--no-walk=unsorted", "--stdin", "--format=%B%x00", stdin=asked) as reader:
        for record in reader.read().split(b"\0\n"):
            head, _, body = record.partition(b"\n")
            if head.startswith(b"commit "):
                said[head[len(b"commit ") :].decode("ascii")] = body.decode("utf-8", "replace").strip()
    if missing := set(wanted) - said.keys():
        raise SnapshotError(f"{git.directory}: no message of commit {min(missing)}")
    return said


def _records(reader: Iterable[bytes]) -> Iterator[bytes]:
    """The NUL-terminated records of a stream."""
    rest = b""
    for piece in reader:
        *whole, rest = (rest + piece).split(b"\0")
        yield from whole
    if rest:
        yield rest
