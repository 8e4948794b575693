"""Rate limits: a failed invocation is tried again after waits that double, and a reply never is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pytest_retrieval.agents.agent import load_agent
from pytest_retrieval.agents.observe import invoke
from tests.agents.support import PLAIN, executable

COUNTING = 'echo x >> tries; tries=$(wc -l < tries); limit() { echo "Error 429: slow down" >&2; exit 1; }\n'


def asked(
    tmp_path: Path, text: str, plain: Mapping[str, Any] | None = None, **retry: Any
) -> tuple[dict[str, Any], list[float], int]:
    """The record, the waits, and how often the agent was started."""
    executable(tmp_path / "fake", COUNTING + text)
    retry = {"pattern": r"\b429\b", "attempts": 4, "delay": "2s", "longest": "5s", **retry}
    command = [str(tmp_path / "fake"), "{{.Prompt}}"]
    value = {**PLAIN, **(plain or {}), "command": command, "retry": retry}
    (tmp_path / "mine.json").write_text(json.dumps(value))
    for name in ("run", "scratch"):
        (tmp_path / name).mkdir()
    waits: list[float] = []
    agent = load_agent("mine.json", tmp_path)
    folder = tmp_path / "run"
    record = invoke(agent, folder, "P", timeout=60, scratch=tmp_path / "scratch", sleep=waits.append)
    return record, waits, len((folder / "tries").read_text().splitlines())


def test_the_attempt_that_gets_through_is_the_record(tmp_path: Path) -> None:
    record, waits, tries = asked(tmp_path, '[ "$tries" -lt 3 ] && limit; echo fine')
    assert (record["reply"], record["exit_code"], record["attempts"]) == ("fine\n", 0, 3)
    assert (waits, tries) == ([2, 4], 3)
    assert "retried_tokens" not in record  # nobody told any


def test_the_last_attempt_is_the_record_where_none_gets_through(tmp_path: Path) -> None:
    record, waits, tries = asked(tmp_path, "limit")
    assert (record["exit_code"], record["attempts"]) == (1, 4)
    assert record["stderr"] == "Error 429: slow down"
    assert (waits, tries) == ([2, 4, 5], 4)


def test_the_tokens_of_failed_attempts_are_kept_apart(tmp_path: Path) -> None:
    """Two attempts of 3 tokens fail, one of them with 1 more in the cache; the third has 5."""
    events = {"message": {"where": {"t": "m"}, "text": "x"}, "usage": {"where": {"t": "u"}, "tokens": "u"}}
    text = (
        'use() { echo \'{"t":"u","u":\'$1\'}\'; }\n'
        "[ $tries = 1 ] && { use '{\"in\":3}'; limit; }\n"
        '[ $tries = 2 ] && { use \'{"in":3,"cached":1}\'; limit; }\n'
        'use \'{"in":5}\'; echo \'{"t":"m","x":"fine"}\''
    )
    record, _, tries = asked(tmp_path, text, plain={"reply": "events", "events": events})
    assert (tries, record["attempts"], record["reply"]) == (3, 3, "fine")
    assert record["tokens"] == {"in": 5}
    assert record["retried_tokens"] == {"in": 6, "cached": 1}


@pytest.mark.parametrize("text", ["echo 'Error 429'", "echo 'other fault' >&2; exit 1"])
def test_neither_a_reply_nor_another_failure_is_tried_again(tmp_path: Path, text: str) -> None:
    record, waits, tries = asked(tmp_path, text)
    assert (waits, tries, "attempts" in record) == ([], 1, False)


def test_a_timeout_is_not_tried_again(tmp_path: Path) -> None:
    executable(tmp_path / "fake", "echo 429 >&2; sleep 600")
    value = {**PLAIN, "command": [str(tmp_path / "fake"), "{{.Prompt}}"], "retry": {"pattern": "429"}}
    (tmp_path / "mine.json").write_text(json.dumps(value))
    record = invoke(
        load_agent("mine.json", tmp_path), tmp_path, "P", timeout=0.3, scratch=tmp_path, sleep=lambda _: None
    )
    assert record["error"] == "mine fake: deadline exceeded after 0.3s"
    assert "attempts" not in record
