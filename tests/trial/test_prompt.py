"""The prompt: section 7 and case 57 of trial.md."""

from __future__ import annotations

import hashlib
import json

import pytest

from pytest_retrieval.trial.prompt import (
    ACCESS,
    NO_ACCESS,
    READ_ONLY,
    TOOLS,
    fill,
    prologue,
    skeleton,
    skeleton_sha256,
)
from pytest_retrieval.trial.sources import NoContext, TermOverlap
from tests.trial.quota import TEXT, Quota

FORM = (
    '{"claims":[{"kind":"test-file|source-file|answer","value":"...",'
    '"confidence":"certain|likely|unsure","evidence":"..."}]}'
)
PARTS = (
    "\nTASK\n",
    "\nCONTEXT (arm: ",
    "\nANSWER FORMAT\n",
    FORM,
    "- kind:",
    "- value:",
    "- confidence:",
    "- evidence:",
)


@pytest.mark.parametrize("access", ACCESS)
def test_the_required_parts_stand_in_their_order(access: str) -> None:
    text = skeleton(access)
    places = [text.index(part) for part in PARTS]
    assert places == sorted(places)
    assert all(text.count(part) == 1 for part in PARTS)
    json.loads(FORM)
    for word in ("`test-file`", "`source-file`", "`answer`", "`certain`", "`likely`", "`unsure`", "`none`"):
        assert word in text
    assert text.rstrip().endswith('{"claims":[]}')
    assert skeleton_sha256(access) == hashlib.sha256(text.encode()).hexdigest()


def test_the_modes_say_what_may_be_touched() -> None:
    assert "Do not modify anything" in skeleton(READ_ONLY)
    for access in (NO_ACCESS, TOOLS):
        opening = skeleton(access).split("\nTASK\n")[0]
        assert "directory is\nempty" in opening or "directory is empty" in opening
        assert "Do not run any command and do not open any file" in opening
    assert len({skeleton_sha256(access) for access in ACCESS}) == len(ACCESS)


def test_case_57_a_prompt_holds_the_text_once_and_an_empty_context_as_none(quota: Quota) -> None:
    prompt = quota.prepared(quota.contexts("none")).prompts["none"]
    assert prompt.count(TEXT) == 1
    assert "CONTEXT (arm: none)\n" in prompt
    assert "\n\n(none)\n\nANSWER FORMAT\n" in prompt


def test_case_57_arms_differ_from_the_context_line_to_the_end_of_the_body(quota: Quota) -> None:
    prompts = quota.prepared(quota.contexts("none,grep,bm25:all")).prompts
    parts = {
        (before, after.partition("\nANSWER FORMAT\n")[2])
        for before, _, after in (prompt.partition("CONTEXT (arm: ") for prompt in prompts.values())
    }
    assert len(parts) == 1
    assert len(set(prompts.values())) == 3


def test_the_digest_of_a_prompt_is_that_of_its_bytes(quota: Quota) -> None:
    prepared = quota.prepared(quota.contexts("none,grep"), quota.task(text="Où est parseQuota?"))
    for label, prompt in prepared.prompts.items():
        entry = prepared.detail["arms"][label]
        assert entry["prompt_sha256"] == hashlib.sha256(prompt.encode()).hexdigest()
        assert entry["prompt_bytes"] == len(prompt.encode())


def test_nothing_in_a_task_is_read_as_a_hole() -> None:
    prompt = fill(NO_ACCESS, text="{{ARM}} \\1", arm="x", prologue="{{TASK}}", context="{{CONTEXT}}")
    assert "\nTASK\n{{ARM}} \\1\n" in prompt
    assert "(arm: x)\n{{TASK}}\n\n{{CONTEXT}}\n" in prompt


def test_with_tools_the_prologue_speaks_of_searches_and_the_control_has_none() -> None:
    said = prologue(TOOLS, TermOverlap.prologue, has_tool=True)
    assert said.endswith(TermOverlap.prologue)
    assert "`search`" in said
    assert "`read`" in said
    assert "No retrieval tool is connected" in prologue(TOOLS, NoContext.prologue, has_tool=False)
    assert prologue(READ_ONLY, NoContext.prologue, has_tool=False) == NoContext.prologue
