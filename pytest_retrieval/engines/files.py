"""Files of descriptions, of tools and of agents alike: read within bounds, and refused in lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pytest_retrieval.errors import UsageError
from pytest_retrieval.regular import open_regular

_LARGEST = 1 << 20  # bytes of a description


class DescriptionError(UsageError):
    """A description that cannot be used: one line per fault, each naming the file and the place in it."""

    def __init__(self, shown: str, faults: list[str]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(f"{shown}: {fault}" for fault in faults))


def read_description(path: Path, shown: str) -> bytes:
    """The bytes of the file ``path``, at most one more than a description may have.

    Raises:
        DescriptionError: it cannot be read.
    """
    try:
        with open_regular(path) as file:
            return file.read(_LARGEST + 1)
    except OSError as error:
        raise DescriptionError(shown, [f"cannot be read: {error.strerror}"]) from error


def json_document(data: bytes, shown: str, what: str, unlike: str = "") -> dict[str, Any]:
    """The object that ``data`` is; ``what`` it describes, and what to say of a file that is ``unlike`` any.

    Raises:
        DescriptionError: it is none.
    """
    if len(data) > _LARGEST:
        raise DescriptionError(shown, [f"has more than {_LARGEST:,} bytes; this is no {what} description"])
    try:
        document = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise DescriptionError(shown, [f"is not UTF-8 at byte {error.start}{unlike}"]) from error
    except json.JSONDecodeError as error:
        hint = r"; in JSON a backslash is written \\" if "escape" in error.msg else ""
        hint += unlike if data.startswith(b"#!") else ""
        where = f"line {error.lineno}, column {error.colno}"
        raise DescriptionError(shown, [f"{where}: no JSON: {error.msg}{hint}"]) from error
    except (RecursionError, ValueError) as error:
        raise DescriptionError(shown, [f"no JSON that can be read: {error}"]) from error
    if not isinstance(document, dict):
        raise DescriptionError(shown, ["is no JSON object"])
    return document
