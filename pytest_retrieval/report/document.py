"""A JSON file whose one large array is drawn element by element, so that it never stands there as objects."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from math import isfinite
from pathlib import Path
from typing import Any, NoReturn

from pytest_retrieval.errors import ReportError
from pytest_retrieval.regular import open_regular

MAX_BYTES = 1 << 30  # 1 GiB: a run of 20,000 samples, eight arms and 50 paths each stays below it

_BLANKS = re.compile(r"[ \t\n\r]*")


class Document:
    """The object in the file ``path``: ``members`` by key, but for the array ``drawn``, which is iterated.

    Strict JSON: no repeated keys, no NaN, no number beyond a double's, nothing after the object. ``sha256``
    is the file's. Raises ReportError, one line with the place, for a file that cannot be read, is larger than
    1 GiB, or is not such an object.
    """

    def __init__(self, path: Path, drawn: str) -> None:
        self.path = path
        self.members: dict[str, Any] = {}
        self._elements_from: int | None = None
        data = _read(path)
        self.sha256 = hashlib.sha256(data).hexdigest()
        with _explained(path):
            self._text = data.decode("utf-8")
            self._scan(drawn)

    @property
    def has_elements(self) -> bool:
        """Whether the object has the array."""
        return self._elements_from is not None

    def elements(self) -> Iterator[Any]:
        """The elements of the array, decoded one by one; none when there is no array."""
        if self._elements_from is not None:
            cursor = _Cursor(self._text, self._elements_from)
            for _ in cursor.items("[", "]"):
                with _explained(self.path):  # deep nesting fails by the depth of the caller, too
                    value = cursor.value()
                yield value

    def _scan(self, drawn: str) -> None:
        """Note every member and where the array begins, and see that all of the text is JSON."""
        cursor = _Cursor(self._text)
        seen: set[str] = set()
        for _ in cursor.items("{", "}"):
            cursor.expect('"')
            key = cursor.value()
            if key in seen:
                raise ValueError(f"the key {key!r} comes twice")
            seen.add(key)
            cursor.take(":")
            if key == drawn and cursor.peek() == "[":
                self._elements_from = cursor.place
                for _ in cursor.items("[", "]"):
                    cursor.value()
            else:
                self.members[key] = cursor.value()
        cursor.expect("")


class _Cursor:
    """A place in a JSON text that moves over values and the characters between them."""

    def __init__(self, text: str, place: int = 0) -> None:
        self._text = text
        self.place = place

    def peek(self) -> str:
        """The next character that is not blank, or an empty string at the end."""
        blanks = _BLANKS.match(self._text, self.place)
        self.place = blanks.end() if blanks else self.place
        return self._text[self.place : self.place + 1]

    def expect(self, *wanted: str) -> str:
        """The next character, which must be one of ``wanted``; an empty string is the end."""
        found = self.peek()
        if found not in wanted:
            names = " or ".join(character or "the end" for character in wanted)
            raise json.JSONDecodeError(f"Expecting {names}", self._text, self.place)
        return found

    def take(self, *wanted: str) -> str:
        """Move over the next character, which must be one of ``wanted``."""
        found = self.expect(*wanted)
        self.place += len(found)
        return found

    def value(self) -> Any:
        """Move over the next value."""
        self.peek()
        value, self.place = _DECODER.raw_decode(self._text, self.place)
        return value

    def items(self, opening: str, closing: str) -> Iterator[None]:
        """Stand before each item in brackets; the caller moves over it."""
        self.take(opening)
        if self.peek() == closing:
            self.take(closing)
            return
        while True:
            yield
            if self.take(",", closing) == closing:
                return


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Turns what a decoder raises into one line about the file."""
    try:
        yield
    except RecursionError:
        raise ReportError(f"{path}: not a report: its JSON is nested too deeply") from None
    except UnicodeDecodeError as error:
        raise ReportError(f"{path}: not UTF-8 at byte {error.start}") from None
    except ValueError as error:
        raise ReportError(f"{path}: not valid JSON: {error}") from None


def _read(path: Path) -> bytes:
    try:
        with open_regular(path) as stream:
            data = stream.read(MAX_BYTES + 1) if path.stat().st_size <= MAX_BYTES else None
    except OSError as error:
        raise ReportError(f"cannot read the report {path}: {error.strerror or error}") from error
    if data is None or len(data) > MAX_BYTES:
        raise ReportError(f"{path}: larger than {MAX_BYTES:,} bytes, the bound for a report")
    return data


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key {next(key for key in keys if keys.count(key) > 1)!r} comes twice")
    return found


def _finite(digits: str) -> float:
    number = float(digits)
    if not isfinite(number):
        raise ValueError(f"{digits:.20} is too large a number")
    return number


def _whole(digits: str) -> int:
    _finite(digits)
    return int(digits)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_unique, parse_constant=_refuse_constant, parse_float=_finite, parse_int=_whole
)
