"""Small hand-made tasks, invocations and headers that the tests of the trial share."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from pytest_retrieval.report.build import Report
from pytest_retrieval.trial.document import build
from pytest_retrieval.trial.scoring import score_detail

NOT_OBSERVED = "NOT_OBSERVED"
SOURCE = "ab" * 32
GOLD = {"test-file": ["checks/quota_test.py"]}
CONTEXT = "score=6 checks/quota_test.py\nscore=3 lib/quota.py"


def claim(kind: str, value: str, confidence: str = "certain", evidence: str = "none") -> dict[str, str]:
    return {"kind": kind, "value": value, "confidence": confidence, "evidence": evidence}


def fenced(*claims: Mapping[str, Any]) -> str:
    """Claims in a fenced JSON block."""
    return f"```json\n{json.dumps({'claims': claims})}\n```"


RIGHT = claim("test-file", "checks/quota_test.py", evidence="checks/quota_test.py")
WRONG = claim("test-file", "checks/other_test.py")
GOOD = f"The test is this one.\n\n{fenced(RIGHT)}\n"


def run(reply: str = GOOD, **fields: Any) -> dict[str, Any]:
    """What was observed of one invocation."""
    return {
        "wall_ms": 5,
        "exit_code": 0,
        "tokens": NOT_OBSERVED,
        "tool_calls": NOT_OBSERVED,
        "reply": reply,
        "reply_truncated": False,
        **fields,
    }


def entry(context: str = "", *runs: Mapping[str, Any], **fields: Any) -> dict[str, Any]:
    """One arm of a task."""
    return {
        "prompt_sha256": "cd" * 32,
        "prompt_bytes": 100,
        "context": context,
        "context_bytes": len(context.encode()),
        "context_truncated": False,
        "runs": list(runs or [run()]),
        **fields,
    }


def task(row: int = 0, arms: Mapping[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    """A task's detail before it is scored; the arm is ``grep`` unless ``arms`` says otherwise."""
    return {
        "id": f"q{row}",
        "ordinal": 0,
        "source": SOURCE,
        "row": row,
        "kind": "retrieval",
        "repo": "acme/quota",
        "base_commit": "abc",
        "gold": GOLD,
        "arms": {"grep": entry(CONTEXT)} if arms is None else arms,
        **fields,
    }


def scored(reply: str, context: str = CONTEXT, **fields: Any) -> dict[str, Any]:
    """The only run of a task with this reply, scored; fields of the run are those named ``run_...``.

    Fields of the entry begin with ``context_``, all others are the task's.
    """
    of_run = {name.removeprefix("run_"): value for name, value in fields.items() if name.startswith("run_")}
    of_entry = {name: value for name, value in fields.items() if name.startswith("context_")}
    of_task = {name: value for name, value in fields.items() if name not in of_entry and name[:4] != "run_"}
    detail = task(arms={"grep": entry(context, run(reply, **of_run), **of_entry)}, **of_task)
    found: dict[str, Any] = score_detail(detail)["arms"]["grep"]["runs"][0]
    return found


def header(count: int = 1, **fields: Any) -> dict[str, Any]:
    return {
        "partition": "pilot",
        "source": "made up",
        "tasks_sha256": SOURCE,
        "tasks": count,
        "limit": 20,
        "access": "none",
        "agent": {"kind": "script", "command": "agent.sh", "sha256": "ef" * 32},
        "skeleton_sha256": "12" * 32,
        "prologues": {},
        "sources": [{"path": "tasks.json", "sha256": SOURCE, "rows": count, "kept": count}],
        "selection": {"of": count, "chosen": count, "lost": []},
        **fields,
    }


def built(details: Iterable[Mapping[str, Any]], **fields: Any) -> Report:
    """The report of some tasks."""
    found = list(details)
    return build(header(len(found), **fields), found)


def summary(details: Iterable[Mapping[str, Any]], label: str = "grep", **fields: Any) -> dict[str, Any]:
    """What a report says of all its tasks and one arm."""
    groups: dict[str, Any] = built(details, **fields).head["arms"][label]["groups"]
    found: dict[str, Any] = groups["all"]
    return found
