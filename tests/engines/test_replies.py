"""Replies of tools: what the caller sees, and which part is read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pytest_retrieval.engines.description import JSON, JSONL, REGEX, Parse
from pytest_retrieval.engines.output import OutputError
from pytest_retrieval.engines.replies import Reply, read_reply, reply_text

HITS = {"hits": [{"p": "a"}]}


def block(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def reply(*texts: str, **more: Any) -> dict[str, Any]:
    return {"content": [block(text) for text in texts], **more}


def test_the_caller_sees_the_texts_else_the_structured_content_else_all() -> None:
    resource = {"type": "resource", "resource": {"uri": "file:///a", "text": "two"}}
    assert reply_text({"content": [block("one"), resource, {"type": "image", "data": "x"}]}) == "one\ntwo"
    assert reply_text({"content": [], "structuredContent": HITS}) == '{"hits": [{"p": "a"}]}'
    link = {"type": "resource_link", "uri": "file:///a"}
    assert json.loads(reply_text({"content": [link]})) == [link]
    assert reply_text({"content": []}) == ""


@pytest.mark.parametrize(
    ("result", "part", "results", "document"),
    [
        pytest.param(reply(json.dumps(HITS)), "auto", "hits", HITS, id="text"),
        pytest.param(reply("1 file", structuredContent=HITS), "auto", "hits", HITS, id="structured"),
        pytest.param(
            reply(json.dumps(HITS), structuredContent={"result": "x"}), "auto", "hits", HITS, id="whichever"
        ),
        pytest.param(reply("{}", structuredContent=HITS), "text", "hits", {}, id="text alone"),
        pytest.param(reply('{"p": 1}', '{"p": 2}'), "auto", "", [{"p": 1}, {"p": 2}], id="blocks"),
        pytest.param(reply('{"p": 1}'), "auto", "", [{"p": 1}], id="one block"),
        pytest.param(reply("a", "b"), "content", "", [block("a"), block("b")], id="content"),
        pytest.param(reply('{"other": []}'), "auto", "hits", {"other": []}, id="nothing there"),
    ],
)
def test_json_is_looked_for_where_the_rules_have_results(
    result: dict[str, Any], part: str, results: str, document: Any
) -> None:
    found = read_reply(result, part, Parse(JSON, results=results, path="p"))
    assert json.loads(found.document) == document


def test_lines_are_those_of_all_texts() -> None:
    result = reply('{\n "p": "a"\n}', '{"p": "b"}', "done\nat last")
    lines = b'{"p": "a"}\n{"p": "b"}\ndone\nat last'
    assert read_reply(result, "auto", Parse(JSONL, path="p")).document == lines
    whole = "\n".join(one["text"] for one in result["content"]).encode()
    assert read_reply(result, "auto", Parse(REGEX)) == Reply(whole, whole)


def test_structured_content_that_is_not_there_is_a_fault() -> None:
    with pytest.raises(OutputError, match="the reply has no structured content; its text is 'x'"):
        read_reply(reply("x"), "structured", Parse(JSON, path="p"))
