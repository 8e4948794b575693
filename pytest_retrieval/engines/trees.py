"""Which tree a tool is given, and how the paths it answers are brought back to the corpus."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from urllib.parse import unquote


@dataclass(frozen=True, slots=True)
class Corpus:
    """What a corpus is called, its language, and the folders under test (all of it, where there are none)."""

    name: str
    language: str = ""
    subdirs: tuple[str, ...] = ()


@dataclass(frozen=True)
class IndexedTree:
    """The folder a tool searches: ``checkout`` or one folder of it.

    ``inside`` is that folder relative to the checkout, empty for all of it. ``exact`` is false where the
    corpus names several folders, which no one-directory tool can be handed.
    """

    checkout: Path
    inside: str = ""
    exact: bool = True

    @property
    def root(self) -> Path:
        """The folder itself: what ``{{.Root}}`` means."""
        return self.checkout / self.inside

    @property
    def shown(self) -> str:
        """The folder as rows name it: ``.`` for the whole checkout."""
        return self.inside or "."

    @cached_property
    def places(self) -> tuple[tuple[str, str], ...]:
        """Absolute folders, links resolved and as given, with what leads from the corpus to each."""
        under_root = [(str(self.root), self.inside), (str(self.root.resolve()), self.inside)]
        under_checkout = [(str(self.checkout), ""), (str(self.checkout.resolve()), "")]
        return (*under_root, *under_checkout)


def indexed_tree(checkout: Path, subdirs: Sequence[str]) -> IndexedTree:
    """The tree that one folder can express: exactly one of ``subdirs``, else the whole checkout."""
    if len(subdirs) == 1:
        inside = posixpath.normpath(subdirs[0])
        return IndexedTree(checkout, "" if inside == "." else inside)
    return IndexedTree(checkout, exact=not subdirs)


def corpus_path(text: str, tree: IndexedTree, strip_prefix: str = "") -> str | None:
    """``text``, a path as a tool printed it, relative to the corpus; None for one that lies outside of it."""
    path = text.strip().replace("\\", "/")
    if path.startswith("file://"):
        path = unquote(path.removeprefix("file://"))
    if strip_prefix:
        path = path.removeprefix(strip_prefix)
    if path.startswith("/"):
        return _relative(posixpath.normpath(path), tree)
    return _joined(tree.inside, path)


def _relative(path: str, tree: IndexedTree) -> str | None:
    for folder, inside in tree.places:
        if path == folder or path.startswith(f"{folder}/"):
            return _joined(inside, path[len(folder) + 1 :])
    return None


def _joined(inside: str, path: str) -> str | None:
    whole = posixpath.normpath(posixpath.join(inside, path))
    return None if whole == ".." or whole.startswith(("../", "/")) else whole
