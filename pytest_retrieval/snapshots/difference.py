"""What one view of a commit hides that another shows."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from pytest_retrieval.errors import SnapshotError
from pytest_retrieval.model import path_key
from pytest_retrieval.snapshots.base import Snapshot
from pytest_retrieval.snapshots.sources import NamedSource, read_source, split_view

_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Side:
    """One view: its name, counts of files and texts, and what it left out, by reason."""

    view: str
    files: int
    texts: int
    cut: tuple[str, ...]
    dropped: dict[str, int]
    only_here: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """Two views of ``repo@commit``; ``changed`` are paths of both whose text differs.

    ``gold_missing`` and ``gold_cut`` tell, by view, which of the asked gold paths it lacks or shortens.
    """

    repo: str
    commit: str
    left: Side
    right: Side
    changed: tuple[str, ...]
    gold_missing: dict[str, tuple[str, ...]]
    gold_cut: dict[str, tuple[str, ...]]

    def lines(self, limit: int = _SHOWN) -> Iterator[str]:
        """The difference for people; each list is shown up to ``limit`` paths."""
        yield f"{self.repo}@{self.commit}: {self.left.view} against {self.right.view}"
        for side in (self.left, self.right):
            yield f"{side.view}: {side.files} files, {side.texts} text files, {len(side.cut)} cut"
            for reason, count in side.dropped.items():
                yield f"  left out, {reason}: {count}"
        for side in (self.left, self.right):
            yield from _listed(f"only in {side.view}", side.only_here, limit)
            yield from _listed(f"cut in {side.view}", side.cut, limit)
            yield from _listed(f"gold missing in {side.view}", self.gold_missing[side.view], limit)
            yield from _listed(f"gold cut in {side.view}", self.gold_cut[side.view], limit)
        yield from _listed("other text", self.changed, limit)


def difference(
    named: NamedSource, left: str = "arb", right: str = "full", gold: Collection[str] = ()
) -> Difference:
    """Compare the views ``left`` and ``right`` of one commit.

    The source is ``git:PATH`` or the folder of a clone. ``changed`` leaves out what is already said to be cut.

    Raises:
        SnapshotError: the source is no Git repository, or cannot serve that commit or view.
    """
    if left == right:
        raise SnapshotError(f"a view is compared with another: both are {left!r}")
    one, two = (_open(named, view) for view in (left, right))
    digests = {file.path: file.digest for file in two.files}
    cut = one.cut | two.cut
    changed = (f.path for f in one.files if f.path not in cut and digests.get(f.path, f.digest) != f.digest)
    pair = (one, two)
    return Difference(
        named.repo,
        named.commit,
        _side(one, two),
        _side(two, one),
        tuple(changed),
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
    only = tuple(file.path for file in here.files if file.path not in there)
    cut = tuple(sorted(here.cut, key=path_key))
    return Side(here.view, len(here.files), len(here.texts), cut, here.dropped, only)


def _listed(title: str, paths: Collection[str], limit: int) -> Iterator[str]:
    if not paths:
        return
    yield f"{title}: {len(paths)}"
    for path in tuple(paths)[:limit]:
        yield f"  {path_key(path).decode('utf-8', 'backslashreplace')}"
    if len(paths) > limit:
        yield f"  and {len(paths) - limit} more"
