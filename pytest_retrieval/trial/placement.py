"""Where gold stands in a context: anywhere in its text, as a result, and at which rank.

A context is the JSON packet of a tool, or a listing of lines such as ``rank=1 src/app.py``, or any text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

from pytest_retrieval.report.shapes import MisfitError, list_of, optional, record, text
from pytest_retrieval.trial.values import decode, normalise_path, trim

SILENT = ("NO_CANDIDATES", "OUT_OF_SCOPE")  # states of a packet that offers nothing
UNSUPPORTED = "unsupported-conjunction"

_rows = optional(
    list_of(
        optional(
            record(
                {},
                {
                    "id": optional(text),
                    "evidence": optional(list_of(optional(record({}, {"path": optional(text)})))),
                },
            )
        )
    )
)
_packet = record({}, {"results": _rows, "context": optional(record({}, {"results": _rows}))})

# What may stand beside a whole path: no character of a path, but the escapes of a packet that was cut, and
# the full stop of a sentence.
_BEFORE = r"(?:(?<![\w./-])|(?<=\\[nrt])|(?<![\w./-]\./)(?<=\./))"
_AFTER = r"(?![\w/-]|\.\w)"


class Context:
    """The context that one arm gave one task."""

    def __init__(self, body: str) -> None:
        self.text = body

    @cached_property
    def packet(self) -> Mapping[str, Any] | None:
        """The packet, where the context is one: an object whose result rows have the known form."""
        value = self._value
        try:
            _packet(value)
        except MisfitError:
            return None
        return dict(value)

    @cached_property
    def results(self) -> frozenset[str]:
        """The paths of all result rows, normalised."""
        if self.packet is None:
            return frozenset(map(normalise_path, _listed(self.text)))
        within = self.packet.get("context") or {}
        rows = [*_present(self.packet.get("results")), *_present(within.get("results"))]
        paths = [path for row in rows for path in _paths_of(row)]
        return frozenset(normalise_path(path) for path in paths if path)

    def ranked(self, subject: str | None) -> list[str]:
        """The paths of the results in their order, normalised, without the task's own subject."""
        if self.packet is None:
            paths = [path for path in map(_row_path, self.text.split("\n")) if path is not None]
        else:
            paths = [_row_id(row) for row in _present(self.packet.get("results"))]
        skipped = normalise_path(subject) if subject else None
        return [path for path in map(normalise_path, paths) if path != skipped]

    def holds(self, value: str) -> bool:
        """Whether the context has ``value`` as a whole: ``a.py`` is not in ``data.py``."""
        return _is_in(self._texts, normalise_path(value), _BEFORE, _AFTER)

    def says(self, answer: str) -> bool:
        """Whether the context has ``answer`` as whole words in any case: ``yes`` is not in ``yesterday``."""
        return _is_in(self._lowered, trim(answer).lower(), r"(?<!\w)", r"(?!\w)")

    @property
    def abstained(self) -> bool:
        """Whether the packet offers nothing; one that does not parse, being cut, offered something."""
        value = self._value
        if not isinstance(value, dict):
            return False
        coverage = value.get("coverage")
        answerability = coverage.get("answerability") if isinstance(coverage, dict) else None
        found = answerability.get("verdict") if isinstance(answerability, dict) else None
        return value.get("state") in SILENT or not value.get("results") or found == UNSUPPORTED

    @cached_property
    def _value(self) -> Any:
        try:
            return decode(self.text)
        except ValueError:
            return None

    @cached_property
    def _texts(self) -> tuple[str, ...]:
        """The text, and the strings of a packet: a path may follow an escaped line end there."""
        return self.text, *_strings(self._value)

    @cached_property
    def _lowered(self) -> tuple[str, ...]:
        return tuple(map(str.lower, self._texts))


def _is_in(texts: Iterable[str], wanted: str, before: str, after: str) -> bool:
    """Whether ``wanted`` stands in one of ``texts`` between what two patterns allow beside it."""
    if not wanted:
        return False
    pattern = re.compile(before + re.escape(wanted) + after)
    for body in texts:
        place = body.find(wanted)  # a search for the pattern would try it at every character
        while place >= 0:
            if pattern.match(body, place):
                return True
            place = body.find(wanted, place + 1)
    return False


def _present(rows: Any) -> Iterator[Mapping[str, Any]]:
    return ({} if row is None else row for row in rows or ())


def _row_id(row: Mapping[str, Any]) -> str:
    return (row.get("id") or "").partition(":")[0]


def _paths_of(row: Mapping[str, Any]) -> Iterator[str]:
    yield _row_id(row)
    for evidence in row.get("evidence") or ():
        yield (evidence or {}).get("path") or ""


def _row_path(line: str) -> str | None:
    """The path of a listing's row ``KEY=VALUE PATH``, which may hold blanks; None for any other line."""
    words = trim(line).split(maxsplit=1)
    return words[1] if len(words) == 2 and "=" in words[0] else None


def _listed(body: str) -> Iterator[str]:
    """What each line of a listing names: its row's path, else its last word."""
    for line in body.split("\n"):
        if (path := _row_path(line)) is not None:
            yield path
        elif words := line.split():
            yield words[-1]


def _strings(value: Any) -> Iterator[str]:
    """All strings of a JSON value."""
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            pending += [*item.keys(), *item.values()]
        elif isinstance(item, list):
            pending += item
