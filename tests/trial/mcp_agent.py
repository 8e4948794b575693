"""An agent that really speaks the Model Context Protocol, with the client of its Python SDK.

What it is to call stands in the file that its environment names; it prints what it was told, as JSON.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def talk(config: str, calls: list[Any]) -> dict[str, Any]:
    server = json.loads(Path(config).read_text())["mcpServers"]["retrieval"]
    said: dict[str, Any] = {"entries": [path.name for path in Path().iterdir()], "answers": []}
    parameters = StdioServerParameters(command=server["command"], args=server["args"])
    async with stdio_client(parameters) as (reader, writer), ClientSession(reader, writer) as session:
        await session.initialize()
        said["tools"] = [tool.name for tool in (await session.list_tools()).tools]
        for name, arguments in calls:
            result = await session.call_tool(name, arguments)
            told = result.model_dump(by_alias=True)  # the names of the protocol, whatever Python calls them
            said["answers"].append([told["content"][0]["text"], told["isError"]])
    return said


def main() -> None:
    config = os.environ.get("RETRIEVAL_MCP_CONFIG")
    calls = json.loads(Path(os.environ["MCP_AGENT_CALLS"]).read_text())
    said = asyncio.run(talk(config, calls)) if config else {"tools": None, "prompt": sys.argv[1][:20]}
    print(json.dumps(said))


if __name__ == "__main__":
    main()
