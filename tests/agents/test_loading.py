"""Descriptions of agents: what they may say, and every fault with its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_retrieval.agents.agent import load_agent
from pytest_retrieval.agents.loading import (
    SHIPPED,
    find_description,
    load_description,
    parse_description,
    shipped_names,
)
from pytest_retrieval.engines.files import DescriptionError
from pytest_retrieval.errors import UsageError
from tests.agents.support import PLAIN, described, executable


def faults(value: Any) -> list[str]:
    with pytest.raises(DescriptionError) as caught:
        described(value)
    return list(caught.value.faults)


def test_three_descriptions_ship_and_have_nothing_unknown() -> None:
    assert shipped_names() == ["claude", "codex", "script"]
    for name in shipped_names():
        description = load_description(SHIPPED / f"{name}.json")
        assert (description.name, description.unknown) == (name, ())
        assert description.serves_tools


def test_the_description_of_the_readme_is_one() -> None:
    text = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    blocks = [block.partition("```")[0] for block in text.split("```json\n")[1:]]
    [block] = [block for block in blocks if "{{.McpConfig}}" in block]
    description = parse_description(block.encode(), "README.md", Path())
    assert (description.name, description.unknown) == ("mine", ())
    assert description.serves_tools
    assert description.needs == frozenset()


def test_an_unknown_key_warns_with_the_nearest_name() -> None:
    description = described(
        {**PLAIN, "repyl": "stdout", "events": {"tool_call": {"where": {"a": 1}, "x": 2}}}
    )
    assert description.unknown == (
        "repyl: unknown key; did you mean 'reply'?",
        "events.tool_call.x: unknown key",
    )


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"name": ""}, "name: missing"),
        ({"command": "codex exec"}, "command: must be a list of words"),
        ({"command": []}, "command: must be a list of words"),
        ({"command": [["sh"], "{{.Prompt}}"]}, "command[0]: names the program"),
        ({"command": ["sh", 7, "{{.Prompt}}"]}, "command[1]: must be a text"),
        ({"command": ["sh", ["-q"], "{{.Prompt}}"]}, "command[1]: a list of words has a field"),
        ({"command": ["sh", "{{.Promt}}"]}, "did you mean 'Prompt'?"),
        ({"command": ["sh", "{{.Query}}"]}, "unknown template field {{.Query}}"),
        ({"command": ["sh", "-c"]}, "nothing names {{.Prompt}}"),
        ({"version": ["sh", "{{.Root}}"]}, "version[1]: {{.Root}} is not known here"),
        ({"reply": "stout"}, "reply: 'stout' is unknown; did you mean 'stdout'?"),
        ({"reply": None}, "reply: missing"),
        ({"reply": "file"}, "reply: a file is the one at {{.Reply}}"),
        ({"reply": "events"}, "reply: events.message is missing"),
        ({"events": {"message": {"text": "a"}}}, "events.message.where: missing"),
        ({"events": {"message": {"where": {"a": 1}}}}, "events.message.text: missing"),
        ({"events": {"usage": [{"where": {"a": 1}}]}}, "events.usage[0].tokens: missing"),
        ({"events": {"usage": 5}}, "events.usage: must be an object"),
        (
            {"events": {"tool_call": {"where": {"a": 1}, "item": {"b": 2}}}},
            "events.tool_call.item: needs `each`",
        ),
        ({"retry": {}}, "retry.pattern: missing"),
        ({"retry": {"pattern": "("}}, "retry.pattern: does not compile"),
        ({"retry": {"pattern": "x", "attempts": 0}}, "retry.attempts: must be 1 to 100"),
        ({"retry": {"pattern": "x", "delay": "soon"}}, "retry.delay: 'soon' is no duration"),
        ({"env": ["KEY"]}, "env[0]: 'KEY' is not of the form KEY=value"),
        ({"env_pass": ["A=B"]}, "env_pass[0]: 'A=B' is no variable's name"),
    ],
)
def test_a_fault_names_its_place(change: dict[str, Any], fault: str) -> None:
    assert any(fault in line for line in faults({**PLAIN, **change}))


def test_all_faults_come_at_once() -> None:
    assert len(faults({"command": [], "repyl": "x"})) == 4  # name, command, reply, and the unknown key


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (b"#!/bin/sh\n", "line 1, column 1: no JSON: Expecting value; an executable is named script:PATH"),
        (b"\xff\xfe", "is not UTF-8 at byte 0; an executable is named script:PATH"),
        (b"[]", "is no JSON object"),
        (b" " * ((1 << 20) + 1), "has more than 1,048,576 bytes"),
    ],
)
def test_a_file_that_is_no_description(data: bytes, fault: str) -> None:
    with pytest.raises(DescriptionError) as caught:
        parse_description(data, "x.json", Path())
    assert fault in str(caught.value)
    assert str(caught.value).startswith("x.json: ")


def test_a_name_that_is_neither_a_file_nor_shipped(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"agent 'codx': .*did you mean 'codex'\?.*script:PATH"):
        find_description("codx", tmp_path)


def test_a_missing_program_or_model_is_told_before_the_run(tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_text(json.dumps({**PLAIN, "command": ["no-such-agent", "{{.Prompt}}"]}))
    with pytest.raises(UsageError, match="agent program 'no-such-agent': it is not on PATH"):
        load_agent("mine.json", tmp_path)
    with pytest.raises(UsageError, match=r"agent codex: .*no model was given: give --retrieval-model"):
        load_agent("codex", tmp_path)
    with pytest.raises(UsageError, match="agent script: which executable\\? Write script:PATH"):
        load_agent("script", tmp_path)
    with pytest.raises(UsageError, match="agent codex: takes no executable"):
        load_agent("codex", tmp_path, model="m", command="x.sh")
    (tmp_path / "plain.sh").write_text("#!/bin/sh\n")
    with pytest.raises(UsageError, match=r"'plain\.sh' is not executable; chmod"):
        load_agent("script:plain.sh", tmp_path)
    with pytest.raises(UsageError, match=r"'gone/plain\.sh': no such file"):
        load_agent("script:gone/plain.sh", tmp_path)


def test_an_effort_that_no_word_goes_without_is_needed(tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_text(
        json.dumps({**PLAIN, "command": ["sh", "{{.Effort}}", "{{.Prompt}}"]})
    )
    with pytest.raises(UsageError, match="no effort was given: give --retrieval-effort"):
        load_agent("mine.json", tmp_path)


def test_a_script_may_be_named_apart(tmp_path: Path) -> None:
    """``--agent script --agent-command PATH`` of the original."""
    executable(tmp_path / "fake.sh", "echo")
    assert load_agent("script", tmp_path, command="fake.sh").program == tmp_path / "fake.sh"


KEYS = st.sampled_from(
    ["name", "command", "stdin", "reply", "events", "version", "retry", "env", "env_pass", "message", "where"]
)
WORDS = st.sampled_from(["sh", "{{.Prompt}}", "{{.Effort}}", "{{.X}}", "{{", "stdout", "events", "file", ""])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(KEYS, VALUES) | VALUES)
def test_whatever_a_file_holds_is_a_description_or_has_faults(value: Any) -> None:
    try:
        description = described(value)
    except DescriptionError as error:
        assert error.faults
    else:
        assert description.name
        assert description.command[0].words
