"""What an agent's events tell of an invocation: its last message, its tokens, what it ran."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pytest_retrieval.agents.description import Events, Rule
from pytest_retrieval.engines.documents import look_up
from pytest_retrieval.text.cutting import truncate

NOT_OBSERVED = "NOT_OBSERVED"
COMMANDS = 50  # commands that are kept of one invocation
COMMAND_BYTES = 200  # of each
_MOST = 1 << 53  # tokens: up to there every whole number has a float of its own

Tokens = dict[str, int | float]


@dataclass(frozen=True, slots=True)
class Observed:
    """``message`` is None where there was none; ``tokens`` and ``tool_calls`` where nothing tells them."""

    message: str | None = None
    tokens: Tokens | None = None
    tool_calls: int | None = None
    commands: tuple[str, ...] = ()
    error: str | None = None


def read_stream(data: bytes, events: Events) -> Observed:
    """What the lines of ``data`` say; a line that is no JSON object is ignored."""
    message, error, tokens, calls = None, None, None, 0
    commands: list[str] = []
    for event in _events(data):
        for text in _taken(event, events.messages):
            message = text if isinstance(text, str) else message
        for text in _taken(event, events.errors):
            error = text if isinstance(text, str) else error
        for used in _taken(event, events.usage):
            tokens = _usage(used) if isinstance(used, dict) and used else tokens
        for command in _taken(event, events.tool_calls):
            calls += 1
            if isinstance(command, str) and command and len(commands) < COMMANDS:
                commands.append(truncate(command, COMMAND_BYTES)[0])
    return Observed(message, tokens, calls if events.tool_calls else None, tuple(commands), error)


def _events(data: bytes) -> Iterator[dict[str, Any]]:
    for line in data.split(b"\n"):
        try:
            event = json.loads(line.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            continue
        if isinstance(event, dict):
            yield event


def _taken(event: Mapping[str, Any], rules: Iterable[Rule]) -> Iterator[Any]:
    """What each of ``rules`` takes from ``event``; None where a meant event does not have it."""
    for rule in rules:
        if not _fits(event, rule.where):
            continue
        found = look_up(event, rule.each) if rule.each else [event]
        for item in found if isinstance(found, list) else []:
            if rule.item is None or _fits(item, rule.item):
                yield _take(item, rule.take)


def _fits(value: Any, conditions: Mapping[str, tuple[Any, ...]]) -> bool:
    return all(look_up(value, path) in allowed for path, allowed in conditions.items())


def _take(item: Any, take: str | Mapping[str, str]) -> Any:
    """The value at a dotted path; or the ones that are there, by name."""
    if isinstance(take, str):
        return look_up(item, take) if take else None
    found = {name: look_up(item, path) for name, path in take.items()}
    return {name: value for name, value in found.items() if value is not None}


def _usage(used: Mapping[str, Any]) -> Tokens | None:
    """The counts, if each is a number from 0 to 2^53; none of them else, for half a price is no price."""
    return dict(used) if all(map(_is_count, used.values())) else None


def _is_count(value: Any) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and 0 <= value <= _MOST  # of NaN that is false
