"""How many lines files have: of any size, read in pieces."""

from __future__ import annotations

from collections.abc import Collection

from pytest_retrieval.snapshots.base import Snapshot


def line_counts(snapshot: Snapshot, paths: Collection[str]) -> dict[str, int]:
    """The number of lines of each of ``paths`` that the tree has; a last line may lack its line feed.

    Raises:
        SnapshotError: a content cannot be read any more.
    """
    wanted = [file for file in snapshot.files if file.path in paths]
    counts = {}
    for file, pieces in snapshot.contents.stream(wanted):
        feeds, last = 0, b"\n"
        for piece in pieces:
            feeds += piece.count(b"\n")
            last = piece[-1:] or last
        counts[file.path] = feeds + (last != b"\n")
    return counts
