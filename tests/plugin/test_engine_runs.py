"""Engines in whole runs: labels, notices, faults on their rows, and indexes shared by workers and kept."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.plugin.support import CORE, ECHO, FFT, HULL, LEAK, SAIL, SVD, Bench
from tests.processes import wait_until_gone

pytest_plugins = ["pytester"]

TIMES = {"wall_ms", "build_ms", "cache_state"}

#: Does what a word of its query says; else names every file of its index.
TOOL = """
import json, os, subprocess, sys, time
state, query = sys.argv[1:]
if "SVD" in query: time.sleep(300)
if "rfft" in query: sys.exit(print("Traceback"))
if "Echo" in query: sys.exit("no index")
if "float" in query:
    note = os.path.join(state, "child")
    child = subprocess.Popen(["sleep", "300"], start_new_session=True, stdout=2)
    open(note, "w").write(str(child.pid))
if "panic" in query: print(json.dumps({"p": "/etc/passwd"}))
if "Anchors" in query: sys.exit(0)
for line in open(os.path.join(state, "files")): print(json.dumps({"p": line.rstrip()}))
"""
INDEX = 'echo >> "$2/../builds"; cd "$1" && find . -name .git -prune -o -type f -print | sort > "$2/files"'

FAULTS = {
    SVD: "timed out after 2 s",
    FFT: "nothing parsed of 1 lines of output; the first is 'Traceback': is no JSON object",
    ECHO: "ended with exit status 1: no index",
    HULL: "ended and left 1 of its processes running; they were ended",
    LEAK: "1 of 5 results lie outside the corpus, the first is '/etc/passwd'",
}


@pytest.fixture
def tool(bench: Bench) -> Bench:
    """A bench with the description ``tool.json``."""
    described = {
        "name": "my tool",
        "index": {"command": ["sh", "-c", INDEX, "sh", "{{.Root}}", "{{.State}}"]},
        "search": {
            "command": [sys.executable, "-IS", "{{.Here}}/tool.py", "{{.State}}", "{{.Query}}"],
            "timeout": "2s",
        },
        "parse": {"format": "jsonl", "path": "p"},
        "spanns": True,
    }
    bench.write("tool.json", json.dumps(described))
    bench.write("tool.py", TOOL)
    return bench


def states(bench: Bench) -> list[Path]:
    return sorted((bench.path / "kept" / "engines").iterdir())


def answers(bench: Bench, arm: str) -> dict[str, Any]:
    """What the arm answered to each sample, without times."""
    found = {name: dict(detail["arms"][arm]) for name, detail in bench.judged().items()}
    return {name: {k: v for k, v in row.items() if k not in TIMES} for name, row in found.items()}


RUN = ("--release=release", "--arms=alphabet,engine:tool.json", "--retrieval-store=kept")


@pytest.mark.parametrize("workers", [(), ("-n0",), ("-n2",)], ids=["plain", "n0", "n2"])
def test_each_fault_is_on_its_row_and_the_rest_is_intact(tool: Bench, workers: tuple[str, ...]) -> None:
    done = tool.run(*RUN, *workers)
    assert done.ret == pytest.ExitCode.TESTS_FAILED
    done.assert_outcomes(failed=5, passed=2)
    done.stdout.fnmatch_lines(["*arm my-tool: spanns: unknown key; did you mean 'spans'[?]"])
    rows = answers(tool, "my-tool")
    assert {name: row["error"] for name, row in rows.items() if "error" in row} == FAULTS
    assert (rows[SAIL]["ranked"], rows[SAIL]["abstained"]) == ([], True)
    assert rows[CORE]["ranked"] == answers(tool, "alphabet")[CORE]["ranked"]
    builds = [len((state / "builds").read_text().splitlines()) for state in states(tool)]
    assert builds == [1, 1, 1]  # one per snapshot
    (note,) = (tool.path / "kept" / "engines").glob("*/state/child")
    assert wait_until_gone(int(note.read_text()))


def test_a_state_is_warm_in_the_next_run_until_reindex(tool: Bench) -> None:
    chosen = ("-k", "colours", *RUN)
    labels = []
    for more in ((), (), ("--reindex",)):
        assert tool.run(*chosen, *more).ret == 0
        (detail,) = tool.judged().values()
        labels.append(detail["arms"]["my-tool"]["cache_state"])
    assert labels == ["COLD", "WARM", "COLD"]


def test_without_a_store_the_state_goes_with_the_run(tool: Bench) -> None:
    chosen = ("-k", "colours", "--release=release", "--arms=engine:tool.json", "--retrieval-store=none")
    for _ in range(2):
        assert tool.run(*chosen).ret == 0
        (detail,) = tool.judged().values()
        assert detail["arms"]["my-tool"]["cache_state"] == "COLD"


def test_a_description_with_faults_is_one_usage_error(tool: Bench) -> None:
    tool.write(
        "broken.json", '{"name": "x", "search": {"command": ["{{.Qery}}"]}, "parse": {"format": "json"}}'
    )
    done = tool.run("--release=release", "--arms=engine:broken.json")
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    assert "search.command[0]: unknown template field {{.Qery}}; did you mean 'Query'?" in done.stderr.str()
    assert "broken.json: parse.path: missing" in done.stderr.str()
    done = tool.run("--release=release", "--arms=engine:no.json")
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    assert "engine:no.json: there is no file 'no.json'" in done.stderr.str()


def test_a_file_of_the_ini_is_relative_to_the_ini(tool: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    tool.write("pytest.ini", "[pytest]\nretrieval_arms = engine:tool.json\n")
    monkeypatch.chdir(tool.pytester.mkdir("below"))
    chosen = ("..", "-k", "colours", "--release=../release", "--retrieval-store=../kept")
    assert tool.run(*chosen).ret == 0
    (detail,) = tool.judged().values()
    assert list(detail["arms"]) == ["my-tool"]
