"""The claims block of a reply: where it is, and what the agent committed to in it.

Fences count at the beginning of a line only, so that backticks inside a value cut nothing and a block of any
language hides nothing. A bare fence closes what is open; one with a language always opens.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pytest_retrieval.trial.values import decode, trim

PRESENT, ABSENT, MALFORMED, EMPTY = "PRESENT", "ABSENT", "MALFORMED", "EMPTY"
MEMBERS = ("kind", "value", "confidence", "evidence")

_NAMED = '"claims"'
_FENCE = re.compile(r"^[ \t]*(`{3,})([^`\n]*)$", re.MULTILINE)
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Claim:
    """One thing that an agent committed to; a member that it left out is empty."""

    kind: str
    value: str
    confidence: str
    evidence: str


@dataclass(frozen=True, slots=True)
class Block:
    """What :func:`extract` found: ``followed`` says that the reply goes on after its claims block."""

    state: str
    claims: tuple[Claim, ...] = ()
    followed: bool = False


@dataclass(frozen=True, slots=True)
class _Fenced:
    text: str
    end: int  # in the reply, after the closing fence


def extract(reply: str) -> Block:
    """The claims of ``reply``: those of its last fenced block that names ``"claims"``.

    A reply that is nothing but a JSON object with that member is its own block. Never raises: a reply
    without a block is ``ABSENT``, one whose block does not parse ``MALFORMED``, a blank one ``EMPTY``.
    """
    stripped = trim(reply)
    if not stripped:
        return Block(EMPTY)
    blocks = [fenced for fenced in _fenced(reply) if _NAMED in fenced.text]
    if blocks:
        last = blocks[-1]
        return _parsed(last.text, followed=bool(trim(reply[last.end :])))
    if stripped.startswith("{") and _NAMED in stripped:
        return _parsed(stripped, followed=False)
    return Block(ABSENT)


def _fenced(reply: str) -> Iterator[_Fenced]:
    """The fenced blocks, in order; one that is never closed is none.

    A reply's last fence may close at the end of a line, for nothing after it can be meant.
    """
    opened: tuple[int, int] | None = None  # backticks of the fence, where its text begins
    for fence in _FENCE.finditer(reply):
        ticks, named = len(fence[1]), bool(fence[2].strip())
        if opened is None or (named and ticks >= opened[0]):
            opened = ticks, fence.end() + 1
        elif ticks >= opened[0]:  # a bare one
            yield _Fenced(reply[opened[1] : fence.start()], fence.end())
            opened = None
    if opened is not None and (close := reply.rfind("```", opened[1])) >= 0:
        text = reply[opened[1] : close]
        yield _Fenced(text.rstrip("`"), close + 3)


def _parsed(text: str, *, followed: bool) -> Block:
    try:
        claims = _claims(decode(text))
    except ValueError:
        return Block(MALFORMED, followed=followed)
    return Block(PRESENT, claims, followed)


def _claims(value: Any) -> tuple[Claim, ...]:
    found = value.get("claims") if isinstance(value, dict) else None
    if not isinstance(found, list):
        raise ValueError("no list of claims")  # noqa: TRY004 - what JSON can say wrong is one kind of fault
    return tuple(_claim(element) for element in found)


def _claim(element: Any) -> Claim:
    values = {} if element is None else element
    if not isinstance(values, dict):
        raise ValueError("a claim that is no object")  # noqa: TRY004
    return Claim(*(_member(values.get(name)) for name in MEMBERS))


def _member(value: Any) -> str:
    if value is not None and not isinstance(value, str):
        raise ValueError("a member that is no string")
    return _SURROGATE.sub("\ufffd", value or "")
