"""Canonical JSON, profile ``pytest-retrieval/1``: one byte string per value.

Compact; the keys of every object sorted by their UTF-8 bytes; strings as raw UTF-8 with only ``"``, ``\\``
and controls below 0x20 escaped; numbers as ECMAScript prints them (shortest digits, positional from 1e-6 up
to 1e21, whole numbers without a point, zero without a sign). Tuples are lists. It is not RFC 8785: that one
sorts keys by UTF-16 units and knows no lone surrogates.
"""

from __future__ import annotations

import re
from decimal import Decimal
from math import isfinite
from typing import Any

import orjson

from pytest_retrieval.errors import ReportError

PROFILE = "pytest-retrieval/1"

# Where orjson of every supported version prints a float by the rule; other floats are written here.
_ORJSON_FROM, _ORJSON_BELOW = 1e-4, 2.0**53
_ORJSON_INTEGERS = range(-(2**63), 2**64)
_SURROGATE = re.compile("[\ud800-\udfff]")


def encode(value: Any) -> bytes:
    """The canonical bytes of ``value``, without a line end.

    Takes None, bool, int, float, str, list, tuple and dict with str keys, and no subclass of them. A lone
    surrogate becomes the escape ``\\ufffd``. Raises ReportError for NaN, infinity, any other type, or keys
    that become equal when their surrogates are replaced.
    """
    try:
        plain = _plain(value)
        try:
            return orjson.dumps(plain, option=orjson.OPT_SORT_KEYS)
        except orjson.JSONEncodeError:  # surrogates, or deeper than orjson goes
            return _exact(value)
    except RecursionError:
        raise ReportError("cannot encode a value nested this deeply (or inside itself) as JSON") from None


def number_text(number: float) -> str:
    """A finite float as ECMAScript's Number::toString prints it, except that -0 is ``0``.

    Raises ReportError for NaN and infinity.
    """
    if not isfinite(number):
        raise ReportError(f"cannot encode {number} as JSON: a report holds finite numbers only")
    if number == 0:
        return "0"
    sign, digit_tuple, exponent = Decimal(repr(number)).normalize().as_tuple()
    digits = "".join(map(str, digit_tuple))
    point = len(digits) + int(exponent)  # the value is 0.DIGITS times ten to this power
    return ("-" if sign else "") + _place(digits, point)


def _place(digits: str, point: int) -> str:
    """``digits`` with a decimal point after ``point`` of them, positional inside ECMAScript's bounds."""
    if -6 < point <= 0:
        return "0." + "0" * -point + digits
    if 0 < point <= 21:
        return digits.ljust(point, "0") if point >= len(digits) else f"{digits[:point]}.{digits[point:]}"
    mantissa = digits[0] + ("." + digits[1:] if len(digits) > 1 else "")
    return f"{mantissa}e{point - 1:+d}"


def _plain(value: Any) -> Any:
    """``value`` with every number in a form that orjson prints by the rule; other types are refused."""
    kind = type(value)
    if kind is str or kind is bool or value is None:
        return value
    if kind is float:
        return _plain_float(value)
    if kind is list or kind is tuple:
        return [item if type(item) is str else _plain(item) for item in value]
    if kind is dict:
        return {key: item if type(item) is str else _plain(item) for key, item in value.items()}
    if kind is int:
        return value if value in _ORJSON_INTEGERS else orjson.Fragment(str(value))
    raise _refusal(value)


def _plain_float(number: float) -> Any:
    size = abs(number)
    if size < _ORJSON_BELOW and number.is_integer():
        return int(number)
    if _ORJSON_FROM <= size < _ORJSON_BELOW:
        return number
    return orjson.Fragment(number_text(number))


def _exact(value: Any) -> bytes:
    """What :func:`encode` promises, piece by piece: for text that is not valid UTF-8 and for deep nesting."""
    kind = type(value)
    if kind is str:
        return _exact_text(value)
    if kind is list or kind is tuple:
        return b"[" + b",".join(map(_exact, value)) + b"]"
    if kind is dict:
        return _exact_object(value)
    return orjson.dumps(_plain(value))


def _exact_text(text: str) -> bytes:
    valid_parts = _SURROGATE.split(text)
    return b'"' + rb"\ufffd".join(orjson.dumps(part)[1:-1] for part in valid_parts) + b'"'


def _exact_object(value: dict[Any, Any]) -> bytes:
    members: dict[bytes, bytes] = {}
    for key, item in value.items():
        if type(key) is not str:
            raise _refusal(key)
        name = _SURROGATE.sub("\ufffd", key).encode()
        if name in members:
            raise ReportError(f"cannot encode two keys that both become {name.decode()!r}")
        members[name] = _exact_text(key) + b":" + _exact(item)
    return b"{" + b",".join(members[name] for name in sorted(members)) + b"}"


def _refusal(value: object) -> ReportError:
    return ReportError(f"cannot encode {type(value).__name__} as JSON: {str(value)[:80]!r}")
