"""Whether a repository anchor stands alone: the strict variant, which leaves out what the parity rules glean.

The parity rules (:mod:`pytest_retrieval.text.anchors`) know no boundaries, so ``Cargo.lock`` gives
``argo.lock``, and every ``self.count`` of a diff is a config key. A strict anchor is one of those that

- is not a piece of a longer word or path on either side,
- as an error: opens after a blank or an opening sign, closes before a blank or punctuation, and has no blank
  just inside its quotes, as what stands between two stray quotes does,
- as a frame: has a suffix with a letter, so that addresses with a port are none,
- as a config key: neither ends in a file's suffix, nor is called, nor begins with a receiver (``self``,
  ``this``, ``cls``, ``super`` or a single letter).

Attribute access on any other name cannot be told from a config key and stays one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_WORD = rb"[A-Za-z0-9_]"
_RECEIVERS = frozenset((b"self", b"this", b"cls", b"super"))
_FILE_SUFFIXES = frozenset(
    b"astro bash bat bin c cc cfg cjs class conf cpp cs css csv cts cxx d dart dll ex exe exs gif go"
    b" gradle gz h hpp hs htm html ico in ini ipynb jar java jpeg jpg js json jsx kt kts less lock log"
    b" lua m map md mjs mod mts patch pdf php pl png po proto ps pxd py pyc pyi pyx r rb rs rst sass"
    b" scala scss sh snap so sql sum svelte svg swift tar tmpl toml tpl ts tsv tsx txt vue wasm whl"
    b" xml yaml yml zig zip zsh".split()
)

# What may not stand right before a literal of a class, and what may not follow it.
_PIECE_BEFORE: Mapping[str, re.Pattern[bytes]] = {
    "error": re.compile(rb"[^\s(\[{<=:,>|+-]"),
    "url": re.compile(rb"[A-Za-z0-9_+.-]"),
    "frame": re.compile(rb"[A-Za-z0-9_.-]"),
    "enum": re.compile(rb"[A-Za-z0-9_.~-]"),
    "config": re.compile(rb"[A-Za-z0-9_./\\$@~-]"),
}
_PIECE_AFTER: Mapping[str, re.Pattern[bytes]] = {
    "error": re.compile(rb"[^\s)\]}>.,;:!?|]"),
    "frame": re.compile(_WORD),
    "config": re.compile(rb"[A-Za-z0-9_(\[/\\]|\.[A-Za-z0-9_]|:[0-9]"),
}


def stands_alone(kind: str, text: bytes, start: int, end: int, literal: bytes) -> bool:
    """Whether the anchor ``literal`` of the class ``kind`` at ``text[start:end]`` is a strict one, too."""
    if start and _PIECE_BEFORE[kind].match(text, start - 1):
        return False
    after = _PIECE_AFTER.get(kind)
    if after is not None and after.match(text, end):
        return False
    if kind == "error":
        return literal == literal.strip()
    if kind == "frame":
        suffix = literal.rpartition(b":")[0].rpartition(b".")[2]
        return not suffix.isdigit()
    return kind != "config" or _is_key(literal)


def _is_key(literal: bytes) -> bool:
    """Whether a dotted name may be a config key rather than a file's name or access to an attribute."""
    first, *_, last = literal.split(b".")
    return len(first) > 1 and first not in _RECEIVERS and last not in _FILE_SUFFIXES
