"""JSON as the original bench writes it beside its report: raw UTF-8, but nothing that HTML could act on."""

from __future__ import annotations

import json
import re
from typing import Any

from pytest_retrieval.errors import ReportError

# Outside of strings JSON has none of these characters, so they may be escaped in the finished text.
_SENSITIVE = re.compile("[<>&\u2028\u2029]")
_SURROGATE = re.compile("[\ud800-\udfff]")


def escaped_json(value: Any, *, indent: int | None = None, sort_keys: bool = False) -> bytes:
    """``value`` as JSON without a line end; compact unless ``indent`` says otherwise.

    ``<``, ``>``, ``&``, U+2028 and U+2029 are written as escapes, and half a character as ``\\ufffd``.

    Raises:
        ReportError: a value that JSON does not hold.
    """
    separators = (",", ":") if indent is None else (",", ": ")
    try:
        text = json.dumps(
            value,
            ensure_ascii=False,
            allow_nan=False,
            indent=indent,
            separators=separators,
            sort_keys=sort_keys,
        )
    except (TypeError, ValueError) as error:
        raise ReportError(f"cannot encode as JSON: {error}") from error
    escaped = _SENSITIVE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    return _SURROGATE.sub(r"\\ufffd", escaped).encode("utf-8")
