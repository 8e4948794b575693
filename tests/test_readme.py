"""The README: its links lead somewhere, it names every option, and what it shows is what comes out."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from pytest_retrieval.plugin.option_table import OPTIONS

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```\n", re.MULTILINE | re.DOTALL)


def section(title: str) -> str:
    """The text under a heading of the second level."""
    return TEXT.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def test_links_within_lead_to_headings() -> None:
    prose = BLOCK.sub("", TEXT)
    headings = re.findall(r"^#+ (.*)$", prose, re.MULTILINE)
    anchors = {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in headings}
    assert len(anchors) == len(headings)
    links = re.findall(r"\]\(#([^)]*)\)", prose)
    assert len(links) > 10
    assert set(links) <= anchors


@pytest.mark.parametrize("title", ["Run it", "Test it"])
def test_one_line_is_enough_to_begin(title: str) -> None:
    language, command = BLOCK.findall(section(title))[0]
    assert section(title).startswith(f"\n```sh\n{command}```\n")
    assert (language, command.count("\n")) == ("sh", 1)


def test_every_option_is_in_the_table() -> None:
    names = set(re.findall(r"--[a-z-]+", section("Options")))
    for option in OPTIONS:
        assert f"--{option.name}" in names if option.short else f"--retrieval-{option.name}" in names, option


@pytest.mark.skipif(version("numpy") != "2.4.6", reason="the README shows the figures of numpy 2.4.6")
def test_the_first_output_is_what_comes_out(tmp_path: Path) -> None:
    shown = BLOCK.findall(section("Run it"))[1][1]
    words = ["suites/code2test", "--arms=grep,bm25", f"--report={tmp_path / 'report.json'}"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *words],
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "80", "PYTEST_ADDOPTS": ""},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    table = done.stdout.partition("= retrieval =")[2].partition("\n")[2].partition("\nreport: ")[0]
    assert untimed(table) == untimed(shown.partition("\nreport: ")[0])


def untimed(text: str) -> list[list[str]]:
    """The words of each line, without the times of queries, which are those of a machine."""
    return [[word for word in line.split() if not word.endswith("ms")] for line in text.splitlines()]
