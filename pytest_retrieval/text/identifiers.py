"""The identifiers of a query: what someone would type into a search tool, never the query's JSON keys."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

MIN_LENGTH = 4  # characters, of an identifier and of a file's stem

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CAMEL = re.compile(r"[a-z][A-Z]")
# A run is always consumed whole, with or without an extension after it: the stem of STEM.EXT is a whole run
# (or what an extension before it has left of one), and scanning stays linear in runs of a megabyte.
_STEM = re.compile(
    r"([A-Za-z0-9_-]++)(?:\.(go|py|rs|ts|tsx|js|java|kt|rb|cs|cpp|c|h)\b)?",
    re.ASCII,
)


def identifiers(query: Mapping[str, Any] | Sequence[Any] | str) -> list[str]:
    """The distinct identifiers of the string values of ``query``, at any depth, sorted.

    An identifier is a ``[A-Za-z_][A-Za-z0-9_]*`` of at least four characters with an underscore inside or a
    change from lower to upper case, or the stem (of at least four characters) of a code file's name.
    """
    found: set[str] = set()
    for text in _strings(query):
        found.update(name for name in _NAME.findall(text) if _is_telling(name))
        found.update(stem for stem, extension in _STEM.findall(text) if extension and len(stem) >= MIN_LENGTH)
    return sorted(found)


def _is_telling(name: str) -> bool:
    return len(name) >= MIN_LENGTH and ("_" in name.strip("_") or _CAMEL.search(name) is not None)


def _strings(value: Any) -> Iterator[str]:
    """The strings in ``value``, by a stack, for a query may be nested deeper than Python recurses."""
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, Mapping):
            waiting.extend(value.values())
        elif isinstance(value, Sequence):
            waiting.extend(value)
