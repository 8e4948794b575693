"""A few readable words for a sample, from which its item id is made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

_TITLES = ("pr_title", "title", "issue_title", "intent")
_LENGTH = 60


def title_of(query: Mapping[str, Any], changed_file: str | None = None) -> str:
    """The query's own title, else the changed file's stem, else the first words of its longest text."""
    for candidate in _candidates(query, changed_file):
        if title := _printable(candidate):
            return title
    return ""


def _candidates(query: Mapping[str, Any], changed_file: str | None) -> Iterator[str]:
    yield from (query[key] for key in _TITLES if isinstance(query.get(key), str))
    changed = changed_file or query.get("changed_file")
    if isinstance(changed, str):
        yield PurePosixPath(changed).stem
    yield from sorted((value for value in query.values() if isinstance(value, str)), key=len, reverse=True)


def _printable(text: str) -> str:
    """The first words of ``text`` on one line, without control characters and lone surrogates."""
    head = "".join(char if char.isprintable() else " " for char in text[: 4 * _LENGTH])
    words = " ".join(head.split())
    return words if len(words) <= _LENGTH else words[:_LENGTH].rsplit(" ", 1)[0]
