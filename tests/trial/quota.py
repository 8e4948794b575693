"""The fixture Q of trial.md, its task q1, and the pieces of a run over them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_retrieval.agents.agent import load_agent
from pytest_retrieval.trial.contexts import Contexts, make_contexts
from pytest_retrieval.trial.manifest import Task, parse_manifest
from pytest_retrieval.trial.prepare import Prepared, prepare
from pytest_retrieval.trial.run_task import run_task
from pytest_retrieval.trial.workspace import Workspaces
from tests.agents.support import executable

SOURCE = "ab" * 32
TEXT = "Which test file covers blank input to parseQuota?"
FILES = {
    "lib/quota.py": "def parse_quota(text):\n    return int(text)\n",
    "lib/render.py": "def render(page):\n    return page\n",
    "tests/test_quota.py": (
        "from lib.quota import parse_quota\n\n"
        "def test_parse_quota_blank():\n    assert parse_quota('0') == 0\n"
    ),
    "NOTES.md": "quota notes\n",
    "blob.dat": "quota\x00parse blank",
}


def write(root: Path, files: Mapping[str, str]) -> Path:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return root


class Quota:
    """The snapshot ``Q`` below ``folder``, an empty folder ``scratch``, and agents that are made there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.root = write(folder / "Q", FILES)
        self.scratch = folder / "scratch"
        self.scratch.mkdir()

    def task(self, **members: Any) -> Task:
        """The task q1 with other members."""
        value = {
            "id": "q1",
            "kind": "retrieval",
            "repo": "acme/quota",
            "base_commit": "abc",
            "snapshot": "Q",
            "text": TEXT,
            "gold": {"test-file": ["tests/test_quota.py"]},
            **members,
        }
        manifest = {"partition": "pilot", "tasks": [value]}
        return parse_manifest(json.dumps(manifest).encode(), "tasks.json").tasks[0]

    def change(self, **members: Any) -> Task:
        """A change task about lib/quota.py."""
        return self.task(kind="change", changed_file="lib/quota.py", **members)

    def contexts(self, *texts: str, limit: int = 20, timeout: float = 60, **given: Any) -> Contexts:
        return make_contexts(texts, limit=limit, timeout=timeout, base=self.folder, **given)

    def workspaces(self, **given: Any) -> Workspaces:
        return Workspaces(self.scratch, base=self.folder, **given)

    def program(self, name: str, text: str, program: str = "/bin/sh") -> str:
        return str(executable(self.folder / name, text, program))

    def prepared(
        self, contexts: Contexts, task: Task | None = None, access: str = "none", **given: Any
    ) -> Prepared:
        """The task as it is prepared; nothing is left of what that took."""
        tasks = [(0, task or self.task())]
        [found] = prepare(tasks, contexts, self.workspaces(**given), access=access, source=SOURCE)
        assert list(self.scratch.iterdir()) == []
        return found

    def entry(self, label: str, task: Task | None = None, *texts: str, **given: Any) -> dict[str, Any]:
        """What the arm ``label`` was given for the task."""
        contexts = self.contexts(*(texts or (label,)), **given)
        found: dict[str, Any] = self.prepared(contexts, task).detail["arms"][label]
        return found

    def run(self, agent: str, *texts: str, access: str = "none", **given: Any) -> dict[str, Any]:
        """The detail of the task, run by the script ``agent``; nothing is left of what that took."""
        contexts = self.contexts(*texts)
        prepared = self.prepared(contexts, given.pop("task", None), access)
        detail = run_task(
            prepared,
            load_agent(f"script:{agent}", self.folder),
            access=access,
            timeout=60,
            scratch=self.scratch,
            workspaces=self.workspaces(),
            contexts=contexts,
            **given,
        )
        contexts.close()
        assert list(self.scratch.iterdir()) == []
        return detail


def runs(detail: Mapping[str, Any], label: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = detail["arms"][label]["runs"]
    return found
