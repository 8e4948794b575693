from __future__ import annotations

import pytest

from pytest_retrieval.arms.packet import TEXT_LIMIT, Packet
from pytest_retrieval.errors import ArmError


def test_members_of_every_kind() -> None:
    packet = Packet.parse(b'{"a": {"b": "x"}, "c": [{"d": "y"}, {}], "e": ["p", "q"]}')
    assert packet.inside("a").text("b") == "x"
    assert [row.text("d") for row in packet.rows("c")] == ["y", ""]
    assert packet.texts("e") == ["p", "q"]


def test_absent_and_null_are_empty() -> None:
    packet = Packet.parse(b'{"a": null, "b": null, "c": null}')
    assert packet.inside("a").inside("deeper").text("b") == ""
    assert packet.rows("b") == packet.rows("missing") == []
    assert packet.texts("c") == []


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "unreadable packet: standard output is empty"),
        (b" \n", "unreadable packet: standard output is empty"),
        (b"oops", "unreadable packet: unexpected character"),
        (b'{"a": 1', "unreadable packet: unexpected end of data"),
        (b"{} {}", "unreadable packet: unexpected content after document"),
        (b'{"a": "\xff"}', "unreadable packet: str is not valid UTF-8"),
        (b'{"a": NaN}', "unreadable packet: unexpected character"),
        (b"[" * 5_000 + b"]" * 5_000, "unreadable packet: "),
        (b"[1]", r"unreadable packet: the packet is \[1\]; it must be an object"),
        (b'"x"', "unreadable packet: the packet is 'x'; it must be an object"),
    ],
    ids=lambda value: value[:12].decode("latin-1") if isinstance(value, bytes) else "",
)
def test_what_is_no_packet_says_why(data: bytes, message: str) -> None:
    with pytest.raises(ArmError, match=message) as caught:
        Packet.parse(data)
    assert "\n" not in str(caught.value)


def test_a_wrong_kind_is_named_by_its_place() -> None:
    packet = Packet.parse(b'{"context": {"results": [{"evidence": [{"path": "a"}, {"path": 7}]}, 3]}}')
    context = packet.inside("context")
    with pytest.raises(ArmError, match=r"context\.results\[1\] is 3; it must be an object"):
        context.rows("results")
    deep = Packet.parse(b'{"a": {"b": [{"c": 7}]}}').inside("a").rows("b")[0]
    with pytest.raises(ArmError, match=r"a\.b\[0\]\.c is 7; it must be a text"):
        deep.text("c")
    with pytest.raises(ArmError, match=r"x\[1\] is None; it must be a text"):
        Packet.parse(b'{"x": ["a", null]}').texts("x")
    with pytest.raises(ArmError, match="x is True; it must be a list"):
        Packet.parse(b'{"x": true}').rows("x")


def test_texts_are_bounded() -> None:
    fits, long = "é" * TEXT_LIMIT, "é" * (TEXT_LIMIT + 1)
    packet = Packet.parse(f'{{"fits": "{fits}", "long": "{long}"}}'.encode())
    assert packet.text("fits") == fits
    with pytest.raises(ArmError, match="long has 4,097 characters; the bound is 4,096"):
        packet.text("long")


def test_an_object_of_something_else_is_no_answer() -> None:
    packet = Packet.parse(b'{"a": null, "b": {}}')
    assert packet.require("a", "b") is packet
    with pytest.raises(ArmError, match="unreadable packet: it has no a or c"):
        packet.require("a", "c")
    with pytest.raises(ArmError, match="unreadable packet: b has no d"):
        packet.inside("b").require("d")
