"""Texts that are too long are cut, and say so."""

from __future__ import annotations

MARKER = "\n[TRUNCATED]"


def truncate(text: str, limit: int) -> tuple[str, bool]:
    """``text``, or the start of it that has at most ``limit`` bytes of UTF-8 and :data:`MARKER`; and whether
    it was cut.

    The cut falls between two characters. The text must be encodable: decode with replacement what comes from
    a program.
    """
    data = text.encode("utf-8")
    if len(data) <= limit:
        return text, False
    return data[:limit].decode("utf-8", "ignore") + MARKER, True
