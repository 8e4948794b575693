"""Outcomes become one canonical report, and the report becomes text for people."""

from __future__ import annotations

from typing import Any


def schema() -> dict[str, Any]:
    """The JSON Schema (Draft 2020-12) of a report of profile ``pytest-retrieval/1``."""
    import json
    from importlib.resources import files

    text = files(__package__).joinpath("schema.json").read_text(encoding="utf-8")
    return dict(json.loads(text))
