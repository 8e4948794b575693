"""What a tool printed, read into results in the order of output, which is their rank."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from pytest_retrieval.engines.description import JSON, JSONL, Description, Parse
from pytest_retrieval.engines.documents import ABSENT, find, look_up, unfolded
from pytest_retrieval.errors import RetrievalError

LARGEST = 2**53  # no file has more lines
LONGEST_PATH = 4096  # characters; no system has longer ones
_SHOWN = 5  # dropped things that are kept for show
_COLOUR = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")
_SURROGATE = re.compile("[\udc80-\udcff]")


class OutputError(RetrievalError):
    """Output that answers nothing, though it is no empty answer."""


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines ``start`` to ``end``, from 1, both included, and the text the tool shows for them, if any."""

    start: int
    end: int
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """One result as printed: the path is not yet made relative, ``lines`` is None where there are none.

    ``text`` is what the tool shows, also where it gives no lines.
    """

    path: str
    lines: Lines | None = None
    text: str | None = None
    score: float | None = None


@dataclass(slots=True)
class Reading:
    """The results of one output, and what was dropped on the way, counted and the first few shown."""

    results: list[Result] = field(default_factory=list)
    unparsed_lines: int = 0
    unparsed_results: int = 0
    bad_spans: int = 0
    coloured: int = 0
    undecodable: int = 0
    dropped: list[str] = field(default_factory=list)

    def drop(self, what: str, why: str) -> None:
        """Keep the first few things that were dropped, for show."""
        if len(self.dropped) < _SHOWN:
            self.dropped.append(f"{what!r:.160}: {why}")

    def noticed(self) -> str | None:
        """What was dropped or mended in reading, counted; None where nothing was."""
        counts = {
            "unparsed lines": self.unparsed_lines,
            "results without a path": self.unparsed_results,
            "bad spans": self.bad_spans,
            "coloured paths": self.coloured,
            "undecodable bytes": self.undecodable,
        }
        return ", ".join(f"{count} {what}" for what, count in counts.items() if count) or None


def read_output(data: bytes, description: Description) -> Reading:
    """The results in ``data``, the whole standard output of a search that succeeded.

    Raises:
        OutputError: it is no JSON document with a list of results, or nothing of it can be read.
    """
    text = data.decode("utf-8", "surrogateescape").removeprefix("\ufeff")  # or the best result would be lost
    empty = description.parse.empty
    try:
        return _read(text, description)
    except OutputError:
        if empty is None or not empty.search(text):
            raise
        return Reading()


def _read(text: str, description: Description) -> Reading:
    reading = Reading()
    reading.undecodable = len(_SURROGATE.findall(text))
    if not text.strip():
        return reading
    if description.parse.format == JSON:
        found: Iterable[Any] = _document_results(text, description.parse)
    elif description.parse.format == JSONL:
        found = _objects(text, reading)
    else:
        found = _matches(text, description.parse, reading)
    for one in found:
        _take(one, description, reading)
    if description.parse.format == JSON and reading.unparsed_results and not reading.results:
        raise OutputError(
            f"none of {reading.unparsed_results} results has a path at parse.path "
            f"{description.parse.path!r}; the first is {reading.dropped[0]}"
        )
    return reading


def _document_results(text: str, parse: Parse) -> list[Any]:
    try:
        document = json.loads(text.lstrip("\ufeff"))
    except (ValueError, RecursionError) as error:
        hint = "; parse.format jsonl reads a JSON object per line" if _is_by_line(text) else ""
        raise OutputError(f"the output is no JSON document ({error}{hint}): {text.strip()!r:.120}") from error
    found = find(document, parse.results) if parse.results else document
    if found is ABSENT or isinstance(found, str):
        found = unfolded(document, parse.results)
    where = f"parse.results {parse.results!r}" if parse.results else "the document (parse.results is empty)"
    if found is None:
        return []
    if found is ABSENT:
        raise OutputError(f"the output has nothing at {where}; {_described(document):.200}{_said(document)}")
    if not isinstance(found, list):
        raise OutputError(f"{where} is no list but {found!r:.80}")
    return found


def _is_by_line(text: str) -> bool:
    """Whether the first line is a JSON object of its own."""
    try:
        return isinstance(json.loads(text.lstrip("\ufeff").lstrip().partition("\n")[0]), dict)
    except (ValueError, RecursionError):
        return False


def _described(document: Any) -> str:
    """What a document is that has not what was looked for."""
    if isinstance(document, dict):
        return f"its keys: {', '.join(document)}"
    return (
        "it is a list itself, which an empty parse.results reads"
        if isinstance(document, list)
        else "it is no object"
    )


def _said(document: Any) -> str:
    """The text that an object has and nothing else, for it says what went wrong."""
    values = list(document.values()) if isinstance(document, dict) else []
    return f" ({values[0]!r:.160})" if len(values) == 1 and isinstance(values[0], str) else ""


def _lines_of(text: str) -> Iterator[str]:
    """The lines that are not blank; only LF ends one."""
    for line in text.split("\n"):
        if line.strip():
            yield line.removesuffix("\r")


def _objects(text: str, reading: Reading) -> Iterator[dict[str, Any]]:
    any_read = False
    for line in _lines_of(text):
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict):
            any_read = True
            yield value
        else:
            reading.unparsed_lines += 1
            reading.drop(line, "is no JSON object")
    _check_any(any_read, reading)


def _matches(text: str, parse: Parse, reading: Reading) -> Iterator[dict[str, Any]]:
    assert parse.regex is not None
    any_read = False
    for line in _lines_of(text):
        match = parse.regex.search(line)
        if match is None:
            reading.unparsed_lines += 1
            reading.drop(line, "does not match parse.regex")
        else:
            any_read = True
            yield match.groupdict()
    _check_any(any_read, reading)


def _check_any(any_read: bool, reading: Reading) -> None:
    if not any_read and reading.unparsed_lines:
        shown = reading.dropped[0]
        raise OutputError(f"nothing parsed of {reading.unparsed_lines} lines of output; the first is {shown}")


def _take(one: Any, description: Description, reading: Reading) -> None:
    """Add the result ``one``, an object of the output, or count why there is none."""
    parse = description.parse
    keys = dict.fromkeys(("path", "start", "end", "text", "score"), "")
    if parse.regex is None:
        keys = {name: getattr(parse, name) for name in keys}
        values = {name: look_up(one, key) if key else None for name, key in keys.items()}
    else:
        values = {name: one.get(name) for name in keys}
    path = values["path"]
    if not isinstance(path, str) or not path.strip():
        reading.unparsed_results += 1
        reading.drop(json.dumps(one, default=repr), "has no path")
        return
    if len(path) > LONGEST_PATH:
        reading.unparsed_results += 1
        reading.drop(path, f"its path has {len(path):,} characters")
        return
    plain = _COLOUR.sub("", path)
    reading.coloured += plain != path
    text = _text(values["text"])
    lines = _lines(values, text, description, reading) if description.spans else None
    reading.results.append(Result(plain, lines, text, _number(values["score"])))


def _lines(
    values: dict[str, Any], text: str | None, description: Description, reading: Reading
) -> Lines | None:
    first, last = whole(values["start"]), whole(values["end"])
    if first is None:
        return None
    shift = 1 - description.line_base
    start, end = first + shift, (first if last is None else last) + shift
    if start > end:
        reading.bad_spans += 1
        reading.drop(f"lines {start} to {end} of {values['path']}", "the lines end before they start")
    return Lines(start, end, text) if 1 <= start <= end else None


def whole(value: Any) -> int | None:
    """``value`` as a whole number: an int, a float that is one, or decimal digits; else None."""
    if isinstance(value, str) and re.fullmatch(r"\s*[+-]?\d{1,15}\s*", value, re.ASCII):
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= LARGEST:
        return None
    return int(value) if value == int(value) else None


def _number(value: Any) -> float | None:
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _text(value: Any) -> str | None:
    """A text, or a list of lines; what was no UTF-8 in it is replaced."""
    if isinstance(value, list) and all(isinstance(line, str) for line in value):
        value = "\n".join(value)
    if not isinstance(value, str):
        return None
    return _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", value)
