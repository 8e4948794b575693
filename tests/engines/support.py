"""Descriptions made in a test, from as little as the test is about."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_retrieval.engines.description import Description
from pytest_retrieval.engines.loading import parse_description

SEARCH = {"command": ["tool", "{{.Query}}"]}
PARSE = {"format": "json", "path": "path"}


def document(**keys: Any) -> dict[str, Any]:
    """A description that loads, with ``keys`` in place of its own; None leaves a key out."""
    whole = {"name": "tool", "search": SEARCH, "parse": PARSE} | keys
    return {key: value for key, value in whole.items() if value is not None}


def description(folder: Path = Path("/here"), **keys: Any) -> Description:
    """The description of :func:`document`."""
    return parse_description(json.dumps(document(**keys)).encode(), "tool.json", folder)


def write(folder: Path, whole: Mapping[str, Any]) -> Path:
    """A description as a file."""
    path = folder / "tool.json"
    path.write_text(json.dumps(whole), encoding="utf-8")
    return path
