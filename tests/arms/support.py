"""Snapshots in memory, and the lexical arms written straight from the specification, slowly."""

from __future__ import annotations

import hashlib
import math
import re
import string
from collections.abc import Iterable, Iterator, Mapping

from pytest_retrieval.model import path_key
from pytest_retrieval.snapshots.base import MemoryContents, Snapshot, Tree, TreeFile
from pytest_retrieval.text.identifiers import identifiers
from pytest_retrieval.text.tokens import terms, tokens

WORD_BYTES = (string.ascii_letters + string.digits + "_").encode()

Scored = list[tuple[str, float]]


class CountingContents(MemoryContents):
    """Contents that remember what was read."""

    def __init__(self, held: dict[str, bytes]) -> None:
        super().__init__(held)
        self.read_digests: list[str] = []

    def stream(self, files: Iterable[TreeFile]) -> Iterator[tuple[TreeFile, Iterator[bytes]]]:
        for file in files:
            self.read_digests.append(file.digest)
            yield from super().stream([file])


def snapshot_of(files: Mapping[str, bytes], *, binary: tuple[str, ...] = ()) -> Snapshot:
    """A snapshot of ``files``, of which all but ``binary`` are text, whatever is in them."""
    digests = {path: hashlib.sha256(data).hexdigest() for path, data in files.items()}
    entries = tuple(
        TreeFile(path, len(data), digests[path], path not in binary) for path, data in files.items()
    )
    contents = CountingContents({digests[path]: data for path, data in files.items()})
    return Snapshot("owner/name", "0" * 40, "memory", Tree(entries, contents, "full"))


def lower(data: bytes) -> bytes:
    """Lower case, one code point to one code point."""
    text = data.decode("utf-8", "surrogateescape")
    return "".join(character.lower()[0] for character in text).encode("utf-8", "surrogateescape")


def naive_grep(files: Mapping[str, bytes], query_text: str) -> Scored:
    scores = {}
    for path, data in files.items():
        content = lower(data)
        distinct = occurrences = 0
        for term in terms(query_text):
            distinct += 2 if term in tokens(path_key(path)) else term in content
            occurrences += content.count(term)
        scores[path] = (distinct, occurrences)
    return by_two_keys(scores)


def naive_grep_ident(files: Mapping[str, bytes], query: Mapping[str, object]) -> Scored:
    scores = {}
    for path, data in files.items():
        distinct = occurrences = 0
        for identifier in identifiers(query):
            found = whole_words(data, identifier.encode())
            distinct += (found > 0) + (identifier.lower().encode() in lower(path_key(path)))
            occurrences += found
        scores[path] = (distinct, occurrences)
    return by_two_keys(scores)


def whole_words(data: bytes, word: bytes) -> int:
    """Non-overlapping occurrences with no byte of a word on either side."""
    found = place = 0
    while place + len(word) <= len(data):
        end = place + len(word)
        sides = data[max(place - 1, 0) : place] + data[end : end + 1]
        if data[place:end] == word and not any(byte in WORD_BYTES for byte in sides):
            found += 1
            place = end
        else:
            place += 1
    return found


def by_two_keys(scores: Mapping[str, tuple[int, int]]) -> Scored:
    order = sorted(scores, key=lambda path: (-scores[path][0], -scores[path][1], path_key(path)))
    return [(path, scores[path][0]) for path in order if scores[path][0] > 0]


def naive_bm25(files: Mapping[str, bytes], query_tokens: list[bytes]) -> Scored:
    k1, b = 1.2, 0.75
    texts = {path: tokens(data) for path, data in files.items()}
    mean_length = sum(map(len, texts.values())) / max(len(texts), 1)
    scores = dict.fromkeys(files, 0.0)
    for token in sorted(set(query_tokens)):
        n = sum(token in text for text in texts.values())
        idf = math.log(1 + (len(files) - n + 0.5) / (n + 0.5))
        for path, text in texts.items():
            tf = text.count(token)
            if tf:
                length = len(text)
                scores[path] += idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * length / mean_length))
    order = sorted(scores, key=lambda path: (-scores[path], path_key(path)))
    return [(path, scores[path]) for path in order if scores[path] > 0]


def naive_ident_tokens(query: Mapping[str, object]) -> list[bytes]:
    return [
        token.encode().lower()
        for name in identifiers(query)
        for token in re.findall("[A-Za-z0-9]+", re.sub("([a-z])(?=[A-Z])", r"\1 ", name))
    ]
