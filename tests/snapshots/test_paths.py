from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_retrieval.model import path_key
from pytest_retrieval.snapshots.paths import folders, is_safe, is_text, is_walked


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/",
        "/etc/passwd",
        "\\a",
        "a//b",
        "a/",
        "./a",
        "a/.",
        "..",
        "a/../b",
        ".git",
        "a/.git/b",
        ".git/config",
        "a\0b",
        "\ud800",
        "\udcc3\udca9",
        "x" * 256,
        "a/" * 2100 + "a",
    ],
)
def test_paths_that_are_refused(path: str) -> None:
    assert not is_safe(path)


@pytest.mark.parametrize(
    "path",
    ["a", "a\\b", ".gitignore", ".github/x", "a..b", "...", "é", "\udcff.py", "a b", "git", "a\nb", "-rf"],
)
def test_paths_that_are_taken(path: str) -> None:
    assert is_safe(path)


@given(st.lists(st.sampled_from(["a", "..", ".", "", ".git", "b.py", "\\", "~", "c\u2028d"]), max_size=6))
def test_a_safe_path_stays_below_its_root(parts: list[str]) -> None:
    path = "/".join(parts)
    if is_safe(path):
        place = Path("/root/of/tree") / path
        assert place.parts[:4] == ("/", "root", "of", "tree")
        assert not {"..", ".git"} & set(place.parts)
        assert str(place) == f"/root/of/tree/{path}"


@given(st.text(st.characters(exclude_categories=[]), max_size=20))
def test_a_safe_path_has_bytes_of_its_own(path: str) -> None:
    if is_safe(path):
        assert path_key(path).decode("utf-8", "surrogateescape") == path


def test_folders_that_text_search_leaves_alone() -> None:
    assert not is_walked(".corvint/x.py")
    assert not is_walked("a/.context-corvint/b/c")
    assert not is_walked("a/.git/b")
    assert is_walked("a/.corvint")
    assert is_walked(".corvintx/a")


def test_the_text_rule() -> None:
    assert is_text(1_048_576, b"a" * 8192)
    assert not is_text(1_048_577, b"a")
    assert not is_text(10_000, b"a" * 8191 + b"\0")
    assert is_text(10_000, b"a" * 8192 + b"\0")
    assert is_text(0, b"")


def test_folders_above_paths() -> None:
    assert set(folders(["a/b/c", "a/d", "e"])) == {"a", "a/b"}
