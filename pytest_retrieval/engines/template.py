"""Templates of a description: plain fields of Go's text/template, replaced within one word."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytest_retrieval.errors import closest

#: Known wherever a template may stand; ``Here`` and ``Python`` are additions to the original's.
EVERYWHERE = ("Root", "Name", "Lang", "State", "Here", "Python")
#: Known once a query is asked.
OF_QUERY = ("Query", "K", "N", "PerFile")
#: Known to a server that is reached over HTTP: a port that is free when it is started.
OF_SERVER = ("Port",)
FIELDS = (*EVERYWHERE, *OF_QUERY, *OF_SERVER)
#: Those whose values are whole numbers.
NUMBERS = ("K", "N", "PerFile", "Port")

_ACTION = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
_FIELD = re.compile(r"\s*(?:(json|words)\s+)?\.(\w+)\s*")

_SPECIAL = re.compile(r"[.^$*+?()\[\]{}|\\]")  # in every dialect; others mean something once they are escaped


@dataclass(frozen=True, slots=True)
class Field:
    """A placeholder: ``{{.NAME}}``, or, in the ``form`` of an addition, more than the plain value.

    ``{{json .NAME}}`` is the value as a JSON string; ``{{words .NAME}}`` are its telling words as one regular
    expression, ``idle|connections|pool``: what somebody would look for who cannot ask whole questions.
    """

    name: str
    form: str = ""


@dataclass(frozen=True, slots=True)
class Template:
    """A text with placeholders; ``text`` is as written."""

    text: str
    parts: tuple[str | Field, ...]

    @property
    def fields(self) -> frozenset[str]:
        """The names of its placeholders."""
        return frozenset(part.name for part in self.parts if isinstance(part, Field))

    def render(self, values: Mapping[str, str]) -> str:
        """The text with every placeholder replaced; nothing in a value is read as a template."""
        return "".join(part if isinstance(part, str) else _value(part, values) for part in self.parts)


def parse_template(text: str, known: Sequence[str] = FIELDS) -> Template:
    """The template that ``text`` is; ``known`` are the fields that this kind of description has.

    Raises:
        ValueError: an action is no plain field, a field is unknown, or braces are not closed.
    """
    parts: list[str | Field] = []
    end = 0
    for action in _ACTION.finditer(text):
        parts += [text[end : action.start()], _field(action, known)]
        end = action.end()
    parts.append(text[end:])
    if any(isinstance(part, str) and "{{" in part for part in parts):
        raise ValueError(f"a {{{{ is not closed in {text!r:.80}")
    return Template(text, tuple(part for part in parts if part))


def _field(action: re.Match[str], known: Sequence[str]) -> Field:
    found = _FIELD.fullmatch(action[1])
    if found is None:
        bare = action[1].strip()
        hint = f"; did you mean {{{{.{bare}}}}}?" if bare in known else ""
        raise ValueError(
            f"unsupported template action {action[0]!r:.80}{hint} (only plain fields are read, such as "
            f"{{{{.{known[0]}}}}}, and {{{{json .{known[0]}}}}} for a JSON text)"
        )
    name = found[2]
    if name not in known:
        listed = ", ".join(f".{field}" for field in known)
        near = _closest_field(name, known)
        raise ValueError(f"unknown template field {{{{.{name}}}}}{near} (known: {listed})")
    return Field(name, found[1] or "")


def _closest_field(name: str, known: Sequence[str]) -> str:
    """The nearest field: letter case first, for it is the likeliest slip."""
    same = [field for field in known if field.lower() == name.lower()]
    return f"; did you mean {same[0]!r}?" if same else closest(name, known)


def _value(field: Field, values: Mapping[str, str]) -> str:
    value = values[field.name]
    if field.form == "words":
        from pytest_retrieval.engines.shipped.words import words_of

        return "|".join(_SPECIAL.sub(r"\\\g<0>", word) for word in words_of(value))
    return json.dumps(value) if field.form == "json" else value
