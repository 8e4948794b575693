"""Descriptions of the mode mcp: what loads, and the one line for each thing that does not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_retrieval.engines.files import DescriptionError
from pytest_retrieval.engines.loading import parse_description
from tests.engines.support import description

FULL = """
{ "name": "server", "mode": "mcp",
  "server": { "command": ["serve", "--port", "{{.Port}}", "{{.State}}"], "dir": "{{.Root}}",
              "url": "http://127.0.0.1:{{.Port}}/mcp", "timeout": "90s",
              "headers_from_env": { "Authorization": "TOKEN" } },
  "setup": [ { "tool": "open", "arguments": { "path": "{{.Root}}" }, "match": "(?i)indexed",
               "timeout": "5m" } ],
  "ready": { "tool": "status", "match": "ready", "timeout": "2m", "interval": "250ms" },
  "search": { "tool": "search", "arguments": { "q": "{{.Query}}", "n": "{{.N}}" }, "reply": "structured" },
  "parse": { "format": "json", "results": "hits", "path": "file", "empty": "^No " },
  "env": ["PORT={{.Port}}"], "env_pass": ["API_KEY"] }
"""
SERVER = {"command": ["serve"]}
SEARCH = {"tool": "search", "arguments": {"query": "{{.Query}}"}}


def mcp(**keys: Any) -> dict[str, Any]:
    return {"mode": "mcp", "server": SERVER, "search": SEARCH} | keys


def test_a_whole_description_loads() -> None:
    found = parse_description(FULL.encode(), "f.json", Path("/x"))
    server = found.server
    assert server is not None
    assert server.command is not None
    assert server.command.argv[0].text == "serve"
    assert (server.timeout, server.reply, server.headers) == (
        90.0,
        "structured",
        (("Authorization", "TOKEN"),),
    )
    (setup,) = server.setup
    assert (setup.tool, setup.timeout) == ("open", 300.0)
    assert setup.match is not None
    assert setup.match.search("Indexed 3 files")
    assert server.ready is not None
    assert (server.ready.timeout, server.ready.interval) == (120.0, 0.25)
    assert (server.search.tool, server.search.timeout, found.search.timeout) == ("search", 60.0, 60.0)
    assert found.secrets == ("API_KEY", "TOKEN")
    assert found.keeps_state
    assert (found.unknown, found.warnings) == ((), ())
    assert [command.argv[0].text for command in found.commands if command.argv] == ["serve"]


def test_defaults() -> None:
    found = description(**mcp())
    assert found.server is not None
    assert (found.server.url, found.server.setup, found.server.ready) == (None, (), None)
    assert (found.server.timeout, found.server.reply) == (60.0, "auto")
    assert not found.keeps_state
    assert not found.knows_width
    found = description(**mcp(search={"tool": "t", "arguments": {"n": "{{.PerFile}}"}}))
    assert found.knows_width
    found = description(**mcp(setup=[{"tool": "t", "arguments": {"to": ["{{.State}}"]}}]))
    assert found.keeps_state


FAULTS: list[tuple[dict[str, Any], str]] = [
    (
        mcp(server=None),
        "server: missing; server.command starts it, or server.url says where it is",
    ),
    (
        mcp(server={}),
        "server.command: is empty; it starts the server (or server.url says where it is)",
    ),
    (
        mcp(server={"command": "serve"}),
        'server.command: must be a list of words, ["tool", "--flag", "{{.Query}}"]; no shell reads it',
    ),
    (
        mcp(server={"command": ["serve", "{{.Query}}"]}),
        "server.command[1]: {{.Query}} is not known here: there is no query yet",
    ),
    (
        mcp(server={"url": "localhost:8000/mcp"}),
        "server.url: 'localhost:8000/mcp' must begin with http:// or https://",
    ),
    (
        mcp(search=None),
        "search: missing; search.tool and search.arguments are how a query is asked",
    ),
    (mcp(search={"arguments": {}}), "search.tool: missing; it is the name of a tool of the server"),
    (mcp(search={"tool": 7}), "search.tool: must be a text, not a whole number (7)"),
    (
        mcp(search={"tool": "t", "arguments": ["{{.Query}}"]}),
        'search.arguments: must be an object, {"query": "{{.Query}}"}',
    ),
    (
        mcp(search={"tool": "t", "arguments": {"q": {"in": ["{{.Port}}"]}}}),
        "search.arguments.q.in[0]: {{.Port}} is not known here: it is the port of a server with a url",
    ),
    (
        mcp(search=SEARCH | {"reply": "txt"}),
        "search.reply: 'txt' is unknown; did you mean 'text'? (known: auto, text, structured, content)",
    ),
    (mcp(setup={"tool": "t"}), "setup: must be a list, not an object"),
    (mcp(setup=["t"]), "setup[0]: must be an object, not a text ('t')"),
    (
        mcp(setup=[{"tool": "t", "arguments": {"q": "{{.Query}}"}}]),
        "setup[0].arguments.q: {{.Query}} is not known here: there is no query yet",
    ),
    (mcp(setup=[{"tool": "t", "match": "("}]), "setup[0].match: does not compile: "),
    (
        mcp(ready={"tool": "t"}),
        "ready.match: missing; it is a regular expression that a reply has in it once all is ready",
    ),
    (mcp(ready={"tool": "t", "match": "x", "interval": 1}), "ready.interval: a bare number is no duration"),
    (
        mcp(server=SERVER | {"headers_from_env": {"Authorization": "T"}}),
        "server.headers_from_env: needs server.url: without one there is no HTTP, and no header",
    ),
    (
        mcp(server={"url": "http://x", "headers_from_env": ["T"]}),
        'server.headers_from_env: must be an object of names, {"Authorization": "MY_VARIABLE"}',
    ),
    (
        {"server": SERVER},
        'server: is read in mode "mcp" only, and this is mode "oneshot"',
    ),
    (
        {"search": {"command": ["t"], "tool": "t"}},
        'search.tool: is read in mode "mcp" only, and this is mode "oneshot"',
    ),
]


@pytest.mark.parametrize(("keys", "line"), FAULTS, ids=[line[:40] for _, line in FAULTS])
def test_a_fault_is_one_line_with_file_and_place(keys: dict[str, Any], line: str) -> None:
    with pytest.raises(DescriptionError) as caught:
        description(**keys)
    assert str(caught.value).splitlines()[0].startswith(f"tool.json: {line}")


def test_unknown_keys_name_the_nearest() -> None:
    found = description(**mcp(server={"command": ["s"], "urll": ""}, setup=[{"tool": "t", "argument": {}}]))
    assert found.unknown == (
        "server.urll: unknown key; did you mean 'url'?",
        "setup[0].argument: unknown key; did you mean 'arguments'?",
    )
