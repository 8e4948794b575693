"""JSON objects read key by key: every fault and every unknown key is kept with its place in the file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pytest_retrieval.errors import closest

Made = TypeVar("Made")

_KINDS = {
    str: "a text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    list: "a list",
    dict: "an object",
    type(None): "null",
}


@dataclass(slots=True)
class Notes:
    """What was noticed on the way: ``faults`` forbid the file, ``unknown`` are keys that nothing reads."""

    faults: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def fault(self, place: str, text: str) -> None:
        """Note that what stands at ``place`` cannot be taken."""
        self.faults.append(f"{place}: {text}")

    def checked(self, place: str, make: Callable[[str], Made], text: str) -> Made | None:
        """What ``make`` makes of ``text``; None where it raises ValueError, which is a fault at ``place``."""
        try:
            return make(text)
        except ValueError as error:
            self.fault(place, str(error))
            return None


class Fields:
    """One object of the file, at ``place``: as in Go, null is absent and keys match in any letter case."""

    def __init__(self, value: Mapping[str, Any], place: str, known: Sequence[str], notes: Notes) -> None:
        self._place = place
        self._notes = notes
        folded = {name.lower(): name for name in known}
        self._values: dict[str, Any] = {}
        for key, found in value.items():
            name = folded.get(key.lower())
            if name is None:
                notes.unknown.append(f"{self.place(key)}: unknown key{closest(key, known)}")
            elif found is not None:
                self._values[name] = found

    def place(self, name: str) -> str:
        """Where the key ``name`` of this object stands."""
        return f"{self._place}.{name}" if self._place else name

    def fault(self, name: str, text: str) -> None:
        """Note a fault of the key ``name``."""
        self._notes.fault(self.place(name), text)

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def raw(self, name: str) -> Any:
        """Whatever stands at ``name``, unchecked; None where it is absent."""
        return self._values.get(name)

    def text(self, name: str, default: str = "") -> str:
        """A text."""
        found = self._of(name, str)
        return default if found is None else str(found)

    def flag(self, name: str) -> bool:
        """True or false; false where absent."""
        return bool(self._of(name, bool))

    def whole(self, name: str, default: int) -> int:
        """A whole number."""
        found = self._of(name, int)
        return default if found is None else int(found)

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts."""
        return tuple(self._items(name, str))

    def wholes(self, name: str) -> tuple[int, ...]:
        """A list of whole numbers."""
        return tuple(self._items(name, int))

    def child(self, name: str, known: Sequence[str]) -> Fields | None:
        """The object at ``name``, whose keys are ``known``; None where there is none."""
        found = self._of(name, dict)
        return None if found is None else Fields(found, self.place(name), known, self._notes)

    def children(self, name: str, known: Sequence[str]) -> list[Fields]:
        """The objects in the list at ``name``, whose keys are ``known``."""
        places = [(f"{name}[{number}]", item) for number, item in enumerate(self._of(name, list) or [])]
        for place, item in places:
            if not isinstance(item, dict):
                self.fault(place, f"must be {_KINDS[dict]}, not {_kind(item)}")
        objects = [(place, item) for place, item in places if isinstance(item, dict)]
        return [Fields(item, self.place(place), known, self._notes) for place, item in objects]

    def _of(self, name: str, kind: type) -> Any:
        found = self._values.get(name)
        if found is None or _is(found, kind):
            return found
        self.fault(name, f"must be {_KINDS[kind]}, not {_kind(found)}")
        return None

    def _items(self, name: str, kind: type) -> list[Any]:
        found = self._of(name, list) or []
        for number, item in enumerate(found):
            if not _is(item, kind):
                self.fault(f"{name}[{number}]", f"must be {_KINDS[kind]}, not {_kind(item)}")
        return [item for item in found if _is(item, kind)]


def _is(value: object, kind: type) -> bool:
    return isinstance(value, kind) and not (kind is int and isinstance(value, bool))


def _kind(value: object) -> str:
    shown = (
        f" ({value!r:.40})" if isinstance(value, str | int | float) and not isinstance(value, bool) else ""
    )
    return f"{_KINDS[type(value)]}{shown}"
