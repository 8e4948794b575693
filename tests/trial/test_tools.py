"""The access mode ``tools``: an arm as a tools server, spoken to by the client of the protocol's own SDK."""

from __future__ import annotations

import io
import json
import socket
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_retrieval.agents.agent import load_agent
from pytest_retrieval.arms.base import Arm
from pytest_retrieval.errors import UsageError
from pytest_retrieval.model import Query
from pytest_retrieval.trial.contexts import Contexts
from pytest_retrieval.trial.run_task import check_tools, run_task
from pytest_retrieval.trial.toolhost import ToolHost
from pytest_retrieval.trial.toolserver import Bridge, answer, serve
from tests.trial.quota import FILES, Quota, runs


class Slow(Arm):
    """Fails when told to."""

    name = "slow"

    def rank(self, query: Query) -> list[str]:
        if "fail" in query.text:
            raise ValueError("broken")
        return [query.text, str(query.changed_file)][: query.limit]


def record_of(
    quota: Quota, calls: list[Any], contexts: Contexts, task: Any = None
) -> dict[str, dict[str, Any]]:
    """The record of each arm where the agent makes these calls, its reply read as JSON."""
    pytest.importorskip("mcp")
    (quota.folder / "calls.json").write_text(json.dumps(calls))
    stand_in = Path(__file__).with_name("mcp_agent.py")
    value = {
        "name": "stand-in",
        "command": [sys.executable, str(stand_in), "{{.Prompt}}"],
        "reply": "stdout",
        "env": ["RETRIEVAL_MCP_CONFIG={{.McpConfig}}", f"MCP_AGENT_CALLS={quota.folder / 'calls.json'}"],
    }
    (quota.folder / "agent.json").write_text(json.dumps(value))
    agent = load_agent("agent.json", quota.folder)
    check_tools("tools", agent, contexts)
    detail = run_task(
        quota.prepared(contexts, task, "tools"),
        agent,
        access="tools",
        timeout=60,
        scratch=quota.scratch,
        workspaces=quota.workspaces(),
        contexts=contexts,
    )
    contexts.close()
    assert list(quota.scratch.iterdir()) == []
    found = {label: runs(detail, label)[0] for label in contexts.labels}
    return {label: {**record, "reply": json.loads(record["reply"])} for label, record in found.items()}


def test_an_agent_searches_and_reads_beside_a_control_without_tools(quota: Quota) -> None:
    calls = [
        ["search", {"query": "blank quota"}],
        ["search", {"query": "blank quota", "limit": 1}],
        ["search", {"query": "wombat"}],
        ["read", {"path": "./lib/quota.py"}],
        ["read", {"path": "tests/test_quota.py", "start": 3, "end": 3}],
        ["read", {"path": "gone.py"}],
        ["search", {"query": "  "}],
        ["search", {"query": "a", "limit": 51}],
    ]
    found = record_of(quota, calls, quota.contexts("none,grep"))
    said = found["grep"]["reply"]
    assert said["entries"] == []
    assert said["tools"] == ["search", "read"]
    assert said["answers"] == [
        ["score=3 tests/test_quota.py\nscore=2 lib/quota.py\nscore=1 NOTES.md", False],
        ["score=3 tests/test_quota.py", False],
        ["(no file of the repository matched any term of the task)", False],
        ["lib/quota.py, 2 lines\n1\tdef parse_quota(text):\n2\t    return int(text)", False],
        ["tests/test_quota.py, 4 lines\n3\tdef test_parse_quota_blank():", False],
        ["acme/quota@abc has no file 'gone.py'", True],
        ["search: `query` is a text that is not blank", True],
        ["search: `limit` is 1 to 50, not 51", True],
    ]
    logged = [{**call, "ms": 0} for call in found["grep"]["calls"]]
    assert all(isinstance(call["ms"], int) and call["ms"] >= 0 for call in found["grep"]["calls"])
    assert logged[:5] == [
        {"tool": "search", "query": "blank quota", "n_results": 3, "ms": 0},
        {"tool": "search", "query": "blank quota", "n_results": 1, "ms": 0},
        {"tool": "search", "query": "wombat", "n_results": 0, "ms": 0},
        {"tool": "read", "query": "lib/quota.py:1-200", "n_results": 1, "ms": 0},
        {"tool": "read", "query": "tests/test_quota.py:3-3", "n_results": 1, "ms": 0},
    ]
    assert [call["error"] for call in logged[5:]] == [text for text, failed in said["answers"] if failed]
    assert found["none"]["reply"]["tools"] is None
    assert found["none"]["calls"] == []
    assert found["none"]["exit_code"] == 0


def test_any_arm_and_a_packet_are_tools(quota: Quota) -> None:
    stub = 'if [ "$1" = --version ]; then echo stub; exit; fi; echo "{\\"results\\":[{\\"id\\":\\"$5\\"}]}"'
    contexts = quota.contexts("slow,corvint", extra={"slow": Slow}, corvint=quota.program("stub", stub))
    calls = [["search", {"query": "words"}], ["search", {"query": "fail"}], ["dance", {}]]
    found = record_of(quota, calls, contexts, quota.change())
    assert found["slow"]["reply"]["answers"] == [
        ["rank=1 words\nrank=2 lib/quota.py", False],
        ["ValueError: broken", True],
        ["there is no tool 'dance'; there are search and read", True],
    ]
    assert found["corvint"]["reply"]["answers"][:2] == [
        ['{"results":[{"id":"words"}]}\n', False],
        ['{"results":[{"id":"fail"}]}\n', False],
    ]
    assert [call["n_results"] for call in found["corvint"]["calls"]] == [1, 1, 0]


def test_with_tools_there_is_no_context_and_the_prompt_says_so(quota: Quota) -> None:
    prepared = quota.prepared(quota.contexts("none,grep"), access="tools")
    for label in ("none", "grep"):
        assert prepared.detail["arms"][label]["context"] == ""
        assert "\n\n(none)\n\nANSWER FORMAT\n" in prepared.prompts[label]
    assert "No retrieval tool is connected" in prepared.prompts["none"]
    assert "server named `retrieval` is connected" in prepared.prompts["grep"]


def test_an_agent_that_cannot_be_told_of_tools_is_refused(quota: Quota) -> None:
    (quota.folder / "mine.json").write_text(
        '{"name": "mine", "command": ["sh", "{{.Prompt}}"], "reply": "stdout"}'
    )
    agent = load_agent("mine.json", quota.folder)
    with pytest.raises(UsageError, match="agent mine: its description does not say how it is told of tools"):
        check_tools("tools", agent, quota.contexts("none,grep"))
    check_tools("tools", agent, quota.contexts("none"))
    check_tools("none", agent, quota.contexts("none,grep"))


def ask(stream: Any, request: Any) -> dict[str, Any]:
    stream.write(json.dumps(request).encode() + b"\n")
    stream.flush()
    found: dict[str, Any] = json.loads(stream.readline())
    return found


def test_a_host_bounds_what_it_answers_and_answers_nothing_after_its_end(quota: Quota) -> None:
    (quota.root / "long.txt").write_text("x" * 100_000 + "\nsecond\n")
    contexts = quota.contexts("grep")
    task = quota.task()
    with quota.workspaces().open(task) as workspace:
        host = ToolHost(contexts.source("grep"), contexts.question(task), workspace, quota.scratch)
        with host as server, socket.socket(socket.AF_UNIX) as link:
            link.connect(server.arguments[-1])
            stream = link.makefile("rwb")
            said = ask(stream, {"tool": "read", "arguments": {"path": "long.txt"}})
            assert said["text"].endswith("\n[TRUNCATED]")
            assert len(said["text"]) == 65_536 + 12
            second = ask(stream, {"tool": "read", "arguments": {"path": "long.txt", "start": 2}})
            assert second["text"] == "long.txt, 2 lines\n2\tsecond"
            beyond = ask(stream, {"tool": "read", "arguments": {"path": "long.txt", "start": 9, "end": 3}})
            assert beyond["error"]
            assert ask(stream, {"tool": "search", "arguments": {"query": "x", "limit": "5"}})["error"]
            assert ask(stream, {"tool": "search", "arguments": []})["error"]
        assert host.answer({"tool": "search", "arguments": {"query": "quota"}}) == {
            "text": "the invocation has ended",
            "error": True,
        }
    assert len(host.calls) == 5
    assert list(quota.scratch.iterdir()) == []


def test_the_socket_of_a_deep_folder_has_a_short_path(quota: Quota) -> None:
    scratch = quota.folder / ("deep" * 40)
    scratch.mkdir()
    contexts, task = quota.contexts("grep"), quota.task()
    with quota.workspaces().open(task) as workspace:
        with ToolHost(contexts.source("grep"), contexts.question(task), workspace, scratch) as server:
            place = Path(server.arguments[-1])
            assert place.is_socket()
            assert len(str(place)) < 108
        assert not place.parent.exists()


def test_the_server_speaks_the_protocol_line_by_line() -> None:
    near, far = socket.socketpair()
    with near, far:
        far.sendall(b'{"text": "found", "error": false}\n')
        asked = [
            {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-03-26"}},
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            [{"jsonrpc": "2.0", "id": "a", "method": "ping"}, {"jsonrpc": "2.0", "id": 5, "result": {}}],
            {
                "jsonrpc": "2.0",
                "id": 2,
                "method": "tools/call",
                "params": {"name": "search", "arguments": {}},
            },
            {"jsonrpc": "2.0", "id": 3, "method": "resources/list"},
            7,
        ]
        lines = b"garbage\n" + b"".join(json.dumps(message).encode() + b"\n" for message in asked)
        out = io.BytesIO()
        serve(io.BytesIO(lines), out, Bridge(near))
        request = json.loads(far.recv(1 << 16))
    replies = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [reply["id"] for reply in replies] == [1, "a", 2, 3, None]
    assert replies[0]["result"]["protocolVersion"] == "2025-03-26"
    assert replies[0]["result"]["capabilities"] == {"tools": {}}
    assert replies[1]["result"] == {}
    assert replies[2]["result"] == {"content": [{"type": "text", "text": "found"}], "isError": False}
    assert [reply["error"]["code"] for reply in replies[3:]] == [-32601, -32600]
    assert request == {"tool": "search", "arguments": {}}


MESSAGES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["id", "method", "params", "result", "name"]), inner, max_size=4)
        | st.fixed_dictionaries(
            {"id": inner, "method": st.sampled_from(["initialize", "tools/call", "ping"])}
        )
    ),
    max_leaves=8,
)


@given(st.lists(MESSAGES.map(lambda value: json.dumps(value).encode()) | st.binary(max_size=9), max_size=4))
def test_whatever_an_agent_says_to_a_server_is_answered_in_json(lines: list[bytes]) -> None:
    near, far = socket.socketpair()
    far.close()
    out = io.BytesIO()
    with near:
        serve(io.BytesIO(b"\n".join(lines)), out, Bridge(near))
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in out.getvalue().splitlines())


def test_a_server_whose_run_has_ended_says_so() -> None:
    near, far = socket.socketpair()
    far.close()
    with near:
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "read"}}
        told = answer(message, Bridge(near))
    assert told is not None
    assert told["result"]["isError"] is True


def test_an_unknown_revision_gets_the_newest_one_that_is_served() -> None:
    near, far = socket.socketpair()
    with near, far:
        message = {"id": 1, "method": "initialize", "params": {"protocolVersion": "1999-01-01"}}
        told = answer(message, Bridge(near))
    assert told is not None
    assert told["result"]["protocolVersion"] == "2025-11-25"


def test_the_repository_is_in_no_folder_while_an_agent_has_it_as_a_tool(quota: Quota) -> None:
    look = f"find {quota.scratch} -type f | wc -l; grep -rl 'def parse_quota' {quota.scratch} | wc -l"
    detail = quota.run(quota.program("agent", look), "grep", access="tools")
    [record] = runs(detail, "grep")
    assert record["reply"].split() == ["1", "0"]  # the configuration of the server alone
    assert record["calls"] == []
    assert sorted(path.name for path in quota.root.iterdir()) == sorted(
        {path.split("/")[0] for path in FILES}
    )
