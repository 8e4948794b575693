"""``pytest-retrieval engine probe`` of a server: what it is, its tools, what is asked and replied."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_retrieval.cli import main
from tests.arms.engine.mcp_support import SERVER, keys
from tests.engines.support import document, write

pytest.importorskip("mcp", reason="the mode mcp needs its SDK")


def test_server_tools_call_reply_and_results_are_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_KEY", "open sesame")
    (tmp_path / "tree" / "src").mkdir(parents=True)
    (tmp_path / "tree" / "src" / "a.c").write_text("one\n")
    setup = [{"tool": "set_root", "arguments": {"path": "x"}}]
    arguments = {"query": "{{.Query}}", "limt": "{{.N}}"}
    whole = document(**keys(setup=setup, search={"arguments": arguments}, env_pass=["SECRET_KEY"]))
    path = write(tmp_path, whole)
    words = ["engine", "probe", str(path), "--root", str(tmp_path / "tree")]
    assert main([*words, "--query", "prose"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "engine: tool, mcp"
    assert lines[1].startswith("version: stand-in 1.0 sha256:")
    assert lines[3].startswith("server: stand-in 1.0, protocol ")
    assert lines[4].startswith(f"process: {SERVER[0]} ")
    assert lines[5:8] == [
        "tools: search, set_root, status",
        "warning: the tool 'search' has no argument 'limt'; did you mean 'limit'? "
        "(it takes: query, limit, where)",
        'setup[0]: set_root {"path": "x"}',
    ]
    assert lines[8].endswith(" s: root is x")
    call = next(line for line in lines if line.startswith("call: "))
    assert json.loads(call.removeprefix("call: search ")) == {"query": "prose", "limt": 20}
    assert "  | Found 1 result:" in lines
    assert "  1. src/a.c" in lines
    assert lines[-1] == "ok"
    assert main([*words, "--query", "secret"]) == 1
    said = capsys.readouterr().out
    assert "error: the tool 'search' replied with an error: the key is $SECRET_KEY\n" in said
    assert "sesame" not in said
