"""What a text is made of: words, tokens and terms, all over bytes with ASCII character classes."""

from __future__ import annotations

import re

MIN_TERM = 2  # characters: a token of one character is no term of a query

_WORD_BYTES = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"
_ONLY_WORDS = bytes(byte if byte in _WORD_BYTES else ord(" ") for byte in range(256))
_CAMEL = re.compile(rb"(?<=[a-z])(?=[A-Z])")
_RUN = re.compile(rb"[a-z0-9]+")

# The only code points outside ASCII whose lower case is one ASCII letter: U+212A and U+0130. In UTF-8 their
# first bytes never continue another sequence, so that replacing bytes is right in invalid text too.
_FOLDED = ((b"\xe2\x84\xaa", b"k"), (b"\xc4\xb0", b"i"))


def words(data: bytes) -> list[bytes]:
    """The runs of ``[A-Za-z0-9_]+`` in order."""
    return data.translate(_ONLY_WORDS).split()


def tokens(data: bytes) -> list[bytes]:
    """The lowercased runs of ``[A-Za-z0-9]+`` in order, after a break between ``[a-z]`` and ``[A-Z]``.

    >>> tokens(b"HTTPServer2Go parseURL_v2")
    [b'httpserver2go', b'parse', b'url', b'v2']
    """
    return _RUN.findall(_CAMEL.sub(b" ", data).lower())


def terms(text: str) -> list[bytes]:
    """The distinct tokens of ``text`` that have at least two characters, sorted.

    Lone surrogates are legal: like everything outside ASCII they only separate tokens.
    """
    found = set(tokens(text.encode("utf-8", "surrogatepass")))
    return sorted(token for token in found if len(token) >= MIN_TERM)


def fold(data: bytes) -> bytes:
    """``data`` in lower case as far as ASCII text can match it: U+212A gives ``k``, U+0130 gives ``i``.

    Other letters stay as they are, for no term and no identifier holds one.
    """
    return respell(data).lower()


def respell(data: bytes) -> bytes:
    """``data`` with U+212A and U+0130 as the letters that they are in lower case; case kept elsewhere.

    Returns ``data`` itself, not a copy, where there is nothing to replace.
    """
    if data.isascii():
        return data
    for letter, ascii_letter in _FOLDED:
        data = data.replace(letter, ascii_letter)
    return data
