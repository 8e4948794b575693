"""Real runs in parts: their summary is the summary of the whole run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pytest_retrieval.cli import main
from pytest_retrieval.report.canonical import encode
from pytest_retrieval.report.identity import strip_times

CHECKOUT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


def run(folder: Path, name: str, *words: str) -> str:
    """The report of a run of the suite comment2context over the embedded release."""
    path = folder / f"{name}.json"
    if not path.exists():
        command = [sys.executable, "-m", "pytest", "suites/comment2context", "-q", "-p", "no:cacheprovider"]
        environment = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(CHECKOUT)}
        done = subprocess.run(
            [*command, f"--retrieval-report={path}", *words],
            cwd=CHECKOUT,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
    return str(path)


def summary(folder: Path, *reports: str) -> bytes:
    output = folder / "summary.json"
    assert main(["summarize", *reports, "-o", str(output)]) == 0
    return encode(strip_times(json.loads(output.read_text(encoding="utf-8"))))


@pytest.mark.parametrize(
    "parts",
    [
        (("-k", "lang:go"), ("-k", "not lang:go")),
        (("--retrieval-arms=grep",), ("--retrieval-arms=grep-ident,bm25",)),
        ((), ("--retrieval-arms=bm25",)),
    ],
    ids=["samples", "arms", "an arm again"],
)
def test_parts_of_a_run_are_the_whole(folder: Path, parts: tuple[tuple[str, ...], ...]) -> None:
    whole = run(folder, "whole")
    reports = [
        run(folder, "".join(filter(str.isalnum, "".join(words))) or "whole", *words) for words in parts
    ]
    assert summary(folder, *reports) == summary(folder, whole)
    assert summary(folder, *reversed(reports)) == summary(folder, whole)


def test_a_summary_of_a_run_reproduces_its_sections(folder: Path) -> None:
    whole = run(folder, "whole")
    before: dict[str, Any] = strip_times(json.loads(Path(whole).read_text(encoding="utf-8")))
    again = json.loads(summary(folder, whole))
    for name in ("registration", "gates"):
        before.pop(name, None)
        again.pop(name)
    assert again == before
