"""Persistent engines: one process per arm, restarted after a fault; cases 54 and 55 of engine.md."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_retrieval.arms.engine.arm import EngineArm
from pytest_retrieval.errors import ArmError
from tests.arms.engine.support import JSON, ask, engine, home, paths, printed, python
from tests.processes import is_alive, wait_until_gone

SERVE = """
import json, os, sys, time
for line in sys.stdin:
    request = json.loads(line)
    query, id = request["query"], request["id"]
    if query == "die": sys.exit("gone")
    if query == "hang": time.sleep(300)
    if query == "garbage": print("Traceback"); continue
    if query == "wrong": id -= 1
    print(json.dumps({"id": id, "hits": [{"p": str(os.getpid())}, {"p": line}]}))
"""


def server(folder: Path, code: str = SERVE, **keys: Any) -> Any:
    search = python(code, timeout="2s") | keys.pop("search", {})
    return engine(home(folder), mode="persistent", search=search, parse=JSON, spans=False, **keys)


def answers(arm: EngineArm, *queries: str) -> list[str]:
    """Each query's process number, or its fault."""
    found = []
    for query in queries:
        try:
            found.append(paths(ask(arm, query))[0])
        except ArmError as error:
            found.append(str(error))
    return found


def test_all_queries_are_asked_of_one_process(tmp_path: Path) -> None:
    with server(tmp_path, candidates=5) as arm:
        one, two = answers(arm, "a", "b")
        assert one == two
        request = '{"id": 3, "query": "c\\nd", "k": 20, "n": 100, "per_file": 1}'
        assert printed(arm, "c\nd")[1] == request + "\n"
        assert is_alive(int(one))
    assert wait_until_gone(int(one))


def test_54_a_process_that_dies_is_started_anew(tmp_path: Path) -> None:
    with server(tmp_path) as arm:
        one, fault, three = answers(arm, "a", "die", "b")
        assert fault == "it ended with exit status 1: gone"
        assert one != three
        assert three.isdigit()


@pytest.mark.parametrize(
    ("query", "fault"),
    [
        pytest.param("wrong", "the reply has the id 0, the request had 1", id="55"),
        pytest.param(
            "garbage",
            "the reply is no JSON (Expecting value: line 1 column 1 (char 0)): b'Traceback'; a persistent "
            "tool prints replies alone, one line each",
            id="x",
        ),
        pytest.param("hang", "timed out after 2 s", id="hang"),
    ],
)
def test_55_a_process_out_of_step_is_ended(tmp_path: Path, query: str, fault: str) -> None:
    with server(tmp_path) as arm:
        first, second = answers(arm, query, "a")
        assert first == fault
        assert second.isdigit()


def test_the_third_restart_is_the_end(tmp_path: Path) -> None:
    with server(tmp_path) as arm:
        *_, third, fourth, fifth = answers(arm, "die", "die", "die", "a", "b")
        assert third == "it ended with exit status 1: gone"
        assert fourth == fifth == f"given up after 2 restarts; the last fault: {third}"


def test_a_template_of_standard_input_is_the_request(tmp_path: Path) -> None:
    code = "import json\nwhile True: print(json.dumps({'hits': [{'p': input()}]}))"
    for template, request in (("{{json .Query}} {{.PerFile}}", '"a\\nb" 1'), ("{{.Query}}\n", None)):
        with server(tmp_path, code, search={"stdin": template}) as arm:
            if request is None:
                with pytest.raises(ArmError, match=r"search\.stdin came out as several lines"):
                    ask(arm, "a\nb")
            else:
                assert printed(arm, "a\nb") == [request]


def test_depth_is_part_of_the_command(tmp_path: Path) -> None:
    code = "import json, sys\nwhile input(): print(json.dumps({'hits': [{'p': w} for w in sys.argv[1:]]}))"
    search = python(code, "{{.K}}", "{{.N}}")
    with server(tmp_path, search=search, candidates=3) as arm:
        assert paths(ask(arm)) == ["20", "60"]


def test_what_the_process_started_is_gone_after_closing(tmp_path: Path) -> None:
    code = "import os, subprocess\nchild = subprocess.Popen(['sleep', '300'], start_new_session=True)\n"
    code += 'print(input() and \'{"hits":[{"p":"%d"}]}\' % child.pid)\ninput()'
    with server(tmp_path, code) as arm:
        (pid,) = answers(arm, "a")
    assert wait_until_gone(int(pid))
