"""Where in a text the words of a query stand together: the lines that someone who searches would be shown."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pytest_retrieval.text.tokens import fold

WINDOW = 20  # lines of a passage, at most

Lines = NDArray[np.int64]


def passages(data: bytes, words: Sequence[bytes], count: int) -> list[tuple[int, int]]:
    """The best ``count`` passages of ``data`` as first and last line, from 1; best first, none overlapping.

    A passage begins and ends with a line that holds one of ``words``, in any case and within other words, and
    is at most 20 lines long. The best one has most different words, each counting ``ln(1 + N / n)`` for the n
    of all N lines that hold it; of equals the first.
    """
    text = fold(data)
    ends = np.flatnonzero(np.frombuffer(text, np.uint8) == ord("\n"))
    held = [held for word in words if (held := _lines_with(word, text, ends)).size]
    weights = [float(np.log1p((ends.size + 1) / lines.size)) for lines in held]
    found: list[tuple[int, int]] = []
    while len(found) < count and any(lines.size for lines in held):
        start, end = _best(held, weights)
        found.append((start, end))
        held = [lines[(lines < start) | (lines > end)] for lines in held]
    return found


def _lines_with(word: bytes, text: bytes, ends: Lines) -> Lines:
    """The numbers of the lines that hold ``word``, from 1."""
    places = [match.start() for match in re.finditer(re.escape(word), text)]
    return np.unique(np.searchsorted(ends, np.array(places, np.int64)) + 1)


def _best(held: Sequence[Lines], weights: Sequence[float]) -> tuple[int, int]:
    starts = np.unique(np.concatenate(held))
    scores = np.zeros(starts.size)
    for lines, weight in zip(held, weights, strict=True):
        following = np.append(lines, np.iinfo(np.int64).max)[np.searchsorted(lines, starts)]
        scores += weight * (following < starts + WINDOW)
    start = starts[int(np.argmax(scores))]
    last = starts[np.searchsorted(starts, start + WINDOW) - 1]
    return int(start), int(last)
