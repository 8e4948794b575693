"""Repository anchors: the literals of a query that a tool could look up in a repository as they stand.

The rules are those of the product's clause TCP-V0-022, on bytes and without word boundaries: a stray quote
pairs up across prose, ``self.count`` is a config key, ``Cargo.lock`` gives ``argo.lock``. They fire often, so
read the counts per class beside the flag, and those of the strict anchors, which stand alone.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from pytest_retrieval.text.boundaries import stands_alone

MAX_TEXT_BYTES = 32_000  # of the whole query text, its JSON envelope included; a longer one bears no anchor
MAX_ANCHORS = 16
LITERAL_BYTES = range(4, 257)

# What is no anchor is consumed as one run by the second alternative: every start inside that run would fail
# at the same place, and trying them all takes quadratic time.
_CLASSES = {
    "error": re.compile(rb'"(?P<literal>[^"\n]+)"'),
    "url": re.compile(
        rb"(?P<literal>[A-Za-z][A-Za-z0-9+.-]*+://[^\t\n\f\r \"'<>()`]+)|[A-Za-z][A-Za-z0-9+.-]*+"
    ),
    "frame": re.compile(rb"(?P<literal>[A-Za-z0-9_./-]+\.[A-Za-z0-9]+:[0-9]+)|[A-Za-z0-9_./-]++"),
    "enum": re.compile(
        rb"(?P<literal>[A-Za-z_][A-Za-z0-9_]*+(?:::[A-Za-z_][A-Za-z0-9_]*+)++)|[A-Za-z_][A-Za-z0-9_]*+"
    ),
    "config": re.compile(rb"(?P<literal>[a-z][a-z0-9_-]*+(?:\.[a-z][a-z0-9_-]*+)++)|[a-z][a-z0-9_-]*+"),
}
_TELLING = re.compile(rb"[A-Za-z0-9_]{3}")
_FILE_SUFFIXES = frozenset(b"go py rs ts tsx js java kt rb cs cpp c h md json yaml yml toml txt".split())


@dataclass(frozen=True, slots=True)
class Anchor:
    """A literal and its class (error, url, frame, enum, config).

    ``start`` and ``end`` are bytes of the searched text, quotes of an error included. ``strict`` tells that
    it stands alone, by the rules of :mod:`pytest_retrieval.text.boundaries`.
    """

    kind: str
    literal: str
    start: int
    end: int
    strict: bool


def anchors(query_text: str) -> tuple[Anchor, ...]:
    """The anchors of a query text in the order of their places: distinct literals, at most 16.

    A text that is JSON is searched in its string values only, joined by line feeds; keys and quotes of the
    envelope do not count. A text of more than 32,000 bytes has none.
    """
    return _distinct(_found(query_text))


def strict_anchors(query_text: str) -> tuple[Anchor, ...]:
    """The strict ones in the same way; a literal may stand alone at another place than its first."""
    return _distinct(anchor for anchor in _found(query_text) if anchor.strict)


def anchor_counts(query_text: str) -> tuple[Mapping[str, int], Mapping[str, int]]:
    """How many of :func:`anchors` and of :func:`strict_anchors` are of each class, without zeros."""
    found = _found(query_text)
    strict = _distinct(anchor for anchor in found if anchor.strict)
    return _by_class(_distinct(found)), _by_class(strict)


def _by_class(found: Iterable[Anchor]) -> Mapping[str, int]:
    return Counter(anchor.kind for anchor in found)


def _distinct(found: Iterable[Anchor]) -> tuple[Anchor, ...]:
    first: dict[str, Anchor] = {}
    for anchor in found:
        first.setdefault(anchor.literal, anchor)
    return tuple(first.values())[:MAX_ANCHORS]


def _found(query_text: str) -> Sequence[Anchor]:
    """Every anchor in the order of places, repeated ones too."""
    if len(_encoded(query_text)) > MAX_TEXT_BYTES:
        return ()
    return sorted(_admitted(_encoded(_searched_text(query_text))), key=lambda anchor: anchor.start)


def _admitted(text: bytes) -> Iterator[Anchor]:
    whole = text
    for kind, pattern in _CLASSES.items():
        blanked = bytearray(text)
        for match in pattern.finditer(text):
            literal = match["literal"]
            if literal is None:
                continue
            # A rejected literal hides what is inside it from the later classes just as an admitted one does.
            blanked[match.start() : match.end()] = b" " * (match.end() - match.start())
            if _is_admitted(kind, literal):
                strict = stands_alone(kind, whole, *match.span(), literal)
                yield Anchor(kind, literal.decode("utf-8", "surrogatepass"), *match.span(), strict)
        text = bytes(blanked)


def _is_admitted(kind: str, literal: bytes) -> bool:
    if kind == "config" and literal.rpartition(b".")[2] in _FILE_SUFFIXES:
        return False
    return len(literal) in LITERAL_BYTES and _TELLING.search(literal) is not None


def _searched_text(query_text: str) -> str:
    try:
        # Numbers are of no interest, and as floats they have no limit of digits.
        value = json.loads(query_text, parse_int=float, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return query_text
    return "\n".join(_strings(value))


def _strings(value: Any) -> Iterator[str]:
    """The string values at any depth, objects in the byte order of their keys."""
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            waiting.extend(
                value[key] for key in sorted(value, reverse=True)
            )  # code points sort as UTF-8 does
        elif isinstance(value, list):
            waiting.extend(reversed(value))


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
