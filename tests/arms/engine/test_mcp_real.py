"""Servers of others, as they are: run where their programs are installed, or named by a variable."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.arms.engine.support import ask, engine, home, paths, snapshot, spans

pytest.importorskip("mcp", reason="the mode mcp needs its SDK")

TREE = {
    "src/pool.py": b"# pool\nclass ConnectionPool:\n    idle = []\n",
    "src/other.py": b"nothing = here\n",
}
MATCHES = {"path": "file", "start": "line", "text": "text"}


def program(name: str, variable: str) -> str:
    """The program ``name``, or the one that ``variable`` names; skips where there is none."""
    found = shutil.which(os.environ.get(variable) or name)
    if found is None:
        pytest.skip(f"{name} is not installed; {variable} may name its program")
    return found


def test_mcp_grep(tmp_path: Path) -> None:
    server = {"command": [program("mcp-grep-server", "RETRIEVAL_MCP_GREP")]}
    arguments = {"pattern": "{{words .Query}}", "paths": "{{.Root}}", "recursive": True, "ignore_case": True}
    arguments["file_pattern"] = "*.py"  # or it finds words in .git, too
    keys: dict[str, Any] = {
        "search": {"tool": "grep", "arguments": arguments},
        "parse": {
            "format": "json",
            "results": "content.0.text",
            "path": "file",
            "start": "line_num",
            "text": "line",
            "empty": "No matches found",
        },
    }
    with engine(home(tmp_path), snapshot(TREE), mode="mcp", server=server, **keys) as arm:
        assert spans(ask(arm, "Where are idle connections?")) == [("src/pool.py", 3, 3)]
        assert paths(ask(arm, "zyxwvut")) == []
        assert arm.version.startswith("grep-server ")


@pytest.mark.parametrize("transport", ["stdio", "streamable-http"])
def test_code_index_mcp(transport: str, tmp_path: Path) -> None:
    words = [program("code-index-mcp", "RETRIEVAL_CODE_INDEX_MCP"), "--transport", transport]
    server: dict[str, Any] = {"command": [*words, "--port", "{{.Port}}"]}
    if transport != "stdio":
        server["url"] = "http://127.0.0.1:{{.Port}}/mcp"
    arguments = {
        "pattern": "{{words .Query}}",
        "regex": True,
        "case_sensitive": False,
        "max_results": "{{.N}}",
    }
    keys: dict[str, Any] = {
        "setup": [{"tool": "set_project_path", "arguments": {"path": "{{.Root}}"}, "match": "Indexed"}],
        "search": {"tool": "search_code_advanced", "arguments": arguments},
        "env": ["TMPDIR={{.State}}"],  # its index goes to a folder of its own there, whatever it is told
        "parse": MATCHES | {"format": "json", "results": "results"},
    }
    with engine(home(tmp_path), snapshot(TREE), mode="mcp", server=server, **keys) as arm:
        assert spans(ask(arm, "Where are idle connections?")) == [("src/pool.py", 3, 3)]
        assert paths(ask(arm, "zyxwvut")) == []
        assert arm.version.startswith("CodeIndexer ")
        assert arm.built is not None
        assert arm.built.seconds > 0
        assert arm.built.size > 0
