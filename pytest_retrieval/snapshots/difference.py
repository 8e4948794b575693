"""What one view of a commit hides that another shows."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from pytest_retrieval.errors import SnapshotError
from pytest_retrieval.model import path_key
from pytest_retrieval.snapshots import arb
from pytest_retrieval.snapshots.base import Snapshot, TreeFile
from pytest_retrieval.snapshots.sources import NamedSource, read_source, split_view

_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Side:
    """One view: its name, counts of files and texts, and what it left out, by reason.

    ``only_here`` are the paths that the other view lacks, each with the reason why that one leaves it out.
    """

    view: str
    files: int
    texts: int
    cut: tuple[str, ...]
    dropped: dict[str, int]
    only_here: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """Two views of ``repo@commit``; ``changed`` counts files of both that differ but are not cut.

    ``gold_missing`` and ``gold_cut`` tell, by view, which of the asked gold paths it lacks or shortens.
    """

    repo: str
    commit: str
    left: Side
    right: Side
    changed: int
    gold_missing: dict[str, tuple[str, ...]]
    gold_cut: dict[str, tuple[str, ...]]

    def lines(self, limit: int = _SHOWN) -> Iterator[str]:
        """The difference for people; each list is shown up to ``limit`` paths."""
        yield f"{self.repo}@{self.commit}: {self.left.view} against {self.right.view}"
        for side in (self.left, self.right):
            yield f"{side.view}: {side.files} files, {side.texts} text files, {len(side.cut)} cut"
            for reason, count in side.dropped.items():
                yield f"  left out, {reason}: {count}"
        for view in (self.left.view, self.right.view):
            yield from _listed(f"gold missing in {view}", self.gold_missing[view], limit)
            yield from _listed(f"gold cut in {view}", self.gold_cut[view], limit)
        for side in (self.left, self.right):
            only = [f"{path} ({reason})" for path, reason in side.only_here]
            yield from _listed(f"only in {side.view}", only, limit)
            yield from _listed(f"cut in {side.view}", side.cut, limit)
        yield f"files with other line ends, outer blanks or bytes: {self.changed}"


def difference(
    named: NamedSource, left: str = "arb", right: str = "full", gold: Collection[str] = ()
) -> Difference:
    """Compare the views ``left`` and ``right`` of one commit.

    The source is ``git:PATH`` or the folder of a clone.

    Raises:
        SnapshotError: the source is no Git repository, or cannot serve that commit or view.
    """
    if left == right:
        raise SnapshotError(f"a view is compared with another: both are {left!r}")
    one, two = (_open(named, view) for view in (left, right))
    digests = {file.path: file.digest for file in two.files}
    cut = one.cut | two.cut
    changed = sum(digests.get(f.path, f.digest) != f.digest for f in one.files if f.path not in cut)
    pair = (one, two)
    return Difference(
        named.repo,
        named.commit,
        _side(one, two),
        _side(two, one),
        changed,
        {side.view: tuple(path for path in gold if path not in side) for side in pair},
        {side.view: tuple(path for path in gold if path in side.cut) for side in pair},
    )


def _open(named: NamedSource, view: str) -> Snapshot:
    place = split_view(named.source.removeprefix("git:"))[0]
    if not named.source.startswith("git:") and not Path(place).is_dir():
        raise SnapshotError(f"{named.source}: views are of a Git repository; give git:PATH")
    tree = read_source(f"git:{place}?view={view}", named.commit)
    return Snapshot(named.repo, named.commit, named.source, tree)


def _side(here: Snapshot, there: Snapshot) -> Side:
    only = tuple((f.path, _why(here, f, there.view)) for f in here.files if f.path not in there)
    cut = tuple(sorted(here.cut, key=path_key))
    return Side(here.view, len(here.files), len(here.texts), cut, here.dropped, only)


def _why(here: Snapshot, file: TreeFile, other: str) -> str:
    """Why the view ``other`` leaves out a file that ``here`` shows."""
    if other == "full":
        return "symbolic link"
    reason = arb.dropped_path(file.path) or arb.dropped_size(file.size)
    return reason or ("binary content" if b"\0" in here.read(file.path) else "beyond 20,000 paths")


def _listed(title: str, paths: Collection[str], limit: int) -> Iterator[str]:
    if not paths:
        return
    yield f"{title}: {len(paths)}"
    for path in tuple(paths)[:limit]:
        yield f"  {path_key(path).decode('utf-8', 'backslashreplace')}"
    if len(paths) > limit:
        yield f"  and {len(paths) - limit} more"
