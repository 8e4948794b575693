"""What a server's tool replied, and which part of that is read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pytest_retrieval.engines.description import JSON, JSONL, Parse
from pytest_retrieval.engines.documents import find_results, json_within
from pytest_retrieval.engines.output import OutputError
from pytest_retrieval.engines.servers import AUTO, CONTENT, STRUCTURED


@dataclass(frozen=True, slots=True)
class Reply:
    """What answered a query: ``raw`` as whoever asks the tool gets to see it, ``document`` what is read.

    ``diagnostics`` is what a program said on standard error beside it.
    """

    raw: bytes
    document: bytes
    diagnostics: bytes = b""


def reply_text(result: Mapping[str, Any]) -> str:
    """What a result of ``tools/call`` shows: its texts, else its structured content, else all of it."""
    texts = _texts(result)
    if texts:
        return "\n".join(texts)
    structured = result.get("structuredContent")
    return _dumped(structured if structured is not None else result["content"]) if _has(result) else ""


def read_reply(result: Mapping[str, Any], part: str, parse: Parse) -> Reply:
    """The reply ``result``, of which ``part`` is read by the rules ``parse``.

    The part ``auto`` is the text; in the format json it is whichever of the structured content, the text and
    the list of texts has a list of results where the rules look for one.

    Raises:
        OutputError: the part is not there.
    """
    raw = reply_text(result)
    return Reply(_encoded(raw), _encoded(_document(result, part, parse)))


def _document(result: Mapping[str, Any], part: str, parse: Parse) -> str:
    structured, texts = result.get("structuredContent"), _texts(result)
    if part == CONTENT:
        return _dumped(result.get("content", []))
    if part == STRUCTURED:
        if structured is None:
            shown = "\n".join(texts)
            raise OutputError(f"the reply has no structured content; its text is {shown!r:.120}")
        return _dumped(structured)
    if parse.format == JSON:
        return _json_document(texts, structured if part == AUTO else None, parse)
    if parse.format == JSONL:
        return "\n".join(_one_line(text) for text in texts)
    return "\n".join(texts)


def _json_document(texts: list[str], structured: Any, parse: Parse) -> str:
    """The first candidate with results; where there is none, the text, for it says most of why."""
    whole = "\n".join(texts)
    candidates = [] if structured is None else [structured]
    candidates += [json_within(whole), [json_within(text) for text in texts]]
    for candidate in candidates if texts or structured is not None else ():
        if not isinstance(candidate, str) and find_results(candidate, parse.results) is not None:
            return _dumped(candidate)
    shown = json_within(whole) if texts else structured
    return whole if shown is None or isinstance(shown, str) else _dumped(shown)


def _one_line(text: str) -> str:
    """A block that is one JSON object as one line; any other as it is."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return _dumped(found) if isinstance(found, dict) else text


def _texts(result: Mapping[str, Any]) -> list[str]:
    """The text blocks of a result, and the texts of the resources that it embeds."""
    found = []
    for block in result.get("content") or ():
        text = block.get("text")
        if text is None and isinstance(block.get("resource"), dict):
            text = block["resource"].get("text")
        if isinstance(text, str):
            found.append(text)
    return found


def _has(result: Mapping[str, Any]) -> bool:
    return bool(result.get("content")) or result.get("structuredContent") is not None


def _dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "replace")
