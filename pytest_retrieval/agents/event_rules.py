"""The rules of a description by which events are read: which are meant, and what is taken from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_retrieval.agents.description import Events, Rule
from pytest_retrieval.engines.fields import Fields, Notes

#: What each kind of rule takes, by its key; ``(key, required)``.
_TAKEN = {
    "message": ("text", True),
    "tool_call": ("command", False),
    "usage": ("tokens", True),
    "error": ("text", True),
}


def read_events(top: Fields, notes: Notes) -> Events | None:
    """The rules at ``events`` of ``top``; None where there are none."""
    fields = top.child("events", tuple(_TAKEN))
    if fields is None:
        return None
    return Events(*(_rules(fields, kind, notes) for kind in _TAKEN))


def _rules(events: Fields, kind: str, notes: Notes) -> tuple[Rule, ...]:
    """One rule, or a list of them."""
    found = events.raw(kind)
    if found is None:
        return ()
    entries = found if isinstance(found, list) else [found]
    rules = []
    for number, entry in enumerate(entries):
        place = events.place(f"{kind}[{number}]" if isinstance(found, list) else kind)
        if isinstance(entry, dict):
            rules.append(_rule(entry, place, kind, notes))
        else:
            notes.fault(place, "must be an object with `where`, or a list of such objects")
    return tuple(rules)


def _rule(entry: Mapping[str, Any], place: str, kind: str, notes: Notes) -> Rule:
    key, required = _TAKEN[kind]
    fields = Fields(entry, place, ("where", "each", "item", key), notes)
    where = _conditions(fields, "where")
    if not where:
        fields.fault("where", 'missing; it says which events are meant: {"type": "result"}')
    each = fields.text("each")
    if "item" in fields and not each:
        fields.fault("item", "needs `each`, the path to the list whose items are meant")
    item = _conditions(fields, "item") if "item" in fields else None
    take = _taken(fields, key, many=kind == "usage")
    if required and key not in fields:
        fields.fault(key, "missing; it is the dotted path to what is taken from an event")
    return Rule(where, each, item, take)


def _conditions(fields: Fields, name: str) -> dict[str, tuple[Any, ...]]:
    """Dotted paths, and the values that may stand there: one, or a list of them."""
    found = fields.raw(name)
    if found is None:
        return {}
    if not isinstance(found, dict):
        fields.fault(name, 'must be an object of dotted paths and values: {"type": "result"}')
        return {}
    return {path: tuple(value) if isinstance(value, list) else (value,) for path, value in found.items()}


def _taken(fields: Fields, key: str, *, many: bool) -> str | dict[str, str]:
    """A dotted path; where ``many`` may be taken, also an object of names and dotted paths."""
    found = fields.raw(key)
    if many and isinstance(found, dict) and found and all(isinstance(path, str) for path in found.values()):
        return dict(found)
    if many and found is not None and not isinstance(found, str):
        fields.fault(key, "must be a dotted path, or an object of names and dotted paths")
        return ""
    return fields.text(key)
