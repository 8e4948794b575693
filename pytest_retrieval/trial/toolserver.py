"""The tools server that an agent starts: Model Context Protocol on its standard streams.

Run as a script, with nothing but the standard library: what an agent asks is passed on, a line of JSON each
way, through the socket of the run, where the arm lives (:mod:`pytest_retrieval.trial.toolhost`). So no index
is built for an invocation, and the repository is in no folder that the agent could find.
"""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Iterator
from typing import Any, BinaryIO

#: Revisions of the protocol whose part that is served here is the same, the newest first.
VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
_NO_METHOD = -32601
_NO_REQUEST = -32600

TOOLS: list[dict[str, Any]] = [
    {
        "name": "search",
        "description": "Find files of the repository for a query in words, best first.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "What to look for, in words or identifiers."},
                "limit": {"type": "integer", "minimum": 1, "maximum": 50, "description": "How many files."},
            },
            "required": ["query"],
        },
        "annotations": {"readOnlyHint": True, "openWorldHint": False},
    },
    {
        "name": "read",
        "description": "Show lines of one file of the repository, with their numbers; 200 from the first on.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "The path within the repository."},
                "start": {"type": "integer", "minimum": 1, "description": "The first line, from 1."},
                "end": {"type": "integer", "minimum": 1, "description": "The last line."},
            },
            "required": ["path"],
        },
        "annotations": {"readOnlyHint": True, "openWorldHint": False},
    },
]


class Bridge:
    """The way to the arm, over the connected socket ``link``."""

    def __init__(self, link: socket.socket) -> None:
        self._stream = link.makefile("rwb")

    def call(self, name: str, arguments: Any) -> dict[str, Any]:
        """What the tool says; a run that has ended says that it has."""
        try:
            self._stream.write(json.dumps({"tool": name, "arguments": arguments}).encode() + b"\n")
            self._stream.flush()
            answer = json.loads(self._stream.readline())
            text, failed = str(answer["text"]), bool(answer["error"])
        except (OSError, ValueError):
            text, failed = "the run that served this tool has ended", True
        return {"content": [{"type": "text", "text": text}], "isError": failed}


def answer(message: Any, bridge: Bridge) -> dict[str, Any] | None:
    """The reply to one message; None where none is due."""
    if not isinstance(message, dict) or not isinstance(message.get("method"), str):
        if isinstance(message, dict) and ("result" in message or "error" in message):
            return None  # a reply, and nothing was asked here
        return {"jsonrpc": "2.0", "id": None, "error": {"code": _NO_REQUEST, "message": "no request"}}
    if "id" not in message:
        return None
    found = _result(message["method"], message.get("params"), bridge)
    if found is None:
        error = {"code": _NO_METHOD, "message": f"no method {message['method']}"}
        return {"jsonrpc": "2.0", "id": message["id"], "error": error}
    return {"jsonrpc": "2.0", "id": message["id"], "result": found}


def _result(method: str, params: Any, bridge: Bridge) -> dict[str, Any] | None:
    params = params if isinstance(params, dict) else {}
    if method == "initialize":
        asked = params.get("protocolVersion")
        return {
            "protocolVersion": asked if asked in VERSIONS else VERSIONS[0],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "retrieval", "version": "1"},
        }
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "tools/call":
        return bridge.call(str(params.get("name")), params.get("arguments"))
    return {} if method == "ping" else None


def serve(reader: BinaryIO, writer: BinaryIO, bridge: Bridge) -> None:
    """Answer every line of ``reader`` until it ends."""
    for line in reader:
        for reply in _replies(line, bridge):
            writer.write(json.dumps(reply).encode() + b"\n")
            writer.flush()


def _replies(line: bytes, bridge: Bridge) -> Iterator[dict[str, Any]]:
    try:
        said = json.loads(line)
    except ValueError:
        return
    for message in said if isinstance(said, list) else [said]:
        reply = answer(message, bridge)
        if reply is not None:
            yield reply


def main(place: str) -> None:
    """Serve the run that listens at the socket ``place``."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link:
        link.connect(place)
        serve(sys.stdin.buffer, sys.stdout.buffer, Bridge(link))


if __name__ == "__main__":
    main(sys.argv[1])
