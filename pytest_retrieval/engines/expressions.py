"""Regular expressions of descriptions: written for RE2, read by Python."""

from __future__ import annotations

import re

_CLASSES = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "blank": r"\t ",
    "digit": "0-9",
    "lower": "a-z",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\t\n\v\f\r ",
    "upper": "A-Z",
    "word": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}
_TRANSLATED = re.compile(r"\\.|\(\?<(?=[A-Za-z_])|\[:(\w+):\]", re.DOTALL)
_NOT_IN_RE2 = re.compile(r"\\.|(\(\?(?:=|!|<=|<!|P=|\())", re.DOTALL)


def compile_expression(text: str) -> re.Pattern[str]:
    """``text`` as Python's ``re`` takes it; classes such as ``\\d`` are ASCII, as in RE2.

    ``(?<name>…)``, ``\\z`` and ``[[:alpha:]]`` are translated.

    Raises:
        ValueError: it does not compile, or has no group named ``path``.
    """
    compiled = compile_plain(text)
    if "path" not in compiled.groupindex:
        groups = ", ".join(compiled.groupindex) or "none"
        raise ValueError(f"has no group named path; write (?P<path>…) (named groups: {groups})")
    return compiled


def compile_count(text: str) -> re.Pattern[str]:
    """``text`` as :func:`compile_expression` takes it, but for a number: its first group.

    Raises:
        ValueError: it does not compile, or has no group.
    """
    compiled = compile_plain(text)
    if not compiled.groups:
        raise ValueError("has no group; write one around the number, such as (\\d+) chunks")
    return compiled


def compile_plain(text: str) -> re.Pattern[str]:
    """``text`` as :func:`compile_expression` takes it, with whatever groups.

    Raises:
        ValueError: it does not compile.
    """
    try:
        return re.compile(_TRANSLATED.sub(_translated, text), re.ASCII)
    except (re.error, RecursionError, OverflowError) as error:
        raise ValueError(f"does not compile: {error}") from error


def beyond_re2(text: str) -> str | None:
    """The first construct that RE2, and so the original, does not have; None where there is none."""
    for found in _NOT_IN_RE2.finditer(text):
        if found[1] or re.fullmatch(r"\\[1-9]", found[0]):
            return found[0]
    return None


def _translated(found: re.Match[str]) -> str:
    if found[0] == r"\z":
        return r"\Z"
    if found[0] == "(?<":
        return "(?P<"
    return _CLASSES.get(found[1] or "", found[0])
