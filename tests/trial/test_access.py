"""Where agents run and what they find there: case 65 of trial.md, and what its section 8 promises."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from pytest_retrieval.agents.agent import load_agent
from pytest_retrieval.agents.observe import unobserved
from pytest_retrieval.arms.base import Arm
from pytest_retrieval.errors import SnapshotError
from pytest_retrieval.model import Capabilities, Query
from pytest_retrieval.trial.prepare import prepare, restore
from pytest_retrieval.trial.run_task import run_task
from tests.processes import wait_until_gone
from tests.trial.quota import SOURCE, Quota, runs

HERE = "pwd; ls -A | wc -l"

LOOKING = """
import os, sys, tempfile
top = os.environ["LOOK_IN"]
for place, folders, files in os.walk(top):
    if place == os.path.join(top, "Q"):
        folders.clear()
        continue
    found = [name for name in folders if name == ".git"]
    for name in files:
        with open(os.path.join(place, name), "rb") as file:
            if b"def parse" b"_quota(" in file.read():
                found.append(name)
    for name in found:
        print("FOUND", os.path.join(place, name))
print("looked in", top, "with", os.listdir())
"""


class Reader(Arm):
    """Ranks what it finds in the work tree."""

    name = "reader"
    capabilities = Capabilities(worktree=True)

    def rank(self, query: Query) -> list[str]:
        root = self.snapshot.worktree()
        return sorted(path.relative_to(root).as_posix() for path in root.rglob("*.py"))


def test_case_65_an_agent_without_access_is_in_an_empty_folder_of_its_own(quota: Quota) -> None:
    detail = quota.run(quota.program("agent", HERE), "none,grep")
    places = []
    for label in ("none", "grep"):
        [record] = runs(detail, label)
        place, entries = record["reply"].split()
        assert entries == "0"
        assert not Path(place).exists()
        places.append(place)
    assert len(set(places)) == 2
    assert "tests/test_quota.py" in detail["arms"]["grep"]["context"]


@pytest.mark.parametrize("text", ["grep,bm25", "reader", "corvint", "engine"])
def test_no_copy_is_anywhere_while_an_agent_without_access_runs(
    quota: Quota, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    """The agent looks through the whole temporary folder, but for the source that the task names."""
    monkeypatch.setenv("LOOK_IN", str(quota.folder))
    stub = 'if [ "$1" = --version ]; then echo stub; exit; fi; cd "$2" && ls | tr "\\n" " "'
    given: dict[str, Any] = {"extra": {"reader": Reader}, "corvint": quota.program("stub", stub)}
    if text == "engine":
        text = _engine(quota, monkeypatch, given)
    contexts = quota.contexts(text, **given)
    prepared = quota.prepared(contexts)
    contexts_seen = [entry["context"] for entry in prepared.detail["arms"].values()]
    assert all("quota.py" in context or "NOTES.md" in context for context in contexts_seen)
    agent = load_agent(f"script:{quota.program('agent', LOOKING, sys.executable)}", quota.folder)
    detail = run_task(prepared, agent, access="none", timeout=60, scratch=quota.scratch)
    for label in contexts.labels:
        assert runs(detail, label)[0]["reply"] == f"looked in {quota.folder} with []\n"
    (quota.scratch / "copy.py").write_text("def parse_quota(text): ...")
    detail = run_task(prepared, agent, access="none", timeout=60, scratch=quota.scratch)
    assert "FOUND" in runs(detail, contexts.labels[0])[0]["reply"]  # the agent does see what is there


def _engine(quota: Quota, monkeypatch: pytest.MonkeyPatch, given: dict[str, Any]) -> str:
    """An engine that reads a tree of its own, whose place is in this user's temporary folder."""
    from pytest_retrieval.arms.engine.arm import engine_arm
    from pytest_retrieval.arms.engine.home import EngineHome

    monkeypatch.setattr("tempfile.tempdir", str(quota.scratch))
    home = EngineHome(quota.folder / "states", "session")
    given["prefixes"] = {"engine": lambda text: engine_arm(text, home, quota.folder)}
    return "engine:grep"


def test_with_read_only_access_an_agent_is_in_the_copy(quota: Quota) -> None:
    detail = quota.run(
        quota.program("agent", "ls; git log --format=%s; cat lib/quota.py"), access="read-only"
    )
    for label in ("none", "grep"):
        [record] = runs(detail, label)
        assert record["reply"].split("\n")[:4] == ["NOTES.md", "blob.dat", "lib", "tests"]
        assert "snapshot\ndef parse_quota" in record["reply"]
        assert "error" not in record


def test_what_an_agent_leaves_in_the_copy_is_its_error_and_reaches_no_other(quota: Quota) -> None:
    """Decision 14; the original let later arms and tasks see it (25-7)."""
    text = 'ls; case "$1" in *"arm: none"*) echo x > left.txt; rm NOTES.md; exit 3;; esac'
    detail = quota.run(quota.program("agent", text), "none,grep", access="read-only", repeats=2)
    for record in runs(detail, "none"):
        assert record["error"] == "work tree left dirty: D NOTES.md; ?? left.txt"
        assert record["exit_code"] == 3
    for record in runs(detail, "none") + runs(detail, "grep"):
        assert record["reply"].split() == ["NOTES.md", "blob.dat", "lib", "tests"]
    assert all("error" not in record for record in runs(detail, "grep"))


def test_every_context_comes_from_a_clean_copy_before_an_agent_starts(quota: Quota) -> None:
    """25-25: a repository that is missing for a late task is told before the first invocation."""
    tasks = [(0, quota.task()), (1, quota.task(id="q2", snapshot="gone"))]
    contexts = quota.contexts("none")
    found = prepare(tasks, contexts, quota.workspaces(), access="read-only", source=SOURCE)
    assert next(found).detail["id"] == "q1"
    with pytest.raises(SnapshotError, match="q2: snapshot 'gone'"):
        next(found)
    assert list(quota.scratch.iterdir()) == []


def test_the_row_of_a_task(quota: Quota) -> None:
    gold = {
        "test-file": [" ./tests/test_quota.py ", "gone.py"],
        "answer": ["lib/quota.py"],
        "source-file": [],
    }
    task = quota.change(gold=gold, cluster="c1")
    detail = quota.prepared(quota.contexts("none"), task).detail
    arms = detail.pop("arms")
    assert detail == {
        "id": "q1",
        "ordinal": 0,
        "source": SOURCE,
        "row": 0,
        "kind": "change",
        "repo": "acme/quota",
        "base_commit": "abc",
        "gold": gold,
        "cluster": "c1",
        "subject": "lib/quota.py",
        "gold_at_base": ["tests/test_quota.py"],
        "gold_checked": True,
    }
    assert arms["none"]["runs"] == []
    control = quota.prepared(quota.contexts("none"), quota.task(control="already-fixed", gold=None)).detail
    assert (control["gold"], control["control"], control["gold_at_base"]) == (None, "already-fixed", [])


def test_a_prepared_task_is_the_same_in_another_process(quota: Quota) -> None:
    contexts = quota.contexts("none,grep")
    prepared = quota.prepared(contexts)
    detail = json.loads(json.dumps(prepared.detail))
    assert restore(quota.task(), detail, quota.contexts("none,grep"), "none").prompts == prepared.prompts


def test_only_what_is_not_known_is_run_and_told_at_once(quota: Quota) -> None:
    agent = load_agent(f"script:{quota.program('agent', 'echo ran')}", quota.folder)
    told: list[tuple[str, int]] = []
    kept = {**unobserved(), "reply": "kept"}
    detail = run_task(
        quota.prepared(quota.contexts("none,grep")),
        agent,
        access="none",
        timeout=60,
        scratch=quota.scratch,
        repeats=2,
        known=lambda label, repeat: kept if (label, repeat) == ("grep", 0) else None,
        finished=lambda label, repeat, record: told.append((label, repeat)),
    )
    assert told == [("none", 0), ("none", 1), ("grep", 1)]
    assert [record["reply"] for record in runs(detail, "none")] == ["ran\n"] * 2
    assert [record["reply"] for record in runs(detail, "grep")] == ["kept", "ran\n"]


def test_where_all_is_known_no_repository_is_opened(quota: Quota) -> None:
    agent = load_agent(f"script:{quota.program('agent', 'echo ran')}", quota.folder)
    prepared = quota.prepared(quota.contexts("none"), access="read-only")
    detail = run_task(
        prepared, agent, access="read-only", timeout=60, scratch=quota.scratch, known=lambda *_: unobserved()
    )
    assert runs(detail, "none") == [unobserved()]


@pytest.mark.parametrize("access", ["none", "read-only"])
def test_an_interrupt_leaves_no_agent_and_no_copy(quota: Quota, access: str) -> None:
    mark = quota.folder / "pid"
    agent = quota.program("agent", f"trap '' TERM; echo $$ > {mark}; sleep 600; echo late")
    stop = threading.Event()

    def interrupt() -> None:
        while not stop.wait(0.02):
            if mark.is_file() and mark.read_text().strip():
                os.kill(os.getpid(), signal.SIGINT)
                return

    prepared = quota.prepared(quota.contexts("none"), access=access)
    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            run_task(
                prepared,
                load_agent(f"script:{agent}", quota.folder),
                access=access,
                timeout=60,
                scratch=quota.scratch,
                workspaces=quota.workspaces(),
            )
    finally:
        stop.set()
        thread.join()
    assert wait_until_gone(int(mark.read_text()))
    assert list(quota.scratch.iterdir()) == []
