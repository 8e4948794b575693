"""What a path of a history is, judged by its name alone: text, source, test."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

# fmt: off
_NO_TEXT = frozenset((
    ".png", ".jpg", ".jpeg", ".gif", ".ico", ".pdf", ".zip", ".gz", ".tar", ".bin", ".wasm", ".woff",
    ".woff2", ".ttf", ".lock", ".sum", ".jsonl",
))
_SOURCE = frozenset((
    ".go", ".py", ".ts", ".tsx", ".js", ".jsx", ".rs", ".java", ".kt", ".swift", ".rb", ".c", ".cc", ".cpp",
    ".h", ".cs", ".sh",
))
# fmt: on
_LONE = re.compile("[\ud800-\udfff]")
_TEST_FOLDERS = ("test", "tests")


def is_text_path(path: str) -> bool:
    """Whether a person would read the file: nothing hidden at the top, no data of tests, no binary.

    A name that is no UTF-8 can be written into no task.
    """
    is_hidden = path.startswith(".") or "/testdata/" in path or _LONE.search(path) is not None
    return not is_hidden and _extension(path) not in _NO_TEXT


def is_source_path(path: str) -> bool:
    """Whether the file is code, tests included."""
    return _extension(path) in _SOURCE


def is_test_path(path: str) -> bool:
    """Whether the file is a test, by its name or by a folder above it."""
    parts = path.lower().split("/")
    name = parts[-1]
    return (
        name.startswith("test_")
        or name.endswith(("_test.go", "_test.py"))
        or ".test." in name
        or ".spec." in name
        or any(part in _TEST_FOLDERS for part in parts)
    )


def language(path: str) -> str:
    """The extension without its dot, as languages are counted by."""
    return _extension(path)[1:]


def _extension(path: str) -> str:
    """From the last dot of the name, in lower case; empty where there is none."""
    name = PurePosixPath(path).name.lower()
    return name[name.rfind(".") :] if "." in name else ""
