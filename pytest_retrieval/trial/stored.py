"""What a trial report holds raw, member by member, and a report as it is read from a file.

Two profiles share these shapes: this project's own, and the original tool's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_retrieval.model import NOT_OBSERVED
from pytest_retrieval.report.shapes import (
    LONGEST_ANSWER,
    Shape,
    anything,
    count,
    flag,
    list_of,
    map_of,
    matching,
    number,
    one_of,
    optional,
    record,
    text,
    whole,
)
from pytest_retrieval.trial.manifest import KINDS
from pytest_retrieval.trial.values import CLAIM_KINDS

READ_ONLY = "read-only"  # the access of reports from before there was another one

digest = matching(r"[0-9a-f]{64}", "a SHA-256 in lower-case hex")


def observed(inner: Shape) -> Shape:
    """``inner``, or the word that nobody observed it."""

    def shape(value: Any) -> None:
        if value != NOT_OBSERVED:
            inner(value)

    return shape


_status = whole(-(1 << 31), 1 << 32)
RUN_MEMBERS: Mapping[str, Shape] = {
    "wall_ms": observed(number),
    "exit_code": observed(_status),
    "tokens": observed(map_of(number)),
    "tool_calls": observed(count),
    "reply": text,
    "reply_truncated": flag,
}
RUN_FURTHER: Mapping[str, Shape] = {
    "commands": list_of(text),
    "stdout_truncated": flag,
    "error": text,
    "reused_from": text,
    "attempts": count,
    "retried_tokens": map_of(number),
    "stderr": text,
    "calls": list_of(record({})),
}
ENTRY_MEMBERS: Mapping[str, Shape] = {
    "prompt_sha256": digest,
    "prompt_bytes": count,
    "context": text,
    "context_bytes": count,
    "context_truncated": flag,
}
ENTRY_FURTHER: Mapping[str, Shape] = {"context_state": text, "context_error": text}
DETAIL_MEMBERS: Mapping[str, Shape] = {
    "id": text,
    "kind": one_of(*KINDS),
    "repo": text,
    "base_commit": text,
    "gold": optional(map_of(list_of(text), one_of(*CLAIM_KINDS))),
}
DETAIL_FURTHER: Mapping[str, Shape] = {
    "control": text,
    "history_commits": count,
    "subject": text,
    "gold_at_base": list_of(text),
    "gold_checked": flag,
}
HEAD_MEMBERS: Mapping[str, Shape] = {
    "partition": text,
    "source": text,
    "tasks_sha256": digest,
    "tasks": count,
    "limit": whole(1, LONGEST_ANSWER),
    "model": text,
    "agent": map_of(anything),
    "corvint": observed(map_of(text)),
    "aider": observed(map_of(text)),
    "skeleton_sha256": digest,
    "prologues": map_of(record({"sha256": digest, "text": text})),
}


@dataclass(frozen=True, slots=True)
class StoredTrial:
    """A trial report from a file: ``header`` and ``details`` are what ``document.build`` takes.

    ``head`` is what the file says beside its details, ``sha256`` the digest of its bytes. ``details`` gives
    them on each call, one by one, each checked as it comes.
    """

    path: Path
    sha256: str
    head: Mapping[str, Any]
    header: Mapping[str, Any]
    details: Callable[[], Iterator[dict[str, Any]]]
