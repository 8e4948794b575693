"""Events: cases 73 and 74 of trial.md over the shipped rules, and Claude Code's stream."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_retrieval.agents.description import Events
from pytest_retrieval.agents.events import Observed, read_stream
from pytest_retrieval.agents.loading import SHIPPED, load_description


def rules(name: str) -> Events:
    events = load_description(SHIPPED / f"{name}.json").events
    assert events is not None
    return events


CODEX, CLAUDE = rules("codex"), rules("claude")


def item(kind: str, event: str = "item.completed", **members: Any) -> dict[str, Any]:
    return {"type": event, "item": {"type": kind, **members}}


def usage(value: Any) -> dict[str, Any]:
    return {"type": "turn.completed", "usage": value}


def stream(*events: Any) -> bytes:
    return "".join(f"{json.dumps(event)}\n" for event in events).encode()


def test_case_73_messages_calls_commands_and_tokens() -> None:
    seen = read_stream(
        stream(
            item("agent_message", text="first"),
            item("command_execution", command="ls"),
            item("command_execution", "item.started", command="cat a"),
            item("web_search"),
            item("agent_message", text="second"),
            usage({"input_tokens": 900, "output_tokens": 12}),
        ),
        CODEX,
    )
    assert seen == Observed("second", {"input_tokens": 900, "output_tokens": 12}, 2, ("ls",))


def test_case_73_garbage_tells_no_tokens_and_no_call() -> None:
    assert read_stream(b"garbage\n", CODEX) == Observed(None, None, 0, ())


@pytest.mark.parametrize(
    "bad",
    [
        *({"a": -1}, {"a": "5"}, {"a": {"b": 1}}, {"a": 1, "b": None}, {"a": True}),
        *({"a": float("inf")}, {"a": float("nan")}, {"a": 10**400}),  # the last one has no float
    ],
)
def test_case_73_usage_with_anything_but_counts_is_not_observed(bad: Any) -> None:
    assert read_stream(stream(usage(bad)), CODEX).tokens is None
    assert read_stream(stream(usage({"a": 1}), usage(bad)), CODEX).tokens is None


def test_case_73_the_last_usage_wins_and_an_empty_one_is_none() -> None:
    assert read_stream(stream(usage({"a": 1}), usage({"a": 2, "b": 0.5})), CODEX).tokens == {"a": 2, "b": 0.5}
    assert read_stream(stream(usage({"a": 1}), usage({}), usage("x")), CODEX).tokens == {"a": 1}
    assert read_stream(stream(usage({"a": 2**53})), CODEX).tokens == {"a": 9007199254740992}


def test_case_74_sixty_commands_are_counted_and_fifty_kept() -> None:
    events = [item("command_execution", command=f"run {number}") for number in range(60)]
    seen = read_stream(stream(*events), CODEX)
    assert seen.tool_calls == 60
    assert seen.commands == tuple(f"run {number}" for number in range(50))


def test_case_74_a_long_command_is_cut_with_a_mark() -> None:
    seen = read_stream(stream(item("command_execution", command="x" * 300)), CODEX)
    assert seen.commands == ("x" * 200 + "\n[TRUNCATED]",)


def test_a_long_command_is_cut_between_characters() -> None:
    """The repaired rule of 25-12: 199 bytes and a character of two are no 200 bytes."""
    seen = read_stream(stream(item("command_execution", command="x" * 199 + "é" * 9)), CODEX)
    assert seen.commands == ("x" * 199 + "\n[TRUNCATED]",)


def test_claude_code_tells_calls_inside_of_messages() -> None:
    content = [
        {"type": "text", "text": "Let me look."},
        {"type": "tool_use", "name": "Bash", "input": {"command": "git log"}},
        {"type": "tool_use", "name": "Read", "input": {"file_path": "/a"}},
    ]
    spent = {"input_tokens": 4, "cache_read_input_tokens": 90, "output_tokens": 7, "service_tier": "standard"}
    seen = read_stream(
        stream(
            {"type": "system", "subtype": "init"},
            {"type": "assistant", "message": {"content": content, "usage": {"input_tokens": 1}}},
            {"type": "user", "message": {"content": [{"type": "tool_result"}]}},
            {"type": "assistant", "message": {"content": [{"type": "text", "text": "almost"}]}},
            {"type": "result", "subtype": "success", "result": "the reply", "usage": spent},
        ),
        CLAUDE,
    )
    assert seen.message == "the reply"
    assert (seen.tool_calls, seen.commands) == (2, ("git log",))
    assert seen.tokens == {"input_tokens": 4, "cache_read_input_tokens": 90, "output_tokens": 7}


def test_without_a_result_claude_codes_last_text_is_the_message() -> None:
    content = [{"type": "text", "text": "so far"}]
    assert (
        read_stream(stream({"type": "assistant", "message": {"content": content}}), CLAUDE).message
        == "so far"
    )


@pytest.mark.parametrize(
    ("events", "text"),
    [
        (CODEX, {"type": "error", "message": "why"}),
        (CODEX, {"type": "turn.failed", "error": {"message": "why"}}),
        (CLAUDE, {"type": "result", "is_error": True, "result": "why"}),
    ],
)
def test_an_error_that_is_told_is_kept(events: Events, text: Any) -> None:
    assert read_stream(stream(text), events).error == "why"
    assert read_stream(stream({"type": "result", "is_error": False, "result": "fine"}), events).error is None


def test_rules_that_are_absent_observe_nothing() -> None:
    assert read_stream(stream(usage({"a": 1})), Events()) == Observed()


KEYS = st.sampled_from(["type", "item", "usage", "text"])
values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner),
    max_leaves=8,
)


@given(st.lists(values | st.binary(max_size=20), max_size=6))
def test_whatever_an_agent_prints_is_read(lines: list[Any]) -> None:
    data = b"\n".join(line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines)
    for events in (CODEX, CLAUDE):
        seen = read_stream(data, events)
        assert seen.tool_calls is not None
        assert all(number >= 0 for number in (seen.tokens or {}).values())
