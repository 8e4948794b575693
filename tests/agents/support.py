"""Agents written for a test: executables of a few lines, and descriptions that name them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pytest_retrieval.agents.description import AgentDescription
from pytest_retrieval.agents.loading import parse_description

PLAIN: dict[str, Any] = {"name": "mine", "command": ["sh", "{{.Prompt}}"], "reply": "stdout"}


def executable(path: Path, text: str, program: str = "/bin/sh") -> Path:
    """A script at ``path`` that ``program`` runs."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!{program}\n{text}", encoding="utf-8")
    path.chmod(0o755)
    return path


def described(value: Any) -> AgentDescription:
    """The description that ``value`` is in JSON."""
    return parse_description(json.dumps(value).encode(), "mine.json", Path("/nowhere"))
