"""Ranks files by the words of a question that a line searcher finds in them.

A searcher such as grep looks for what it is given, and a whole sentence stands in no file. This script takes
a question on standard input, drops the words that say nothing, has the searcher look for all others at once,
and ranks files by how many different ones they hold. Any searcher can be described with it:

    python words.py DEPTH -- grep -rniIF --null WORDS .

``WORDS`` becomes ``-e WORD`` for each word. The searcher prints ``PATH NUL LINE : TEXT``. The answer is one
JSON object per file: path, the first and last line of the place with most words, and the score.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterable, Sequence

WORDS = 24  # so many at most: a long question's first ones
WINDOW = 20  # lines of a place
_STOP = """
    a about after all also an and any are as at be been before between both but by can could did do
    does each for from had has have how i if in into is it its itself just like may more most no
    not of on one only or other our out over should so some such than that the their them then
    there these they this those through to under up use used using very was we were what when where
    whether which while who why will with within without would you your
"""
STOP_WORDS = frozenset(_STOP.split())
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{2,}")
_FOUND = re.compile(rb"([^\0\n]+)\0(\d+)[:\0](.*)", re.DOTALL)

Place = tuple[int, int]  # a line, and the words on it as bits


def words_of(question: str) -> list[str]:
    """The distinct words of ``question``, in lower case; the whole of it where no word is left."""
    found = dict.fromkeys(word.lower() for word in _WORD.findall(question))
    kept = [word for word in found if word not in STOP_WORDS][:WORDS]
    return kept or ([question.strip()] if question.strip() else [])


def places_of(lines: Iterable[bytes], words: Sequence[str]) -> dict[bytes, list[Place]]:
    """What a searcher printed, by path."""
    sought = [word.lower().encode() for word in words]
    places: dict[bytes, list[Place]] = {}
    for line in lines:
        found = _FOUND.fullmatch(line.rstrip(b"\n"))
        if found is not None:
            text = found[3].lower()
            bits = sum(1 << number for number, word in enumerate(sought) if word in text)
            places.setdefault(found[1].removeprefix(b"./"), []).append((int(found[2]), bits))
    return places


def best_window(places: Sequence[Place]) -> tuple[int, int]:
    """The first and last found line within the :data:`WINDOW` lines that hold most words."""
    best, most = (places[0][0], places[0][0]), -1
    for number, (start, _) in enumerate(places):
        bits, end = 0, start
        for line, found in places[number:]:
            if line >= start + WINDOW:
                break
            bits, end = bits | found, line
        if bits.bit_count() > most:
            best, most = (start, end), bits.bit_count()
    return best


def ranking(places: dict[bytes, list[Place]]) -> list[tuple[bytes, int]]:
    """Paths with the number of different words in them: most first, then more lines, then by path."""
    scores = {}
    for path, found in places.items():
        bits = 0
        for _, on_line in found:
            bits |= on_line
        scores[path] = bits.bit_count()
    return sorted(scores.items(), key=lambda item: (-item[1], -len(places[item[0]]), item[0]))


def main(arguments: Sequence[str]) -> int:
    """Answer the question on standard input; the exit status of a searcher that failed."""
    depth, searcher = int(arguments[0]), list(arguments[2:])
    words = words_of(sys.stdin.buffer.read().decode("utf-8", "replace"))
    if not words:
        return 0
    at = searcher.index("WORDS")
    searcher[at : at + 1] = [part for word in words for part in ("-e", word)]
    with subprocess.Popen(searcher, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        places = places_of(process.stdout, words)
    if process.returncode not in (0, 1):  # 1 is how they say that there is nothing
        return process.returncode
    for path, score in ranking(places)[:depth]:
        start, end = best_window(sorted(places[path]))
        row = {"path": path.decode("utf-8", "surrogateescape"), "start": start, "end": end, "score": score}
        sys.stdout.write(json.dumps(row) + "\n")
    return 0


if __name__ == "__main__":
    try:
        raise SystemExit(main(sys.argv[1:]))
    except OSError as error:
        raise SystemExit(f"{error.filename}: {error.strerror}") from error
