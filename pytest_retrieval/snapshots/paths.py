"""Which paths of a tree are taken, which are walked, and what counts as text."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from pytest_retrieval.model import path_key

TEXT_LIMIT = 1 << 20
TEXT_HEAD = 8192
UNWALKED = frozenset({".git", ".corvint", ".context-corvint"})
OWN_FOLDER = ".retrieval"  # where a run writes by default; part of no folder's tree
_PART_LIMIT = 255
_PATH_LIMIT = 4096
# Most paths are of this form, which has none of the faults: every part starts with a letter or digit.
_PLAIN = re.compile(r"(?:[A-Za-z0-9_][A-Za-z0-9_.+@-]*+/)*+[A-Za-z0-9_][A-Za-z0-9_.+@-]*")


def is_safe(path: str) -> bool:
    """Whether ``path`` may be joined to a folder: relative, no empty, ``.``, ``..`` or ``.git`` part.

    ``.git`` is refused in any case, as Git itself does. A path that starts with a backslash, holds a NUL, is
    no UTF-8 with surrogate escapes, or is longer than a file system takes is not safe either.
    """
    if len(path) <= _PART_LIMIT and _PLAIN.fullmatch(path):
        return True
    if not path or path[0] in "/\\" or "\0" in path or not _is_encodable(path):
        return False
    parts = path.split("/")
    if any(part.lower() in {"", ".", "..", ".git"} for part in parts):
        return False
    return len(path_key(path)) < _PATH_LIMIT and all(len(path_key(part)) <= _PART_LIMIT for part in parts)


def _is_encodable(path: str) -> bool:
    try:
        return path_key(path).decode("utf-8", "surrogateescape") == path
    except UnicodeEncodeError:
        return False


def is_walked(path: str) -> bool:
    """Whether no folder above ``path`` is one of those that text search leaves alone."""
    return UNWALKED.isdisjoint(path.split("/")[:-1])


def is_text(size: int, head: bytes) -> bool:
    """The text-file rule: at most 1 MiB, and no NUL in the first 8,192 bytes."""
    return size <= TEXT_LIMIT and b"\0" not in head[:TEXT_HEAD]


def folders(paths: Iterable[str]) -> Collection[str]:
    """Every folder that one of ``paths`` lies in, at any depth."""
    found: set[str] = set()
    for path in paths:
        above = path.rpartition("/")[0]
        while above and above not in found:
            found.add(above)
            above = above.rpartition("/")[0]
    return found
