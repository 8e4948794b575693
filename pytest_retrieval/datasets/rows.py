"""One line of a samples file: strict JSON, then fields read one by one.

Faults are collected, not raised, so that a file with many mistakes is mended in one go. Every fault is
one line, ``line N: field 'gold.files[2]': what is wrong; what to do``.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any, NoReturn

from pytest_retrieval.model import distinct

MAX_LINE = 4 * 1024 * 1024
MAX_DEPTH = 200  # far below any interpreter's recursion limit, so that one file loads alike everywhere

_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
LABEL = re.compile(r"(?!.*\.\.)[A-Za-z0-9][A-Za-z0-9._+-]{0,127}")
REPO = re.compile(r"(?!\.{1,2}/|-)[A-Za-z0-9._-]{1,100}/(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}")


class RowError(ValueError):
    """A line that is no row at all: the text says what is wrong with it."""


def parse_row(line: bytes) -> dict[str, Any]:
    """Read one line as a JSON object, with the standard library, so that its query prints back unchanged.

    Raises :class:`RowError` for a line over 4 MiB, text that is not UTF-8 or not JSON, a repeated key,
    ``NaN`` or ``Infinity``, a number too large to read, nesting over 200 levels, and any other value.
    """
    if len(line) > MAX_LINE:
        raise RowError(f"larger than 4 MiB ({len(line)} bytes); a row must be smaller")
    try:
        row = DECODER.decode(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise RowError(f"not UTF-8 (byte {error.start + 1}); save the file as UTF-8") from None
    except json.JSONDecodeError as error:
        raise RowError(
            f"not JSON: {error.msg} at column {error.colno}; write one JSON object a line"
        ) from None
    except RecursionError:
        raise RowError(f"nested deeper than {MAX_DEPTH} levels; flatten the row") from None
    except RowError:
        raise
    except ValueError:
        raise RowError("a number has too many digits; write it as a string") from None
    if not isinstance(row, dict):
        raise RowError(f"{kind_of(row)}, not a JSON object; write one JSON object a line")
    if line.count(b"{") + line.count(b"[") > MAX_DEPTH and _deeper(row, MAX_DEPTH):
        raise RowError(f"nested deeper than {MAX_DEPTH} levels; flatten the row")
    return row


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        key = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise RowError(f"the key {key[:80]!a} is written twice in one object; keep one of them")
    return found


def _no_constant(name: str) -> NoReturn:
    raise RowError(f"{name} is not JSON; write null or a number")


def _finite(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise RowError(f"the number {digits[:80]} is too large for a float; write it as a string")
    return value


def _reason(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at column {error.colno}"
    return str(error) if isinstance(error, RowError) else "too deep, or a number too long"


DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant, parse_float=_finite)


def _deeper(value: object, levels: int) -> bool:
    layer = [value]
    for _ in range(levels):
        layer = [
            inner
            for outer in layer
            if isinstance(outer, (dict, list))
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
    return any(isinstance(value, (dict, list)) for value in layer)


def kind_of(value: object) -> str:
    """What JSON calls ``value``, with its article, for messages."""
    names = {dict: "an object", list: "a list", str: "a string", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")


def encodable(text: str) -> bool:
    """Whether ``text`` can be written as UTF-8: it holds no lone surrogate."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


class Slips:
    """Flags that are neither true nor false, counted by field: a file may have one in each of its rows."""

    def __init__(self) -> None:
        self._rows: Counter[str] = Counter()
        self._first: dict[str, str] = {}

    def note(self, field: str, line: int, kind: str) -> None:
        """Count one more row, at ``line``, whose flag is ``kind``."""
        self._rows[field] += 1
        self._first.setdefault(field, f"{kind} in line {line}")

    def lines(self) -> list[str]:
        """One line for each field."""
        return [
            f"field {field!r}: neither true nor false (rows: {count}, first {self._first[field]}); it counts"
            " as false; write true or false without quotes"
            for field, count in self._rows.items()
        ]


class Row:
    """A row's fields, each checked as it is taken; what is wrong goes to ``faults``.

    What is odd and no fault goes to ``slips``. ``labels`` are the commits that need not be hexadecimal
    because their snapshots are named explicitly: a collection of them, or True for any.
    """

    def __init__(
        self,
        values: Mapping[str, Any],
        line: int,
        faults: list[str],
        labels: Collection[str] | bool = False,
        slips: Slips | None = None,
    ) -> None:
        self.values = values
        self.line = line
        self.faults = faults
        self.labels = labels
        self._slips = slips

    def fault(self, field: str, what: str) -> None:
        """Note what is wrong with one field of this row."""
        self.faults.append(f"line {self.line}: field {field[:80]!a}: {what}")

    def string(self, field: str, hint: str) -> str:
        """A required string, not empty and writable as UTF-8; ``hint`` says what to write there."""
        value = self.values.get(field)
        if value is None:
            self.fault(field, f"missing; {hint}")
        elif not isinstance(value, str):
            self.fault(field, f"must be a string, not {kind_of(value)}; {hint}")
        elif not value:
            self.fault(field, f"empty; {hint}")
        elif not encodable(value):
            self.fault(field, f"holds half a surrogate pair, which is no text; {hint}")
        else:
            return value
        return ""

    def optional_string(self, field: str) -> str | None:
        """A string as :meth:`string`, or None where the field is absent or null."""
        if self.values.get(field) is None:
            return None
        return self.string(field, "write a string or leave the field out") or None

    def mapping(self, field: str) -> Mapping[str, Any]:
        """An object; absent and null count as empty."""
        value = self.values.get(field)
        if value is None:
            return {}
        if not isinstance(value, dict):
            self.fault(field, f"must be an object, not {kind_of(value)}; write {{…}} or leave it out")
            return {}
        return value

    def flag(self, field: str, value: object) -> bool:
        """Whether ``value`` is JSON's true; one that is neither a boolean nor null is noted as a slip."""
        if value is not None and not isinstance(value, bool) and self._slips is not None:
            self._slips.note(field, self.line, kind_of(value))
        return value is True

    def listed(self, field: str, hint: str) -> list[Any]:
        """A required list, or the JSON text of one; empty after a fault. ``hint`` says what to write."""
        value = self.values.get(field)
        if isinstance(value, str):
            try:
                value = DECODER.decode(value)
            except (ValueError, RecursionError) as error:
                self.fault(field, f"not the JSON text of a list ({_reason(error)}); {hint}")
                return []
        if not isinstance(value, list):
            what = "missing" if value is None else f"must be a list, not {kind_of(value)}"
            self.fault(field, f"{what}; {hint}")
            return []
        return value

    def texts(self, field: str, hint: str) -> tuple[str, ...]:
        """The distinct strings of a list as :meth:`listed` takes it."""
        entries = self.listed(field, hint)
        for place, entry in enumerate(entries):
            if not isinstance(entry, str) or not entry or not encodable(entry):
                what = kind_of(entry) if not isinstance(entry, str) else "empty or no text"
                self.fault(f"{field}[{place}]", f"must be a string, not {what}; {hint}")
        return distinct(entry for entry in entries if isinstance(entry, str))

    def repo(self, value: str) -> str:
        """``value`` if it can be a repository's name and part of a path, else a fault."""
        if value and not REPO.fullmatch(value):
            self.fault("repo", f"{value[:80]!a} is not OWNER/NAME of letters, digits, '.', '_' and '-'")
        return value

    def commit(self, value: str) -> str:
        """``value`` if it is a full commit or a label that is allowed here, else a fault."""
        if not value or _COMMIT.fullmatch(value):
            return value
        allowed = self.labels is True or (not isinstance(self.labels, bool) and value in self.labels)
        if not (allowed and LABEL.fullmatch(value)):
            self.fault(
                "base_commit",
                f"{value[:80]!a} is not 40 or 64 lower-case hex digits; write the whole commit"
                " (a label is possible only where --snapshot OWNER/NAME@LABEL=SOURCE names its snapshot)",
            )
        return value

    def paths(self, field: str, value: object) -> tuple[str, ...]:
        """The distinct paths of a list of strings or objects with a ``path``, in order, as written."""
        if value is None:
            return ()
        if not isinstance(value, list):
            self.fault(field, f'must be a list of paths, not {kind_of(value)}; write ["path"]')
            return ()
        return distinct(filter(None, (self.path(f"{field}[{n}]", entry) for n, entry in enumerate(value))))

    def path(self, field: str, entry: object) -> str:
        """The path of one entry: a string, or an object with a ``path``; empty after a fault."""
        if isinstance(entry, dict):
            field, entry = f"{field}.path", entry.get("path")
        if not isinstance(entry, str):
            self.fault(
                field, f'must be a path, not {kind_of(entry)}; write a string or an object with "path"'
            )
        elif not entry:
            self.fault(field, "an empty path; write a path of the snapshot or remove the entry")
        elif not encodable(entry):
            self.fault(field, "holds half a surrogate pair, so it can name no file; write the path as UTF-8")
        else:
            return entry
        return ""
