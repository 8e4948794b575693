"""Places in JSON documents: dotted paths, and documents within texts."""

from __future__ import annotations

import json
import re
from typing import Any

ABSENT = object()
_OPENING = re.compile(r"^[ \t]*(?=[\[{])", re.MULTILINE)
_TRIED = 20  # lines at which a JSON document within a text may begin


def look_up(value: Any, path: str) -> Any:
    """What stands at the dotted ``path`` in ``value``, where a number is a place in a list; else None.

    The path ``.`` (an addition) is the value itself.
    """
    found = value if path == "." else find(value, path)
    return None if found is ABSENT else found


def find_results(document: Any, path: str) -> list[Any] | None:
    """The list of results at ``path`` of a document, empty for null; None where there is none.

    A text on the way, or at its end, is read as the JSON document in it (an addition).
    """
    found = find(document, path) if path else document
    if found is ABSENT or isinstance(found, str):
        found = unfolded(document, path)
    return [] if found is None else found if isinstance(found, list) else None


def json_within(text: str) -> Any:
    """The JSON document that ``text`` is, or that begins at one of its lines; else the text itself."""
    try:
        return json.loads(text.lstrip("\ufeff"))
    except (ValueError, RecursionError):
        pass
    for opening, _ in zip(_OPENING.finditer(text), range(_TRIED), strict=False):
        try:
            found, _ = json.JSONDecoder().raw_decode(text, opening.end())
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict) or all(isinstance(item, dict) for item in found):
            return found
    return text


def unfolded(value: Any, path: str) -> Any:
    """What stands at ``path``, where every text on the way and at its end is read as the JSON in it."""
    for step in path.split(".") if path else ():
        value = find(value, step)
        value = json_within(value) if isinstance(value, str) else value
    return value


def find(value: Any, path: str) -> Any:
    """What stands at the dotted ``path`` in ``value``; :data:`ABSENT` where nothing does."""
    if isinstance(value, dict) and path in value:
        return value[path]
    for step in path.split("."):
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.isascii() and step.isdigit() and int(step) < len(value):
            value = value[int(step)]
        else:
            return ABSENT
    return value
