"""The text at the lines a tool names, read out of the corpus."""

from __future__ import annotations


def corpus_lines(data: bytes) -> list[str]:
    """The lines of a file, without their ends; only LF ends one."""
    lines = data.decode("utf-8", "replace").split("\n")
    return lines[:-1] if lines[-1] == "" else lines
