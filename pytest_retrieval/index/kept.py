"""Word counts as the store keeps them: columns over all texts that were counted together."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from pytest_retrieval.index.vocabulary import Integers, Vocabulary, WordCounts
from pytest_retrieval.store.pack import Block, Place
from pytest_retrieval.store.shelf import Shelf

KIND = "words1"  # another number whenever the meaning of a word or the layout changes
_HEAD = struct.Struct("<I")
_NARROW = ("<u1", "<u2", "<u4")


def kept_counts(
    shelf: Shelf, vocabulary: Vocabulary, digests: Iterable[str]
) -> Iterator[tuple[str, WordCounts]]:
    """The kept counts of the texts ``digests``, in numbers of ``vocabulary``; others are left out."""
    for data, places in shelf.fetch(bytes.fromhex(digest) for digest in digests):
        yield from _decoded(data, places, vocabulary)


def keep_counts(shelf: Shelf, vocabulary: Vocabulary, counted: Mapping[str, WordCounts]) -> None:
    """Put the counts of texts, by digest, on ``shelf``."""
    if counted:
        shelf.add([_encoded(counted, vocabulary)])


def _encoded(counted: Mapping[str, WordCounts], vocabulary: Vocabulary) -> Block:
    """The entries of all texts behind one another, those of a respelling right behind their text's."""
    rows: list[WordCounts] = []
    places: list[Place] = []
    respelled: dict[str, int] = {}
    start = 0
    for digest, counts in counted.items():
        places.append(Place(bytes.fromhex(digest), start, len(counts.words)))
        rows.append(counts)
        if counts.respelled is not None:
            rows.append(counts.respelled)
            respelled[digest] = len(counts.respelled.words)
        start += counts.entries
    words = np.concatenate([row.words for row in rows])
    counts_of = np.concatenate([row.counts for row in rows])
    used = np.zeros(len(vocabulary), bool)
    used[words] = True
    local = (np.cumsum(used, dtype=np.int32) - 1)[words]
    spelt = b"\n".join(vocabulary.spell(np.flatnonzero(used).astype(np.int32)))
    columns = [_narrowed(local), _narrowed(counts_of)]
    facts = {"entries": start, "types": [column.dtype.str for column in columns], "respelled": respelled}
    head = json.dumps(facts).encode()
    data = b"".join((_HEAD.pack(len(head)), head, *(column.tobytes() for column in columns), spelt))
    return Block(data, places)


def _narrowed(numbers: Integers) -> NDArray[np.unsignedinteger]:
    """The same numbers in the narrowest type that holds them."""
    largest = int(numbers.max(initial=0))
    fits = next(name for name in _NARROW if largest <= np.iinfo(name).max)
    return numbers.astype(fits)


def _decoded(
    data: bytes, places: Sequence[Place], vocabulary: Vocabulary
) -> Iterator[tuple[str, WordCounts]]:
    start = _HEAD.size + _HEAD.unpack_from(data)[0]
    facts = json.loads(data[_HEAD.size : start])
    entries, (word_type, count_type) = facts["entries"], facts["types"]
    local = np.frombuffer(data, word_type, entries, start)
    start += local.nbytes
    counts = np.frombuffer(data, count_type, entries, start)
    spelt = data[start + counts.nbytes :].split(b"\n")
    respelled = {bytes.fromhex(digest): length for digest, length in facts["respelled"].items()}
    numbers = _numbers(
        spelt, local, [(p.start, p.length + respelled.get(p.key, 0)) for p in places], vocabulary
    )

    def row(begin: int, end: int, second: WordCounts | None = None) -> WordCounts:
        return WordCounts(numbers[local[begin:end]], counts[begin:end].astype(np.int32), second)

    for key, begin, length in places:
        end = begin + length
        second = row(end, end + respelled[key]) if key in respelled else None
        yield key.hex(), row(begin, end, second)


def _numbers(
    spelt: Sequence[bytes],
    local: NDArray[np.unsignedinteger],
    spans: Sequence[tuple[int, int]],
    vocabulary: Vocabulary,
) -> Integers:
    """The vocabulary's number of each word that occurs in ``spans``; others get none, and 0 here."""
    used = np.zeros(len(spelt), bool)
    for begin, length in spans:
        used[local[begin : begin + length]] = True
    numbers = np.zeros(len(spelt), np.int32)
    numbers[used] = vocabulary.number([spelt[word] for word in np.flatnonzero(used).tolist()])
    return numbers
