"""Engines of the mode mcp made in a test, over the stand-in server."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from pytest_retrieval.arms.engine.arm import EngineArm
from pytest_retrieval.errors import ArmError
from tests.arms.engine.support import JSON, ask, engine, home, paths

SERVER = [sys.executable, "-uIS", str(Path(__file__).with_name("mcp_server.py"))]
ARGUMENTS = {"query": "{{.Query}}", "limit": "{{.N}}", "where": "{{.Root}}"}


def keys(**more: Any) -> dict[str, Any]:
    """The keys of a description; ``search`` adds to those of a search."""
    search = {"tool": "search", "arguments": ARGUMENTS, "timeout": "60s"} | more.pop("search", {})
    server = {"command": [*SERVER, "stdio"]} | more.pop("server", {})
    return {"mode": "mcp", "server": server, "search": search, "parse": JSON, "spans": False} | more


def web(**more: Any) -> dict[str, Any]:
    """The keys of a description whose server listens at a port."""
    server = {"command": [*SERVER, "http", "{{.Port}}"], "url": "http://127.0.0.1:{{.Port}}/mcp"}
    return keys(server=server | more.pop("server", {}), **more)


def server(folder: Path, **more: Any) -> AbstractContextManager[EngineArm]:
    return engine(home(folder), **keys(**more))


def answers(arm: EngineArm, *queries: str) -> list[str]:
    """Each query's first path (that is the process number), or its fault."""
    found = []
    for query in queries:
        try:
            found.append((paths(ask(arm, query)) or ["nothing"])[0])
        except ArmError as error:
            found.append(str(error))
    return found
