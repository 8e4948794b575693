"""The fixture Q of the trial's specification, agents in a few lines of shell, and sessions that run them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from pytest_retrieval.report.canonical import encode
from pytest_retrieval.report.identity import strip_times
from tests.plugin.support import ROOT, Bench
from tests.trial.quota import FILES

Q1: dict[str, Any] = {
    "id": "q1",
    "kind": "retrieval",
    "repo": "acme/quota",
    "base_commit": "abc",
    "snapshot": "Q",
    "text": "Which test file covers blank input to parseQuota?",
    "gold": {"test-file": ["tests/test_quota.py"]},
}
CLAIM = (
    '{"claims":[{"kind":"test-file","value":"tests/test_quota.py","confidence":"certain",'
    '"evidence":"tests/test_quota.py"}]}'
)
GOOD = f"printf 'Found it.\\n\\n```json\\n%s\\n```\\n' '{CLAIM}'"
EMPTY = "printf '```json\\n{\"claims\":[]}\\n```\\n'"
SUITE = (ROOT / "suites" / "trial" / "test_trial.py").read_text(encoding="utf-8")


class Trial:
    """A folder with Q, a task set and the suite, in which pytest is run."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.path = bench.path
        for name, text in FILES.items():
            bench.write(f"Q/{name}", text)
        bench.write("test_suite.py", SUITE)
        bench.write("pytest.ini", "[pytest]\nnorecursedirs = Q\n")
        (self.path / "conftest.py").unlink()
        self.write_tasks([Q1])
        self.agent(GOOD)

    def write_tasks(self, tasks: Iterable[dict[str, Any]], partition: str = "pilot") -> Path:
        return self.bench.write("tasks.json", json.dumps({"partition": partition, "tasks": list(tasks)}))

    def agent(self, script: str, name: str = "agent.sh") -> Path:
        """Write an agent of these lines of shell."""
        path = self.bench.write(name, f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        return path

    def run(self, *arguments: str | Path, agent: str = "script:agent.sh") -> pytest.RunResult:
        """Ask ``agent`` the tasks."""
        words = ["--tasks=tasks.json", "--report=out.json", "--retrieval-overwrite", "-p", "no:cacheprovider"]
        return self.bench.run(*words, *([f"--agent={agent}"] if agent else []), *arguments)

    def report(self, name: str = "out.json") -> dict[str, Any]:
        """A report that the schema has accepted."""
        return self.bench.report(name)

    def runs(self, task: str = "q1", name: str = "out.json") -> dict[str, dict[str, Any]]:
        """The first run of each arm of a task."""
        [detail] = [detail for detail in self.report(name)["details"] if detail["id"] == task]
        return {label: entry["runs"][0] for label, entry in detail["arms"].items()}

    def same(self, name: str = "out.json") -> bytes:
        """What every run of the trial has in common."""
        return encode(strip_times(self.report(name)))


def tasks(count: int) -> list[dict[str, Any]]:
    """Questions that differ in their number."""
    numbers = range(1, count + 1)
    return [{**Q1, "id": f"q{number}", "text": f"{Q1['text']} ({number})"} for number in numbers]
