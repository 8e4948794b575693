"""Engines made in a test: a snapshot, a home, and arms that are closed afterwards."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pytest_retrieval.arms.engine.arm import EngineArm
from pytest_retrieval.arms.engine.home import EngineHome
from pytest_retrieval.model import Answer, Query
from pytest_retrieval.snapshots.base import Snapshot
from tests.arms.support import snapshot_of
from tests.engines.support import description

FILES = {
    "src/a.c": b"int alpha;\nint beta;\n",
    "src/net.c": b"int beta;\n",
    "tests/t.c": b"alpha beta\n",
    "README.md": b"gamma\n",
    ".gitignore": b"ignored\n",
}
LINES = {"format": "jsonl", "path": "p", "start": "a", "end": "b"}
GREP = {"format": "regex", "regex": r"^(?P<path>[^:]+):(?P<start>\d+):(?P<text>.*)$"}
JSON = {"format": "json", "results": "hits", "path": "p"}


def snapshot(files: dict[str, bytes] | None = None) -> Snapshot:
    return snapshot_of(FILES if files is None else files)


def shell(script: str, **keys: Any) -> dict[str, Any]:
    """A command that a shell runs; its ``$1`` is the query."""
    return {"command": ["sh", "-c", script, "sh", "{{.Query}}"]} | keys


def python(code: str, *words: str, **keys: Any) -> dict[str, Any]:
    """A command in Python, unbuffered."""
    return {"command": [sys.executable, "-uISc", code, *words]} | keys


def home(folder: Path, session: str = "one", **keys: Any) -> EngineHome:
    return EngineHome(folder / "states", session, **keys)


@contextmanager
def engine(where: EngineHome, tree: Snapshot | None = None, **keys: Any) -> Iterator[EngineArm]:
    """A prepared arm of the description with ``keys``."""
    whole: dict[str, Any] = {"parse": LINES, "spans": True} | keys
    arm = EngineArm(description(**whole), where)
    try:
        arm.prepare(snapshot() if tree is None else tree)
        yield arm
    finally:
        arm.close()


def ask(arm: EngineArm, text: str = "beta", limit: int = 20, given: tuple[str, ...] = ()) -> Answer:
    answer = arm.rank(Query(text, {"text": text}, given=given, limit=limit))
    arm.inspect()
    return answer


def paths(answer: Answer) -> list[str]:
    return [hit.path for hit in answer.hits]


def spans(answer: Answer) -> list[tuple[str, int | None, int | None]]:
    return [(hit.path, hit.start, hit.end) for hit in answer.hits]


def printed(arm: EngineArm, text: str = "beta", limit: int = 20, given: tuple[str, ...] = ()) -> list[str]:
    """The paths as the tool printed them."""
    ask(arm, text, limit, given)
    assert arm.last is not None
    return [result.path for result in arm.last.reading.results]
