"""Where a needle lies in many short strings: the distinct words of a snapshot, or its paths."""

from __future__ import annotations

import string
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Items = NDArray[np.int32]
Places = NDArray[np.int32]

_GAP = b"\0"  # stands between items; no needle holds it
_OTHER, _LOWER, _UPPER, _DIGIT = range(4)
_KINDS = np.zeros(256, np.uint8)
_KINDS[list(string.ascii_lowercase.encode())] = _LOWER
_KINDS[list(string.ascii_uppercase.encode())] = _UPPER
_KINDS[list(string.digits.encode())] = _DIGIT


class Lexicon:
    """Strings in one buffer, with the places of every pair of neighbouring bytes.

    A needle is looked up at its rarest pair and compared at those places only: microseconds, where a scan
    of the buffer takes milliseconds. Answers are item numbers, ascending, one for each occurrence.
    """

    def __init__(self, items: Sequence[bytes]) -> None:
        self.size = len(items)
        self._text = _GAP.join((b"", *items, b""))
        lengths = np.fromiter(map(len, items), np.int32, len(items)) + 1
        self._ends = np.cumsum(lengths, dtype=np.int32)
        self._starts = self._ends - lengths + 1
        self._item_at = np.repeat(np.arange(len(items) + 1, dtype=np.int32), np.append(lengths, 1))
        self._lowered = np.frombuffer(self._text.lower(), np.uint8)
        self._index_pairs()
        self._mark_tokens()

    def _index_pairs(self) -> None:
        self._pairs = _pairs(self._lowered)
        # The stable sort of 16-bit integers is a radix sort: linear, and places stay in order.
        self._places = np.argsort(self._pairs, kind="stable").astype(np.int32)
        self._group_sizes = np.bincount(self._pairs, minlength=1 << 16)
        self._group_ends = np.cumsum(self._group_sizes)

    def _mark_tokens(self) -> None:
        kinds = _KINDS[np.frombuffer(self._text, np.uint8)]
        before, after = kinds[:-1], kinds[1:]
        edge = (before == _OTHER) | (after == _OTHER) | ((before == _LOWER) & (after == _UPPER))
        self._edge = np.concatenate(([True], edge, [True]))
        self._edges = np.cumsum(self._edge, dtype=np.int32)
        starts = np.flatnonzero(self._edge[:-1] & (kinds != _OTHER))
        self.token_counts = np.bincount(self._item_at[starts], minlength=self.size)

    def holding(self, needle: bytes) -> Items:
        """The items that hold ``needle`` in any case, once for each non-overlapping occurrence.

        ``needle`` is lower case, not empty and free of NUL; so is it everywhere below.
        """
        return self._items_at(_apart(self._find(needle), len(needle)))

    def holding_token(self, token: bytes) -> Items:
        """The items among whose tokens is ``token``, once for each time."""
        places = self._find(token)
        ends = places + len(token)
        unbroken = self._edges[ends - 1] == self._edges[places]
        return self._items_at(places[self._edge[places] & self._edge[ends] & unbroken])

    def equal(self, item: bytes) -> Items:
        """The items that are ``item``, in its own case."""
        places = self._find(item.lower())
        items = self._items_at(places)
        whole = (self._starts[items] == places) & (self._ends[items] == places + len(item))
        spelt = [self._text[place : place + len(item)] == item for place in places[whole].tolist()]
        return self._items_at(places[whole][np.array(spelt, bool)])

    def _items_at(self, places: Places) -> Items:
        items: Items = self._item_at[places]
        return items

    def _find(self, needle: bytes) -> Places:
        """Every place of ``needle``, overlapping ones too, ascending."""
        if len(needle) == 1:
            return np.flatnonzero(self._lowered == needle[0]).astype(np.int32)
        pairs = _pairs(np.frombuffer(needle, np.uint8))
        sizes = self._group_sizes[pairs]
        rarest = int(sizes.argmin())
        if sizes[rarest] == 0:
            return np.empty(0, np.int32)
        end = self._group_ends[pairs[rarest]]
        places = self._places[end - sizes[rarest] : end] - np.int32(rarest)
        places = places[(places >= 0) & (places <= len(self._pairs) - len(pairs))]
        for offset in {*range(0, len(pairs), 2), len(pairs) - 1} - {rarest}:
            places = places[self._pairs[places + offset] == pairs[offset]]
            if not len(places):
                break
        return places


def _pairs(text: NDArray[np.uint8]) -> NDArray[np.uint16]:
    """Each byte with its right neighbour as one number."""
    return (text[:-1].astype(np.uint16) << np.uint16(8)) | text[1:]


def _apart(places: Places, length: int) -> Places:
    """The places that a search from the left takes when it goes on after each occurrence."""
    if not (np.diff(places) < length).any():
        return places
    taken = []
    free = 0
    for place in places.tolist():
        if place >= free:
            taken.append(place)
            free = place + length
    return np.array(taken, np.int32)
