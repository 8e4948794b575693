"""The parts of a description that only the mode ``mcp`` has: the server, and the calls of its tools."""

from __future__ import annotations

import re
from typing import Any

from pytest_retrieval.engines.arguments import Arguments, parse_arguments
from pytest_retrieval.engines.description import Server, ToolCall
from pytest_retrieval.engines.fields import Fields, Notes
from pytest_retrieval.engines.sections import one_of, read_pattern, read_template, read_timeout, read_words
from pytest_retrieval.engines.template import EVERYWHERE, OF_QUERY, OF_SERVER

START_TIMEOUT = 60.0
SET_UP_TIMEOUT = 1800.0
SEARCH_TIMEOUT = 60.0
INTERVAL = 0.5  # seconds between two looks at whether a server is ready
TEXT, STRUCTURED, CONTENT, AUTO = "text", "structured", "content", "auto"

_SERVER_KEYS = ("command", "dir", "url", "headers_from_env", "timeout")
_CALL_KEYS = ("tool", "arguments", "timeout")
_OWN = ("server", "setup", "ready")
_OF_SEARCH = ("tool", "arguments", "reply")


def read_server(top: Fields, notes: Notes) -> Server | None:
    """The server of a description in the mode ``mcp`` and its calls; None where there is no server."""
    fields = top.child("server", _SERVER_KEYS)
    search = top.child("search", (*_CALL_KEYS, "reply"))
    if "search" not in top:
        top.fault("search", "missing; search.tool and search.arguments are how a query is asked")
    if "server" not in top:
        top.fault("server", "missing; server.command starts it, or server.url says where it is")
    if fields is None or search is None:
        return None
    known = (*EVERYWHERE, *OF_SERVER)
    url = fields.text("url")
    if url and not url.startswith(("http://", "https://", "{{")):
        fields.fault("url", f"{url!r:.80} must begin with http:// or https://")
    command = read_words(fields, SEARCH_TIMEOUT, known, notes)
    if command is None and not url:
        fault = "is empty; it starts the server (or server.url says where it is)"
        if not isinstance(fields.raw("command"), str):
            fields.fault("command", fault)
    return Server(
        command,
        read_template(notes, fields.place("url"), url, known) if url else None,
        _headers(fields, url),
        read_timeout(fields, START_TIMEOUT),
        _call(search, SEARCH_TIMEOUT, (*EVERYWHERE, *OF_QUERY), notes),
        setup=_setup(top, notes),
        ready=_ready(top, notes),
        reply=one_of(search, "reply", (AUTO, TEXT, STRUCTURED, CONTENT)) or AUTO,
    )


def refuse_server(top: Fields, mode: str) -> None:
    """Note what only the mode ``mcp`` reads, in a description of another ``mode``."""
    search = top.raw("search")
    keys = {key.lower() for key in search} if isinstance(search, dict) else set()
    found = [name for name in _OWN if name in top]
    found += [f"search.{name}" for name in _OF_SEARCH if name in keys]
    for name in found:
        top.fault(name, f'is read in mode "mcp" only, and this is mode "{mode}"')


def _call(fields: Fields, timeout: float, known: tuple[str, ...], notes: Notes) -> ToolCall:
    tool = fields.text("tool").strip()
    if not tool and not isinstance(fields.raw("tool"), bool | int | float | list | dict):
        fields.fault("tool", "missing; it is the name of a tool of the server")
    return ToolCall(tool, _arguments(fields, known, notes), read_timeout(fields, timeout))


def _arguments(fields: Fields, known: tuple[str, ...], notes: Notes) -> Arguments:
    value: Any = fields.raw("arguments")
    if value is not None and not isinstance(value, dict):
        fields.fault("arguments", 'must be an object, {"query": "{{.Query}}"}')
    return parse_arguments(
        value if isinstance(value, dict) else {},
        fields.place("arguments"),
        lambda place, text: read_template(notes, place, text, known),
    )


def _setup(top: Fields, notes: Notes) -> tuple[ToolCall, ...]:
    calls = []
    for fields in top.children("setup", (*_CALL_KEYS, "match")):
        call = _call(fields, SET_UP_TIMEOUT, EVERYWHERE, notes)
        calls.append(_matching(call, read_pattern(fields, "match", notes)))
    return tuple(calls)


def _ready(top: Fields, notes: Notes) -> ToolCall | None:
    fields = top.child("ready", (*_CALL_KEYS, "match", "interval"))
    if fields is None:
        return None
    if "match" not in fields:
        fields.fault("match", "missing; it is a regular expression that a reply has in it once all is ready")
    call = _call(fields, SET_UP_TIMEOUT, EVERYWHERE, notes)
    interval = read_timeout(fields, INTERVAL, "interval")
    return _matching(call, read_pattern(fields, "match", notes), interval)


def _matching(call: ToolCall, match: re.Pattern[str] | None, interval: float = INTERVAL) -> ToolCall:
    return ToolCall(call.tool, call.arguments, call.timeout, match, interval)


def _headers(fields: Fields, url: str) -> tuple[tuple[str, str], ...]:
    value = fields.raw("headers_from_env")
    if value is None:
        return ()
    if not isinstance(value, dict) or not all(isinstance(name, str) and name for name in value.values()):
        fields.fault("headers_from_env", 'must be an object of names, {"Authorization": "MY_VARIABLE"}')
        return ()
    if not url:
        fields.fault("headers_from_env", "needs server.url: without one there is no HTTP, and no header")
    return tuple(value.items())
