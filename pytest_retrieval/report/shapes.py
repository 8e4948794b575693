"""What a value from a file must be. A fault says where it is: ``details[3].arms["bm25:all"].ranked[0]``.

A shape is a function that takes a value and raises :class:`MisfitError` when the value is not of the shape.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Mapping
from typing import Any

Shape = Callable[[Any], None]

_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
LONGEST_ANSWER = 50  # the largest limit of a run
_LARGEST = sys.float_info.max
_SHOWN = 60  # characters of a value in a message


class MisfitError(Exception):
    """A value that is not of its shape; ``str()`` is one line with the place and what is wanted."""

    def __init__(self, wanted: str, value: Any) -> None:
        self._wanted = wanted
        self._value = value
        self._steps: list[str | int] = []

    def inside(self, step: str | int) -> MisfitError:
        """The same fault as seen from one level further out: ``step`` is the key or index that leads in."""
        self._steps.insert(0, step)
        return self

    def __str__(self) -> str:
        place = "".join(map(_step_text, self._steps)).removeprefix(".")
        shown = ascii(self._value)
        shown = shown if len(shown) <= _SHOWN else shown[:_SHOWN] + "..."
        return f"{place or 'the report'}: must be {self._wanted}, not {shown}"


def text(value: Any) -> None:
    """A string that UTF-8 can hold."""
    if type(value) is not str or not (value.isascii() or _is_encodable(value)):
        raise MisfitError("a string of valid characters", value)


def flag(value: Any) -> None:
    """True or false."""
    if type(value) is not bool:
        raise MisfitError("true or false", value)


def count(value: Any) -> None:
    """A whole number from 0 on."""
    if type(value) is not int or not 0 <= value < 1 << 53:
        raise MisfitError("a whole number from 0 on", value)


def number(value: Any) -> None:
    """A finite number from 0 on."""
    if type(value) not in (int, float) or not 0 <= value <= _LARGEST:
        raise MisfitError("a number from 0 on", value)


def any_number(value: Any) -> None:
    """A finite number."""
    if type(value) not in (int, float) or not -_LARGEST <= value <= _LARGEST:
        raise MisfitError("a finite number", value)


def measure(value: Any) -> None:
    """A measure of one sample: a rate, or a count of at most as many paths as an answer has."""
    if type(value) not in (int, float) or not 0 <= value <= LONGEST_ANSWER:
        raise MisfitError(f"a number from 0 to {LONGEST_ANSWER}", value)


def anything(value: Any) -> None:
    """Any value of JSON."""


def whole(low: int, high: int) -> Shape:
    """A whole number between two, both included."""

    def shape(value: Any) -> None:
        if type(value) is not int or not low <= value <= high:
            raise MisfitError(f"a whole number from {low} to {high}", value)

    return shape


def matching(pattern: str, wanted: str) -> Shape:
    """A string that all of ``pattern`` matches; ``wanted`` says so in words."""
    compiled = re.compile(pattern, re.ASCII)

    def shape(value: Any) -> None:
        if type(value) is not str or compiled.fullmatch(value) is None:
            raise MisfitError(wanted, value)

    return shape


def one_of(*values: str) -> Shape:
    """One of some strings."""

    def shape(value: Any) -> None:
        if type(value) is not str or value not in values:
            raise MisfitError(f"one of {', '.join(values)}", value)

    return shape


def optional(inner: Shape) -> Shape:
    """Null or ``inner``."""

    def shape(value: Any) -> None:
        if value is not None:
            inner(value)

    return shape


def list_of(inner: Shape, *, distinct: bool = False) -> Shape:
    """A list of ``inner``; ``distinct`` allows no string twice."""

    def shape(value: Any) -> None:
        if type(value) is not list:
            raise MisfitError("a list", value)
        place = 0
        try:
            for place, item in enumerate(value):  # noqa: B007
                inner(item)
        except MisfitError as fault:
            raise fault.inside(place) from None
        if distinct and len(set(value)) < len(value):
            raise MisfitError("a list without repeats", value)

    return shape


def map_of(inner: Shape, key: Shape = text) -> Shape:
    """An object with any keys of the shape ``key`` and values of the shape ``inner``."""

    def shape(value: Any) -> None:
        _require_object(value)
        name = ""
        try:
            for name, item in value.items():
                key(name)
                inner(item)
        except MisfitError as fault:
            raise fault.inside(name) from None

    return shape


def record(required: Mapping[str, Shape], further: Mapping[str, Shape] | None = None) -> Shape:
    """An object that has the keys ``required``, may have the ``further`` ones, and others of any value."""
    shapes = {**required, **(further or {})}

    def shape(value: Any) -> None:
        _require_object(value)
        if missing := required.keys() - value.keys():
            raise MisfitError(f"an object with {min(missing)!r}", value)
        name = ""
        try:
            for name, item in value.items():
                shapes.get(name, anything)(item)
        except MisfitError as fault:
            raise fault.inside(name) from None

    return shape


def _require_object(value: Any) -> None:
    if type(value) is not dict:
        raise MisfitError("an object", value)


def _is_encodable(value: str) -> bool:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _step_text(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    return f".{step}" if _PLAIN_KEY.fullmatch(step) else f"[{json.dumps(step)}]"
