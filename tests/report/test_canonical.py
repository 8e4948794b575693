"""The canonical bytes, against the specification's cases and a slow writer of its own."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_retrieval.errors import ReportError
from pytest_retrieval.report.canonical import encode, number_text

SHORT_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f", '"': '\\"', "\\": "\\\\"}


def slow_number(number: float) -> str:
    """ECMAScript's Number::toString from the digits of ``repr``, which are the shortest, placed by hand."""
    if number == 0:
        return "0"
    _, figures, exponent = Decimal(repr(abs(number))).as_tuple()
    assert isinstance(exponent, int)
    power = len(figures) - 1 + exponent
    digits = "".join(map(str, figures)).rstrip("0")
    sign = "-" if number < 0 else ""
    if -7 < power < 0:
        return f"{sign}0.{'0' * (-power - 1)}{digits}"
    if 0 <= power < 21:
        whole, rest = digits[: power + 1].ljust(power + 1, "0"), digits[power + 1 :]
        return sign + whole + (f".{rest}" if rest else "")
    rest = f".{digits[1:]}" if digits[1:] else ""
    return f"{sign}{digits[0]}{rest}e{'+' if power > 0 else '-'}{abs(power)}"


def slow_string(text: str) -> str:
    out = []
    for character in text:
        if character in SHORT_ESCAPES:
            out.append(SHORT_ESCAPES[character])
        elif ord(character) < 0x20:
            out.append(f"\\u{ord(character):04x}")
        elif 0xD800 <= ord(character) <= 0xDFFF:
            out.append("\\ufffd")
        else:
            out.append(character)
    return f'"{"".join(out)}"'


def slow(value: Any) -> str:
    match value:
        case None | True | False:
            return {None: "null", True: "true", False: "false"}[value]
        case str():
            return slow_string(value)
        case float():
            return slow_number(value)
        case int():
            return str(value)
        case dict():
            keys = sorted(value, key=lambda key: key.encode("utf-8", "replace"))
            return "{" + ",".join(f"{slow_string(key)}:{slow(value[key])}" for key in keys) + "}"
        case _:
            return "[" + ",".join(map(slow, value)) + "]"


valid_text = st.text()
any_text = st.text(st.characters(exclude_categories=()))
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    scalars | any_text,
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(valid_text, inner),
    max_leaves=20,
)
exact_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(-(2.0**53), 2.0**53) | valid_text,
    lambda inner: st.lists(inner) | st.dictionaries(valid_text, inner),
    max_leaves=20,
)


@given(values)
def test_agrees_with_the_slow_writer(value: Any) -> None:
    assert encode(value) == slow(value).encode()


@given(exact_values)
def test_reads_back_equal(value: Any) -> None:
    assert json.loads(encode(value)) == value


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_float_reads_back_to_itself(number: float) -> None:
    assert float(encode(number)) == number
    assert number_text(number).encode() == encode(number)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": 1, "a": [True, None]}, '{"a":[true,null],"b":1}'),  # case 75
        (1.0, "1"),  # case 76
        (0.25, "0.25"),
        (1 / 3, "0.3333333333333333"),
        (1e-6, "0.000001"),
        (9.99e-7, "9.99e-7"),
        (1e20, "100000000000000000000"),
        (1e21, "1e+21"),
        (2.5e-9, "2.5e-9"),
        (1.2345678901234567e20, "123456789012345670000"),
        (5e-324, "5e-324"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),
        (-0.0, "0"),
        (-1.5e-7, "-1.5e-7"),
        (0.00001, "0.00001"),
        (9007199254740993, "9007199254740993"),
        (2**64, "18446744073709551616"),
        (-(2**63) - 1, "-9223372036854775809"),
        ("a<b>&\u2028/\x7f", '"a<b>&\u2028/\x7f"'),  # case 78
        ("\x01\x1f\t\n\r\b\f", '"\\u0001\\u001f\\t\\n\\r\\b\\f"'),
        ("\\\\u2028", '"\\\\\\\\u2028"'),  # case 79
        ("\ufffd", '"\ufffd"'),
        ("a\ud800b\udfff", '"a\\ufffdb\\ufffd"'),
        ("\ud83d\ude00", '"\\ufffd\\ufffd"'),
        ({"\ue000": 1, "\U0001f600": 2}, '{"\ue000":1,"\U0001f600":2}'),  # UTF-16 would swap them
        ({"\ud800": 1.0, "z": (1, -0.0)}, '{"z":[1,0],"\\ufffd":1}'),
        ((), "[]"),
        ({}, "{}"),
        (True, "true"),
        (1, "1"),
    ],
)
def test_cases(value: Any, text: str) -> None:
    assert encode(value) == text.encode()


class Text(str):
    __slots__ = ()


class Number(float):
    __slots__ = ()


@pytest.mark.parametrize(
    "value",
    [
        math.nan,
        math.inf,
        -math.inf,
        {"a": [math.nan]},
        ["\ud800", math.nan],
        Text("a"),
        Number(0.5),
        {1: 2},
        {Text("a"): 1},
        {"a": {3, 4}},
        b"bytes",
        ["\ud800", b"bytes"],
        {chr(0xD800): 1, chr(0xDFFF): 2},
    ],
)
def test_refused_in_one_line(value: Any) -> None:
    with pytest.raises(ReportError, match=r"^cannot encode [^\n]+$"):
        encode(value)


def test_nesting_beyond_the_fast_writer() -> None:
    value: Any = 0.5
    for _ in range(300):
        value = [value]
    assert encode(value) == b"[" * 300 + b"0.5" + b"]" * 300


def test_a_value_inside_itself_is_refused() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(ReportError, match="nested"):
        encode(loop)
