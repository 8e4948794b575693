"""The arguments of a tool: JSON with templates for texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pytest_retrieval.engines.template import NUMBERS, Field, Template


@dataclass(frozen=True, slots=True)
class Arguments:
    """An object whose texts, however deep, are templates; its keys and all other values are as written."""

    values: Mapping[str, Any]

    @property
    def templates(self) -> Iterator[Template]:
        """Its templates."""
        return _templates(self.values)

    def render(self, fields: Mapping[str, str]) -> dict[str, Any]:
        """The object itself; a text that is one plain placeholder of a number becomes that number."""
        return {name: _rendered(value, fields) for name, value in self.values.items()}


def parse_arguments(
    value: Mapping[str, Any], place: str, read: Callable[[str, str], Template | None]
) -> Arguments:
    """The arguments ``value``; ``read(place, text)`` gives a text's template, None where it has faults."""
    return Arguments({name: _parsed(inner, f"{place}.{name}", read) for name, inner in value.items()})


def _parsed(value: Any, place: str, read: Callable[[str, str], Template | None]) -> Any:
    if isinstance(value, str):
        return read(place, value)
    if isinstance(value, dict):
        return {name: _parsed(inner, f"{place}.{name}", read) for name, inner in value.items()}
    if isinstance(value, list):
        return [_parsed(inner, f"{place}[{number}]", read) for number, inner in enumerate(value)]
    return value


def _templates(value: Any) -> Iterator[Template]:
    if isinstance(value, Template):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _templates(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _templates(inner)


def _rendered(value: Any, fields: Mapping[str, str]) -> Any:
    if isinstance(value, Template):
        text = value.render(fields)
        return int(text) if _is_number(value) else text
    if isinstance(value, dict):
        return {name: _rendered(inner, fields) for name, inner in value.items()}
    if isinstance(value, list):
        return [_rendered(inner, fields) for inner in value]
    return value


def _is_number(template: Template) -> bool:
    return len(template.parts) == 1 and template.parts[0] in [Field(name) for name in NUMBERS]
