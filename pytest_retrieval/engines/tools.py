"""What a server says of itself and lists of its tools, held against what a description calls."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_retrieval.engines.description import Server
from pytest_retrieval.errors import closest

Tools = Mapping[str, Mapping[str, Any]]  # entries of ``tools/list`` by name


@dataclass(slots=True)
class Greeting:
    """What a server says of itself: name, version, protocol, and its tools as ``tools/list`` has them."""

    name: str
    version: str
    protocol: str
    tools: dict[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def shown(self) -> str:
        """Name and version."""
        return " ".join(part for part in (self.name, self.version) if part)


def nearest_tool(name: str, listed: tuple[str, ...]) -> str:
    """What is wrong with the tool ``name`` of a server that has those ``listed``."""
    known = ", ".join(listed) or "none"
    return f"the server has no tool {name!r}{closest(name, listed)} (its tools: {known:.400})"


def schema_of(server: Server, tools: Tools) -> str | None:
    """The entry of the tool in the list of tools, as canonical JSON: what an agent is told of it."""
    entry = tools.get(server.search.tool)
    if entry is None:
        return None
    return json.dumps(entry, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def argument_notes(server: Server, tools: Tools) -> Iterator[str]:
    """What speaks against the arguments, by the schemas of the tools."""
    for call in server.calls:
        schema = tools.get(call.tool, {}).get("inputSchema") or {}
        known = schema.get("properties") or {}
        if not known:
            continue
        for name in call.arguments.values:
            if name not in known and not schema.get("additionalProperties"):
                near, takes = closest(name, list(known)), ", ".join(known)
                yield f"the tool {call.tool!r} has no argument {name!r}{near} (it takes: {takes:.300})"
        for name in schema.get("required") or ():
            if name not in call.arguments.values:
                yield f"the tool {call.tool!r} needs the argument {name!r}, which is not given"
