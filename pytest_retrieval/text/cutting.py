"""Texts that are bounded in bytes, and say so where they are cut."""

from __future__ import annotations

CUT_MARK = "\n[TRUNCATED]"
CUT_BYTES = len(CUT_MARK)


def truncate(text: str, limit: int) -> tuple[str, bool]:
    """``text`` and False if it has at most ``limit`` bytes of UTF-8, else its beginning, a mark, and True.

    The beginning has at most ``limit`` bytes and ends with a whole character, so that a reader who decodes
    what was written gets the same text again.
    """
    encoded = text.encode("utf-8", "replace") if len(text) * 4 > limit else b""
    if len(encoded) <= limit:
        return text, False
    return encoded[:limit].decode("utf-8", "ignore") + CUT_MARK, True
