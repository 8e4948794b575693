"""One invocation as a run record: what was observed, NOT_OBSERVED where nothing was, never a zero for it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from pytest_retrieval.agents.agent import Agent, AgentError, ToolServer
from pytest_retrieval.agents.events import NOT_OBSERVED
from pytest_retrieval.agents.observation import REPLY_BYTES, Observation
from pytest_retrieval.text.cutting import truncate


def invoke(
    agent: Agent,
    directory: Path,
    prompt: str,
    *,
    timeout: float,
    scratch: Path,
    server: ToolServer | None = None,
    sleep: Callable[[float], None] = time.sleep,
) -> dict[str, Any]:
    """Ask ``agent`` in ``directory``, again after a wait where it names a rate limit; the last one counts.

    ``attempts`` is recorded where there were several, and in ``retried_tokens`` what was seen of the tokens
    of all but the last. Whatever becomes of it, the record says it.
    """
    waits = _waits(agent)
    attempts, retried = 0, Counter[str]()
    while True:
        attempts += 1
        started = time.perf_counter()
        try:
            seen = agent.run(directory, prompt, timeout, scratch, server)
        except AgentError as error:
            record = {**unobserved(), "wall_ms": _milliseconds(started), "error": str(error)}
            break
        record = observed(seen, _milliseconds(started))
        wait = next(waits, None) if seen.limited else None
        if wait is None:
            break
        retried.update(seen.tokens or {})
        sleep(wait)
    told = {"retried_tokens": dict(retried)} if retried else {}
    return record if attempts == 1 else {**record, "attempts": attempts, **told}


def unobserved() -> dict[str, Any]:
    """The record of an invocation of which nothing is known."""
    return {
        "wall_ms": NOT_OBSERVED,
        "exit_code": NOT_OBSERVED,
        "tokens": NOT_OBSERVED,
        "tool_calls": NOT_OBSERVED,
        "reply": "",
        "reply_truncated": False,
    }


def observed(seen: Observation, wall_ms: int) -> dict[str, Any]:
    """The record of ``seen``, which took ``wall_ms`` milliseconds."""
    reply, cut = truncate(seen.reply, REPLY_BYTES)
    record: dict[str, Any] = {
        "wall_ms": wall_ms,
        "exit_code": seen.exit_code,
        "tokens": NOT_OBSERVED if seen.tokens is None else seen.tokens,
        "tool_calls": NOT_OBSERVED if seen.tool_calls is None else seen.tool_calls,
        "reply": reply,
        "reply_truncated": cut or seen.reply_truncated,
    }
    if seen.commands:
        record["commands"] = list(seen.commands)
    if seen.stdout_truncated:
        record["stdout_truncated"] = True
    if seen.exit_code != 0 and seen.said:
        record["stderr"] = seen.said
    return record


def _waits(agent: Agent) -> Iterator[float]:
    retry = agent.description.retry
    return iter(()) if retry is None else retry.waits()


def _milliseconds(started: float) -> int:
    return int((time.perf_counter() - started) * 1_000)
