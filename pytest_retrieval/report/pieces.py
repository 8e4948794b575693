"""Lines of text whose pieces have roles, which the terminal's owner turns into colour."""

from __future__ import annotations

from typing import NamedTuple


class Piece(NamedTuple):
    """Some text and what it is: ``""``, ``bold``, ``good``, ``bad`` or ``dim``."""

    text: str
    role: str = ""


Line = tuple[Piece, ...]


def plain(line: Line) -> str:
    """A line without its roles."""
    return "".join(piece.text for piece in line)


def plural(count: int, noun: str) -> str:
    """``1 sample``, ``2 samples``, ``5 repositories``."""
    return f"{count} {inflected(count, noun)}"


def inflected(count: int, noun: str) -> str:
    """``noun`` as it stands behind ``count``: ``sample`` or ``samples``, ``query`` or ``queries``."""
    if count == 1:
        return noun
    return f"{noun.removesuffix('y')}ies" if noun.endswith("y") else f"{noun}s"


def printable(text: str) -> str:
    """Text from files and tools, with what could steer a terminal written as an escape."""
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)
