"""The code that a script is part of: what changes when a tool does whose script stays the same."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from urllib.parse import unquote, urlsplit

_CODE = frozenset(
    (".py", ".js", ".mjs", ".cjs", ".ts", ".sh", ".pl", ".pm", ".rb", ".php", ".lua", ".jar", ".so")
)
_NOT_OURS = frozenset(("node_modules", "__pycache__"))
_MARKS = ("pyvenv.cfg", "CACHEDIR.TAG")  # of an environment, and of a cache such as our store
_SHARED = frozenset(("bin", "sbin", ".bin"))  # where the scripts of many tools lie side by side
_MOST_FILES = 2_000
_MOST_FOLDERS = 500
_UP = 4  # folders between a script of npm's and what names its version


def code_beside(script: Path) -> Iterator[Path]:
    """The code below the folder of ``script``, which may be a link, and the package.json above it."""
    real = script.resolve()
    if real.parent.name not in _SHARED:
        yield from code_below(real.parent)
    above = (folder / "package.json" for folder in real.parents[:_UP])
    yield from islice((path for path in above if path.is_file()), 1)


def code_below(folder: Path) -> Iterator[Path]:
    """The files of code below ``folder``, in the order of their names; of a large tree the first 2,000.

    What is hidden, installed there, an environment of its own, kept by a cache, or for temporary files, as
    the trees of a run are, is passed over.
    """
    yield from islice(_code(folder), _MOST_FILES)


def editable(distribution: Path) -> Iterator[Path]:
    """The code of a ``distribution`` (its .dist-info) that is installed in place, whose version stays.

    This package is none of the tools.
    """
    if distribution.name.startswith("pytest_retrieval-"):
        return
    try:
        origin = json.loads((distribution / "direct_url.json").read_bytes())
        if origin["dir_info"]["editable"]:
            yield from code_below(Path(unquote(urlsplit(origin["url"]).path)))
    except (OSError, ValueError, TypeError, KeyError):
        return


def _code(folder: Path) -> Iterator[Path]:
    temporary = Path(tempfile.gettempdir()).resolve()
    for place, folders, names in islice(os.walk(folder.resolve()), _MOST_FOLDERS):
        here = Path(place)
        folders[:] = sorted(
            name for name in folders if here / name != temporary and _may_be_ours(here / name)
        )
        files = (here / name for name in sorted(names))
        yield from (path for path in files if path.suffix in _CODE and path.is_file())


def _may_be_ours(folder: Path) -> bool:
    name = folder.name
    if name.startswith(".") or name in _NOT_OURS:
        return False
    return not any((folder / mark).exists() for mark in _MARKS)
