"""Line counts: line feeds, and one more for a last line without one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hypothesis import given
from hypothesis import strategies as st

from pytest_retrieval.snapshots.base import MemoryContents, Snapshot, Tree, TreeFile
from pytest_retrieval.snapshots.lines import line_counts
from tests.arms.support import snapshot_of

FILES = {
    "none": b"",
    "one": b"a",
    "ended": b"a\n",
    "two": b"a\nb",
    "blank": b"\n\n",
    "crlf": b"a\r\nb\r\n",
    "x": b"\0\n",
}


def test_counts_by_hand() -> None:
    snapshot = snapshot_of(FILES, binary=("x",))
    expected = {"none": 0, "one": 1, "ended": 1, "two": 2, "blank": 2, "crlf": 2, "x": 1}
    assert line_counts(snapshot, {*FILES, "absent"}) == expected


class InPieces(MemoryContents):
    """Contents that come byte by byte, with empty pieces between."""

    def stream(self, files: Iterable[TreeFile]) -> Iterator[tuple[TreeFile, Iterator[bytes]]]:
        for file in files:
            data = self.held[file.digest]
            yield (
                file,
                iter([piece for place in range(len(data)) for piece in (data[place : place + 1], b"")]),
            )


@given(st.binary(max_size=12).map(lambda data: data.replace(b"\x01", b"\n")))
def test_pieces_make_no_difference(data: bytes) -> None:
    tree = Tree((TreeFile("f", len(data), "d", True),), InPieces({"d": data}), "full")
    counts = line_counts(Snapshot("a/b", "0" * 40, "memory", tree), {"f"})
    assert counts == {"f": len(data.split(b"\n")) - (not data or data.endswith(b"\n"))}
