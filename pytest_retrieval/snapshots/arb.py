"""The view ``arb``: the snapshot that a release of Agent Retrieval Bench ships, from a plain clone.

Which paths the benchmark's builder drops, and how it cuts texts (Agent Retrieval Bench releases v2).
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from pytest_retrieval.model import path_key

PATH_CAP = 20_000
SIZE_CAP = 400_000
TEXT_CAP = 8_000
CUT_MARK = "\n...[truncated]"

_LOCK_FILES = frozenset(
    {
        "package-lock.json",
        "pnpm-lock.yaml",
        "yarn.lock",
        "poetry.lock",
        "Pipfile.lock",
        "Cargo.lock",
        "Gemfile.lock",
        "go.sum",
    }
)
# Anywhere and unanchored, as the builder tests them: `rebuild/x.py` goes too.
_INSIDE = ("dist/", "build/", "vendor/", "third_party/", "node_modules/", "target/", ".tox/", ".venv/")
_ENDINGS = (".lock", ".min.js", ".map", ".snap", ".snapshot", ".pb.go", ".generated.go", ".g.cs")
# fmt: off
_BINARY = frozenset((
    ".7z", ".avif", ".bin", ".bmp", ".bz2", ".class", ".dll", ".dylib",
    ".eot", ".exe", ".gif", ".gz", ".ico", ".jar", ".jpeg", ".jpg",
    ".mp4", ".o", ".otf", ".pdf", ".png", ".pyc", ".so", ".svg",
    ".tar", ".tgz", ".ttf", ".wasm", ".webp", ".woff", ".woff2", ".zip",
))
# fmt: on
# What git ls-tree without -z writes in double quotes (core.quotePath): the builder loses such files.
_QUOTED = re.compile(rb'[\x00-\x1f"\\\x7f-\xff]')


def dropped_path(path: str) -> str | None:
    """Why the view leaves out a path, whatever its content, or None."""
    pure = PurePosixPath(path)
    if pure.name in _LOCK_FILES:
        return "lock file"
    if any(folder in path for folder in _INSIDE):
        return "generated folder"
    if path.endswith(_ENDINGS):
        return "generated file"
    if pure.suffix.lower() in _BINARY:
        return "binary extension"
    if _QUOTED.search(path_key(path)):
        return "quoted path"
    return None


def dropped_size(size: int) -> str | None:
    """Why the view leaves out a file of ``size`` bytes, or None."""
    if size > SIZE_CAP:
        return "over 400,000 bytes"
    return "empty" if size == 0 else None


def shown_text(content: bytes) -> tuple[str, bool] | None:
    """The text that a release ships for ``content`` and whether it is cut; None for a binary file."""
    if b"\0" in content:
        return None
    text = content.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n").strip()
    if len(text) <= TEXT_CAP:
        return text, False
    return text[:TEXT_CAP].rstrip() + CUT_MARK, True
