from __future__ import annotations

from pathlib import Path

import pytest

from pytest_retrieval.errors import SnapshotError
from pytest_retrieval.snapshots.difference import difference
from pytest_retrieval.snapshots.sources import NamedSource
from tests.snapshots.repos import bare_repository


@pytest.fixture
def named(tmp_path: Path) -> NamedSource:
    entries = [
        ("100644", b"a.py", b"x\n"),
        ("100644", b"same", b"x"),
        ("100644", b"long.py", b"y" * 9000),
        ("100644", b"go.sum", b"z"),
        ("100644", b"nul", b"z" * 9000 + b"\0"),
        ("120000", b"link", b"a.py"),
    ]
    commit = bare_repository(tmp_path / "r.git", entries)
    return NamedSource("o/n", commit, f"git:{tmp_path}/r.git")


def test_what_the_benchmarks_view_hides(named: NamedSource) -> None:
    found = difference(named, gold=["long.py", "go.sum", "gone"])
    assert found.left.only_here == (("link", "symbolic link"),)
    assert found.right.only_here == (("go.sum", "lock file"), ("nul", "binary content"))
    assert (found.left.files, found.right.files) == (4, 5)
    assert found.left.cut == ("long.py",)
    assert found.changed == 1
    assert found.gold_missing == {"arb": ("go.sum", "gone"), "full": ("gone",)}
    assert found.gold_cut == {"arb": ("long.py",), "full": ()}


def test_lines_for_people(named: NamedSource) -> None:
    text = list(difference(named, "arb", "full", ["go.sum"]).lines(limit=1))
    assert text[0] == f"o/n@{named.commit}: arb against full"
    assert "arb: 4 files, 4 text files, 1 cut" in text
    assert "  left out, lock file: 1" in text
    start = text.index("only in full: 2")
    assert text[start + 1 : start + 3] == ["  go.sum (lock file)", "  and 1 more"]
    assert text[text.index("gold missing in arb: 1") + 1] == "  go.sum"


def test_what_cannot_be_compared(named: NamedSource, tmp_path: Path) -> None:
    with pytest.raises(SnapshotError, match="both are 'arb'"):
        difference(named, "arb", "arb")
    with pytest.raises(SnapshotError, match="unknown view"):
        difference(named, "arb", "ful")
    with pytest.raises(SnapshotError, match="views are of a Git repository"):
        difference(NamedSource("o/n", named.commit, "dist:numpy"))
    (tmp_path / "plain").mkdir()
    with pytest.raises(SnapshotError, match="not a Git repository"):
        difference(NamedSource("o/n", named.commit, str(tmp_path / "plain")))
