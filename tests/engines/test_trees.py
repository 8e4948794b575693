"""Which tree a tool is given, and its paths brought back; cases 40 to 42 of engine.md."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_retrieval.engines.trees import corpus_path, indexed_tree

CHECKOUT = Path("/c/kv")


def test_41_the_tree_of_no_one_and_several_folders() -> None:
    trees = [
        indexed_tree(CHECKOUT, subdirs) for subdirs in ([], ["src"], ["src", "deps/lua"], ["./src/"], ["."])
    ]
    assert [(str(tree.root), tree.shown, tree.exact) for tree in trees] == [
        ("/c/kv", ".", True),
        ("/c/kv/src", "src", True),
        ("/c/kv", ".", False),
        ("/c/kv/src", "src", True),
        ("/c/kv", ".", True),
    ]


@pytest.mark.parametrize(
    ("printed", "path"),
    [
        ("/c/kv/src/net.c", "src/net.c"),
        ("net.c", "src/net.c"),
        ("./net.c", "src/net.c"),
        ("a//b/../net.c", "src/a/net.c"),
        (" net.c\t", "src/net.c"),
        ("sub\\net.c", "src/sub/net.c"),
        ("file:///c/kv/src/a%20b.c", "src/a b.c"),
        ("/c/kv/tests/t.c", "tests/t.c"),
        ("/c/kv/src/../tests/t.c", "tests/t.c"),
        ("../tests/t.c", "tests/t.c"),
        ("/tmp/net.c", None),
        ("/c/kvstore/net.c", None),
        ("../../net.c", None),
        ("/c/kv/src/../../x", None),
    ],
)
def test_40_paths_come_back_to_the_corpus(printed: str, path: str | None) -> None:
    assert corpus_path(printed, indexed_tree(CHECKOUT, ["src"])) == path


def test_42_a_prefix_is_taken_off() -> None:
    tree = indexed_tree(CHECKOUT, [])
    assert corpus_path("kv::src/net.c", tree, "kv::") == "src/net.c"
    assert corpus_path("src/kv::net.c", tree, "kv::") == "src/kv::net.c"


def test_a_checkout_behind_a_link_is_known_by_both_names(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    tree = indexed_tree(tmp_path / "link", [])
    for name in ("real", "link"):
        assert corpus_path(str(tmp_path / name / "a.c"), tree) == "a.c"


@given(st.text())
def test_whatever_is_printed_a_path_stays_inside(printed: str) -> None:
    path = corpus_path(printed, indexed_tree(CHECKOUT, []))
    assert path is None or (not path.startswith("/") and ".." not in path.split("/"))
