"""A stand-in server of the Model Context Protocol, in plain JSON-RPC: ``stdio``, or ``http PORT``.

What it does wrong, and when, is told by the query; what it is, by its environment: ``SERVER_VERSION``,
``LATE`` (seconds until it listens), ``NEVER`` (ready), ``EXPECTED`` (authorization), and ``SERVER_LOG``
(a file to which every set-up call adds a line).
"""

from __future__ import annotations

import http.server
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

TEXT = {"type": "string"}
SEARCH = {"query": TEXT, "limit": {"type": "integer"}, "where": TEXT}
TOOLS = [
    {
        "name": "search",
        "description": "Finds code.",
        "inputSchema": {"type": "object", "properties": SEARCH, "required": ["query"]},
    },
    {"name": "set_root", "inputSchema": {"type": "object", "properties": {"path": TEXT}}},
    {"name": "status", "inputSchema": {"type": "object"}},
]
LOOKS = 3  # until it is ready
Result = dict[str, Any]

state: dict[str, Any] = {"root": "-", "looks": 0}


def text(value: Any, **more: Any) -> Result:
    shown = value if isinstance(value, str) else json.dumps(value, indent=2)
    return {"content": [{"type": "text", "text": shown}], **more}


def hits(*paths: Any) -> dict[str, Any]:
    return {"hits": [{"p": str(path)} for path in paths]}


def die() -> Result:
    sys.exit("gone")


def hang() -> Result:
    time.sleep(300)
    return {}


def flood() -> Result:
    while True:
        os.write(1, b"x" * 65536)


def noise() -> Result:
    os.write(1, b"Error searching a.c: no such file\n\n")
    return text(hits("src/a.c"))


def mute() -> Result:
    os.write(1, b"Traceback (most recent call last):\n")
    return hang()


def child() -> Result:
    return text(hits(subprocess.Popen(["sleep", "300"], start_new_session=True).pid))


def structured() -> Result:
    return text("1 file", structuredContent={"result": hits("src/a.c")})


def blocks() -> Result:
    found = hits("src/a.c", "src/net.c")["hits"]
    return {"content": [text(hit)["content"][0] for hit in found]}


def prose() -> Result:
    return text("Found 1 result:\n\n" + json.dumps(hits("src/a.c"), indent=1) + "\nThat is all.")


def nested() -> Result:
    return text({"content": [{"text": json.dumps(hits("src/a.c")["hits"])}]})


def secret() -> Result:
    return text(f"the key is {os.environ.get('SECRET_KEY')}", isError=True)


WAYS: dict[str, Callable[[], Result]] = {
    **{
        way.__name__: way for way in (die, hang, flood, noise, mute, child, structured, blocks, prose, nested)
    },
    "secret": secret,
    "big": lambda: text("x" * (70 << 20)),
    "error": lambda: text("no such index", isError=True),
    "none": lambda: text("No results found."),
    "empty": lambda: {"content": []},
    "lines": lambda: text("Matches:\nsrc/a.c:2: int beta;\nsrc/net.c:1: int beta;"),
    "shape": lambda: {"content": "no list"},
}


def search(arguments: dict[str, Any]) -> Result:
    way = WAYS.get(arguments["query"])
    if way is not None:
        return way()
    own = os.environ.get("OWN", "-")
    return text(hits(os.getpid(), json.dumps(arguments, sort_keys=True), state["root"], own))


def set_root(arguments: dict[str, Any]) -> Result:
    state["root"] = arguments["path"]
    if "SERVER_LOG" in os.environ:
        with Path(os.environ["SERVER_LOG"]).open("a", encoding="utf-8") as file:
            file.write(f"{os.getpid()}\n")
    is_wrong = arguments["path"] == "nowhere"
    return text("no such folder" if is_wrong else f"root is {state['root']}", isError=is_wrong)


def status(arguments: dict[str, Any]) -> Result:
    state["looks"] += 1
    return text("indexing" if state["looks"] < LOOKS or "NEVER" in os.environ else "ready")


CALLS = {"search": search, "set_root": set_root, "status": status}


def listed(params: dict[str, Any]) -> Result:
    """One tool per page."""
    page = int(params.get("cursor", 0))
    more = {"nextCursor": str(page + 1)} if page + 1 < len(TOOLS) else {}
    return {"tools": [TOOLS[page]], **more}


def answer(message: dict[str, Any]) -> dict[str, Any] | None:
    """The reply to a message; None for one that gets none."""
    if "id" not in message or "method" not in message:
        return None
    method, params = message["method"], message.get("params") or {}
    head = {"jsonrpc": "2.0", "id": message["id"]}
    if method == "initialize":
        info = {"name": "stand-in", "version": os.environ.get("SERVER_VERSION", "1.0")}
        version = params["protocolVersion"]
        found = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
    elif method == "tools/list":
        found = listed(params)
    elif method == "tools/call" and params["arguments"].get("query") != "refuse":
        found = CALLS[params["name"]](params["arguments"])
    else:
        return {**head, "error": {"code": -32602, "message": "that\ncannot be"}}
    return {**head, "result": found}


def stdio() -> None:
    for line in sys.stdin:
        replied = answer(json.loads(line))
        if replied is not None:
            sys.stdout.write(json.dumps(replied) + "\n")
            sys.stdout.flush()


class Handler(http.server.BaseHTTPRequestHandler):
    """One message per POST; the reply is JSON."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one packet

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.headers.get("Authorization") != os.environ.get("EXPECTED"):
            self.respond(401, b"")
            return
        replied = answer(message)
        self.respond(202 if replied is None else 200, json.dumps(replied).encode() if replied else b"")

    def do_GET(self) -> None:
        self.respond(405, b"")

    def do_DELETE(self) -> None:
        self.respond(200, b"")

    def respond(self, status: int, data: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Nothing."""


if __name__ == "__main__":
    if sys.argv[1] == "stdio":
        stdio()
    else:
        time.sleep(float(os.environ.get("LATE", "0")))
        http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Handler).serve_forever()
