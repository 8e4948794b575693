"""Servers of the Model Context Protocol as engines: asked, read, set up, and gone whatever they do."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_retrieval.arms.engine.arm import EngineArm, engine_arm
from pytest_retrieval.errors import ArmError, UsageError
from tests.arms.engine.mcp_support import SERVER, answers, keys, server, web
from tests.arms.engine.support import ask, engine, home, paths, printed, snapshot, spans
from tests.engines.support import description, document, write
from tests.processes import is_alive, wait_until_gone

pytest.importorskip("mcp", reason="the mode mcp needs its SDK")

Make = Callable[..., dict[str, Any]]
SET_ROOT = {"tool": "set_root", "arguments": {"path": "{{.Root}}"}}
READY = {"tool": "status", "match": "^ready$", "interval": "10ms", "timeout": "60s"}


@pytest.fixture(params=[keys, web], ids=["pipes", "http"])
def make(request: pytest.FixtureRequest) -> Make:
    found: Make = request.param
    return found


def test_all_queries_are_asked_of_one_server(make: Make, tmp_path: Path) -> None:
    with engine(home(tmp_path), **make(candidates=5, env=["OWN={{.Name}}"])) as arm:
        first, asked, root, own = printed(arm, 'a "b"\n$(x)')
        expected = {"limit": 100, "query": 'a "b"\n$(x)', "where": arm.values["Root"]}
        assert json.loads(asked) == expected
        assert (root, own) == ("-", "name")
        assert answers(arm, "b", "c") == [first, first]
        assert arm.version.startswith("stand-in 1.0 sha256:")
        assert arm.built is None
        assert arm.index_seconds is not None
        assert arm.index_seconds > 0
        assert is_alive(int(first))
    assert wait_until_gone(int(first))


def test_the_schema_of_the_tool_is_what_an_agent_is_told(tmp_path: Path) -> None:
    arm = EngineArm(description(**keys()), home(tmp_path))
    assert arm.tool_schema == (
        '{"description":"Finds code.","inputSchema":{"properties":{"limit":{"type":"integer"},'
        '"query":{"type":"string"},"where":{"type":"string"}},"required":["query"],"type":"object"},'
        '"name":"search"}'
    )


FAULTS = {
    "die": "it ended with exit status 1: gone",
    "hang": "timed out after 1.5 s",
    "mute": "timed out after 1.5 s; 1 lines of its output are no messages, the first is "
    "b'Traceback (most recent call last):'",
}


@pytest.mark.parametrize("query", FAULTS)
def test_a_server_in_no_known_state_is_started_anew(query: str, tmp_path: Path) -> None:
    with server(tmp_path, search={"timeout": "1500ms"}) as arm:
        one, fault, three = answers(arm, "a", query, "b")
        assert fault == FAULTS[query]
        assert one.isdigit()
        assert three.isdigit()
        assert one != three
        assert wait_until_gone(int(one))


@pytest.mark.parametrize("query", ["flood", "big"])
def test_a_flood_ends_at_its_bound(query: str, tmp_path: Path) -> None:
    with server(tmp_path, search={"timeout": "30s"}) as arm:
        fault, after = answers(arm, query, "b")
        assert fault == "its output exceeds 67,108,864 bytes"
        assert after.isdigit()


def test_over_http_too_what_is_too_much_or_never_comes_is_a_fault(tmp_path: Path) -> None:
    with engine(home(tmp_path), **web(search={"timeout": "20s"})) as arm:
        (fault,) = answers(arm, "big")
        assert fault == "its output exceeds 67,108,864 bytes"
    with engine(home(tmp_path), **web(search={"timeout": "1500ms"})) as arm:
        one, fault, three = answers(arm, "a", "hang", "b")
        assert fault == "timed out after 1.5 s"
        assert one != three
        assert wait_until_gone(int(one))


REFUSALS = {
    "error": "the tool 'search' replied with an error: no such index",
    "refuse": "the server answered with error -32602: that cannot be",
    "shape": "the answer cannot be taken: 1 validation error for CallToolResult",
}


@pytest.mark.parametrize("query", REFUSALS)
def test_a_refusal_is_a_fault_of_its_query_alone(make: Make, query: str, tmp_path: Path) -> None:
    with engine(home(tmp_path), **make()) as arm:
        one, fault, three = answers(arm, "a", query, "b")
        assert fault.startswith(REFUSALS[query])
        assert "\n" not in fault
        assert one == three


def test_the_third_restart_is_the_end(tmp_path: Path) -> None:
    with server(tmp_path) as arm:
        *_, third, fourth = answers(arm, "die", "die", "die", "a")
        assert fourth == f"given up after 2 restarts; the last fault: {third}"


READINGS = [
    ("structured", {"reply": "structured"}, {"results": "result.hits"}, ["src/a.c"]),
    ("structured", {}, {"results": "result.hits"}, ["src/a.c"]),
    ("blocks", {}, {"results": ""}, ["src/a.c", "src/net.c"]),
    ("blocks", {}, {"format": "jsonl", "results": ""}, ["src/a.c", "src/net.c"]),
    ("prose", {}, {}, ["src/a.c"]),
    ("noise", {}, {}, ["src/a.c"]),
    ("nested", {}, {"results": "content.0.text"}, ["src/a.c"]),
    ("none", {}, {"empty": "^No results"}, []),
    ("empty", {}, {}, []),
    ("lines", {}, {"format": "regex", "regex": r"^(?P<path>[^:]+):\d+:"}, ["src/a.c", "src/net.c"]),
]


@pytest.mark.parametrize(("query", "search", "parse", "expected"), READINGS)
def test_replies_are_read_by_the_same_rules(
    query: str, search: dict[str, Any], parse: dict[str, Any], expected: list[str], tmp_path: Path
) -> None:
    rules = {"format": "json", "results": "hits", "path": "p"} | parse
    with server(tmp_path, search=search, parse=rules) as arm:
        assert paths(ask(arm, query)) == expected


def test_what_cannot_be_read_says_why(tmp_path: Path) -> None:
    with server(tmp_path) as arm:
        none, structured = answers(arm, "none", "structured")
        assert none.endswith("'No results found.'")
        assert structured.endswith("'1 file'")
    with server(tmp_path, search={"reply": "structured"}) as arm:
        assert answers(arm, "lines") == [
            "the reply has no structured content; its text is "
            "'Matches:\\nsrc/a.c:2: int beta;\\nsrc/net.c:1: int beta;'"
        ]


def test_what_the_caller_gets_to_see_is_the_reply(tmp_path: Path) -> None:
    rules = {"format": "json", "results": "result.hits", "path": "p"}
    with server(tmp_path, parse=rules) as arm:
        ask(arm, "structured")
        assert arm.reply == "1 file"


def test_set_up_is_done_once_per_server_and_waited_for(make: Make, tmp_path: Path) -> None:
    log = tmp_path / "log"
    more = {"setup": [SET_ROOT], "ready": READY, "env": [f"SERVER_LOG={log}"]}
    with engine(home(tmp_path), **make(**more)) as arm:
        pid, _, root, _ = printed(arm, "a")
        assert root == arm.values["Root"]
        assert log.read_text().split() == [pid]
        shown = list(arm.about())
        assert shown[0].startswith("server: stand-in 1.0, protocol ")
        assert shown[2] == "tools: search, set_root, status"
        assert shown[3] == f'setup[0]: set_root {{"path": "{root}"}}'
        assert shown[4].endswith(f" s: root is {root}")
        assert shown[5] == "ready: status {}"
        answers(arm, "die", "b")
        assert len(set(log.read_text().split())) == 2


@pytest.mark.parametrize(
    ("more", "fault"),
    [
        pytest.param(
            {"ready": READY | {"timeout": "100ms"}, "env": ["NEVER=1"]},
            "not ready after 0.1 s: status says indexing",
            id="never ready",
        ),
        pytest.param(
            {"setup": [SET_ROOT, {"tool": "set_root", "arguments": {"path": "nowhere"}}]},
            "setup[1] (set_root): the tool 'set_root' replied with an error: no such folder",
            id="refused",
        ),
        pytest.param(
            {"setup": [SET_ROOT | {"match": "indexed [0-9]+"}]},
            "setup[0] (set_root): the reply does not match 'indexed [0-9]+': root is ",
            id="no match",
        ),
        pytest.param(
            {"search": {"tool": "serch"}},
            "the server has no tool 'serch'; did you mean 'search'? (its tools: search, set_root, status)",
            id="no such tool",
        ),
        pytest.param(
            {"server": {"command": ["sh", "-c", "echo no licence >&2; exit 3"]}},
            "server: it ended with exit status 3: no licence",
            id="ends at once",
        ),
        pytest.param(
            {"server": {"command": ["sleep", "300"], "timeout": "200ms"}},
            "server: timed out after 0.2 s",
            id="says nothing",
        ),
        pytest.param(
            {"server": {"command": ["no-such-server"]}},
            "cannot start 'no-such-server': it is not on PATH, or it is not executable",
            id="is not there",
        ),
    ],
)
def test_a_server_that_is_not_ready_is_a_fault_and_no_answer(
    more: dict[str, Any], fault: str, tmp_path: Path
) -> None:
    with pytest.raises(ArmError) as caught, server(tmp_path, **more):
        pass
    assert str(caught.value).startswith(fault)
    assert "\n" not in str(caught.value)


def test_a_server_that_never_gets_ready_is_not_waited_for_by_every_query(tmp_path: Path) -> None:
    more = keys(ready=READY | {"timeout": "20ms"}, env=["NEVER=1"])
    arm = EngineArm(description(**more), home(tmp_path))
    tree, said = snapshot(), []
    for _ in range(4):
        with pytest.raises(ArmError) as caught:
            arm.prepare(tree)
        said.append(str(caught.value))
    arm.close()
    assert said[:3] == ["not ready after 0.02 s: status says indexing"] * 3
    assert said[3] == f"given up after 2 restarts; the last fault: {said[0]}"


def test_a_server_that_listens_late_is_waited_for_and_one_that_never_does_is_not(tmp_path: Path) -> None:
    with engine(home(tmp_path), **web(env=["LATE=0.2"])) as arm:
        assert answers(arm, "a")[0].isdigit()
    silent = {"command": ["sleep", "300"], "timeout": "200ms"}
    with (
        pytest.raises(
            ArmError, match=r"^server: (nobody listens at 127\.0\.0\.1:\d+|timed out after 0\.2 s)"
        ),
        engine(home(tmp_path), **web(server=silent)),
    ):
        pass


def test_headers_come_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    more = web(server={"headers_from_env": {"Authorization": "MY_TOKEN"}}, env=["EXPECTED=Bearer abc"])
    monkeypatch.setenv("MY_TOKEN", "Bearer abc")
    with engine(home(tmp_path), **more) as arm:
        assert answers(arm, "a")[0].isdigit()
    monkeypatch.setenv("MY_TOKEN", "wrong")
    with pytest.raises(ArmError, match=r"^server: no session: .*401"), engine(home(tmp_path), **more):
        pass
    monkeypatch.delenv("MY_TOKEN")
    with (
        pytest.raises(ArmError, match=r"MY_TOKEN, which server\.headers_from_env names, is not set"),
        engine(home(tmp_path), **more),
    ):
        pass


def test_values_that_are_passed_on_are_not_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "open sesame")
    with server(tmp_path, env_pass=["SECRET_KEY"]) as arm:
        assert answers(arm, "secret") == ["the tool 'search' replied with an error: the key is $SECRET_KEY"]


def test_what_the_server_said_of_itself_is_part_of_the_key_of_its_state(tmp_path: Path) -> None:
    log = tmp_path / "log"
    state = {"setup": [SET_ROOT], "env": ["OWN={{.State}}", f"SERVER_LOG={log}"]}

    def states(session: str, version: str, monkey: pytest.MonkeyPatch) -> tuple[str, float | None]:
        monkey.setenv("SERVER_VERSION", version)
        with engine(home(tmp_path, session), **keys(**state)) as arm:
            assert arm.version.startswith(f"stand-in {version} ")
            assert arm.built is not None
            assert arm.index_seconds == arm.built.seconds
            return arm.values["State"], arm.index_seconds

    with pytest.MonkeyPatch.context() as monkey:
        first, seconds = states("one", "1.0", monkey)
        assert states("one", "1.0", monkey) == (first, seconds)  # told by whoever built
        other, _ = states("one", "1.1", monkey)
    assert other != first
    assert len(log.read_text().split()) == 3


def test_what_speaks_against_the_arguments_is_a_notice(tmp_path: Path) -> None:
    arm = EngineArm(description(**keys(search={"arguments": {"qurey": "{{.Query}}"}})), home(tmp_path))
    assert arm.notices == (
        "the tool 'search' has no argument 'qurey'; did you mean 'query'? (it takes: query, limit, where)",
        "the tool 'search' needs the argument 'query', which is not given",
    )


def test_what_the_server_started_is_gone_after_closing(make: Make, tmp_path: Path) -> None:
    with engine(home(tmp_path), **make()) as arm:
        (pid,) = answers(arm, "child")
        assert is_alive(int(pid))
    assert wait_until_gone(int(pid))


def test_without_the_sdk_there_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, document(**keys()))
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "mcp" else find(name))
    with pytest.raises(UsageError) as caught:
        engine_arm(str(path), home(tmp_path))
    line = 'the mode mcp needs the package "mcp", which is not installed; install pytest-retrieval[mcp]'
    assert str(caught.value) == f"engine:{path}: {line}"


KILLED = """
import os, sys
from pathlib import Path
from tests.arms.engine.support import home, engine
from tests.arms.engine.mcp_support import answers, keys, web
make = {"keys": keys, "web": web}[sys.argv[2]]
with engine(home(Path(sys.argv[1])), **make()) as arm:
    print(*answers(arm, "a"), flush=True)
    input()
"""


def test_a_process_that_is_killed_takes_its_server_along(make: Make, tmp_path: Path) -> None:
    root = Path(__file__).parents[3]
    argv = [sys.executable, "-c", KILLED, str(tmp_path), make.__name__]
    variables = {**os.environ, "PYTHONPATH": str(root)}
    with subprocess.Popen(argv, cwd=root, env=variables, stdin=-1, stdout=-1) as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        process.send_signal(signal.SIGKILL)
    assert wait_until_gone(pid)


def test_spans_and_texts_are_read(tmp_path: Path) -> None:
    rules = {"format": "regex", "regex": r"^(?P<path>[^:]+):(?P<start>\d+): (?P<text>.*)$"}
    with server(tmp_path, parse=rules, spans=True, tokens=True) as arm:
        answer = ask(arm, "lines")
        assert spans(answer) == [("src/a.c", 2, 2), ("src/net.c", 1, 1)]
        assert [hit.text for hit in answer.hits] == ["int beta;", "int beta;"]


def test_a_server_that_others_started_is_asked_and_left_alone(tmp_path: Path) -> None:
    from pytest_retrieval.arms.engine.mcp_connect import _free_port

    port = _free_port()
    with subprocess.Popen([*SERVER, "http", str(port)]) as process:
        url = {"command": None, "url": f"http://127.0.0.1:{port}/mcp"}
        try:
            for _ in range(100):
                try:
                    with engine(home(tmp_path), **keys(server=url)) as arm:
                        assert answers(arm, "a") == [str(process.pid)]
                    break
                except ArmError:  # it does not listen yet
                    continue
            assert process.poll() is None
        finally:
            process.kill()
