"""A program's JSON answer, read member by member: whatever comes, it is of the right kind or one line."""

from __future__ import annotations

from typing import Any, TypeVar

import orjson

from pytest_retrieval.errors import ArmError

TEXT_LIMIT = 4096  # characters of one text: longer than any path of a tree
_Kind = TypeVar("_Kind")
_NAMES: dict[type[Any], str] = {dict: "an object", list: "a list", str: "a text"}


class Packet:
    """An object of the answer; ``where`` is its place, as messages show it.

    A member that is absent or null is the empty value of its kind: Go writes null for an empty list.
    """

    def __init__(self, members: dict[str, Any], where: str = "") -> None:
        self._members = members
        self._where = where

    @classmethod
    def parse(cls, data: bytes) -> Packet:
        """The packet that ``data`` is the whole JSON text of.

        Raises:
            ArmError: it is empty, no JSON (UTF-8, at most 1,024 levels deep), or no object.
        """
        if not data.strip():
            raise ArmError("unreadable packet: standard output is empty")
        try:
            members = orjson.loads(data)
        except ValueError as error:
            raise ArmError(f"unreadable packet: {error}") from error
        return cls(_checked(members, dict, "the packet"))

    def require(self, *keys: str) -> Packet:
        """This packet, if it has one of ``keys``: an object of something else is no answer.

        Raises:
            ArmError: it has none of them.
        """
        if any(self._members.get(key) is not None for key in keys):
            return self
        raise ArmError(f"unreadable packet: {self._where or 'it'} has no {' or '.join(keys)}")

    def inside(self, key: str) -> Packet:
        """The object at ``key``."""
        return Packet(self._member(key, dict), self._place(key))

    def text(self, key: str) -> str:
        """The text at ``key``."""
        return _bounded(self._member(key, str), self._place(key))

    def rows(self, key: str) -> list[Packet]:
        """The objects in the list at ``key``."""
        return [Packet(_checked(row, dict, place), place) for place, row in self._items(key)]

    def texts(self, key: str) -> list[str]:
        """The texts in the list at ``key``."""
        return [_bounded(_checked(row, str, place), place) for place, row in self._items(key)]

    def _items(self, key: str) -> list[tuple[str, Any]]:
        place = self._place(key)
        return [(f"{place}[{number}]", row) for number, row in enumerate(self._member(key, list))]

    def _member(self, key: str, kind: type[_Kind]) -> _Kind:
        value = self._members.get(key)
        return kind() if value is None else _checked(value, kind, self._place(key))

    def _place(self, key: str) -> str:
        return f"{self._where}.{key}" if self._where else key


def _checked(value: Any, kind: type[_Kind], where: str) -> _Kind:
    if not isinstance(value, kind):
        raise ArmError(f"unreadable packet: {where} is {value!r:.60}; it must be {_NAMES[kind]}")
    return value


def _bounded(text: str, where: str) -> str:
    if len(text) > TEXT_LIMIT:
        raise ArmError(
            f"unreadable packet: {where} has {len(text):,} characters; the bound is {TEXT_LIMIT:,}"
        )
    return text
