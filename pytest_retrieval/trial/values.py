"""What a claim may say, and when two values of it are the same."""

from __future__ import annotations

import json
from typing import Any, NoReturn

TEST_FILE, SOURCE_FILE, ANSWER = "test-file", "source-file", "answer"
CLAIM_KINDS = (TEST_FILE, SOURCE_FILE, ANSWER)
PATH_KINDS = (TEST_FILE, SOURCE_FILE)
CERTAIN, LIKELY, UNSURE = "certain", "likely", "unsure"
CONFIDENCES = (CERTAIN, LIKELY, UNSURE)
# Unicode's white space; str.strip() also takes the separators U+001C to U+001F away.
_BLANKS = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))


def trim(text: str) -> str:
    """``text`` without white space around it."""
    return text.strip(_BLANKS)


def normalise(kind: str, value: str) -> str:
    """``value`` as it is compared: an answer without case, a path without ``./`` before and ``/`` behind.

    Nothing else is folded: paths keep their case, their ``..`` and their backslashes.
    """
    trimmed = trim(value)
    return trimmed.lower() if kind == ANSWER else normalise_path(trimmed)


def normalise_path(path: str) -> str:
    """A path without blanks around it, one leading ``./`` and one trailing ``/``."""
    return trim(path).removeprefix("./").removesuffix("/")


def decode(text: str) -> Any:
    """The one JSON value of ``text``; raises ValueError for anything else, NaN and deep nesting too."""
    try:
        return json.loads(text, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")
