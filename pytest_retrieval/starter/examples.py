"""Queries to begin with, out of a repository's own file names.

They ask for a file by the words of its name, which is easy: they show that all is wired, and measure nothing.
Their ids say that they are examples.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import Any
from unicodedata import category

COUNT = 12
_CODE = re.compile(
    r"\.(c|cc|clj|cpp|cs|cxx|dart|ex|go|h|hpp|java|jsx?|kt|lua|m|php|pl|py|r|rb|rs|scala|sh|sql|swift|tsx?|vue|zig)"
)
# Over the kinds of a name's characters: U upper case, l any other letter or a mark on one, d a digit.
_WORD = re.compile(r"U+(?!l)|U?l+|d+")


def examples(paths: Iterable[str], count: int = COUNT) -> list[dict[str, Any]]:
    """Up to ``count`` rows of the short form, each about one file whose name has words of its own.

    Files of code come first, and no folder gives a second one before every other has given one.
    """
    named = [(path, words) for path in sorted(paths) if (words := _words(path)) and path.isprintable()]
    unique = Counter(" ".join(words) for _, words in named)
    own = [(path, words) for path, words in named if unique[" ".join(words)] == 1]
    chosen = list(_spread(own))[:count]
    return [
        {
            "id": f"example-{number:02}",
            "query": f"where is the code for {' '.join(words)}?",
            "relevant": [path],
        }
        for number, (path, words) in enumerate(chosen, 1)
    ]


def _words(path: str) -> Sequence[str]:
    """The words of a file's name, or none where it says nothing by itself."""
    name = PurePosixPath(path)
    if name.name.startswith((".", "__")) or any(part.startswith(".") for part in name.parts):
        return ()
    kinds = "".join(map(_kind, name.stem))
    spans = [found.span() for found in _WORD.finditer(kinds) if found[0][0] != "d"]
    words = [name.stem[start:end].lower() for start, end in spans]
    return words if any(len(word) > 2 for word in words) else ()


def _kind(character: str) -> str:
    """What a character of a name is to its words, in any script."""
    if character.isupper():
        return "U"
    if character.isnumeric() and not character.isalpha():
        return "d"
    return "l" if character.isalpha() or category(character).startswith("M") else " "


def _spread(named: Sequence[tuple[str, Sequence[str]]]) -> Iterator[tuple[str, Sequence[str]]]:
    """Code before other files, then by turns among folders."""
    seen: Counter[tuple[bool, str]] = Counter()
    places = []
    for path, words in named:
        name = PurePosixPath(path)
        other = _CODE.fullmatch(name.suffix.lower()) is None
        turn = seen[other, name.parent.as_posix()]
        seen[other, name.parent.as_posix()] += 1
        places.append((other, turn, path, words))
    for _, _, path, words in sorted(places):
        yield path, words
