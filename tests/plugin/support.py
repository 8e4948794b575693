"""A small benchmark written by hand, and pytest sessions that run it.

Every expected value of this room is worked out from the samples and trees below. ``ALPHABET`` is an arm that
answers with every path in order, so that the rank of a gold file can be read off its tree.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import pytest_retrieval
from pytest_retrieval import plugin

ROOT = Path(__file__).parents[2]

NUMPY, CLICK, BOAT = "numpy/numpy", "pallets/click", "acme/boat"  # of fold A, of fold B, of none
COMMITS = {NUMPY: "a" * 40, CLICK: "b" * 40, BOAT: "c" * 40}
TREES = {
    NUMPY: {
        "README.md": "arrays\n",
        "numpy/fft/helper.py": "def rfft(a): ...\n",
        "numpy/fft/tests/test_helper.py": "rfft([1])\n",
        "numpy/linalg/svd.py": "def svd(a): ...\n",
        "numpy/linalg/tests/test_svd.py": "svd([[1]])\n",
    },
    CLICK: {
        "README.md": "commands\n",
        "src/click/core.py": "class Command: ...\n",
        "src/click/echo.py": "def echo(text): ...\n",
        "tests/test_core.py": "Command()\n",
        "tests/test_echo.py": "echo('a')\n",
    },
    BOAT: {
        "boat/hull.go": "package boat // Hull\n",
        "boat/hull_test.go": "package boat // Hull\n",
        "boat/sail.go": "package boat // Sail\n",
        "main.go": "package main\n",
    },
}

SVD, FFT, ECHO, HULL, LEAK, SAIL, CORE = "svd", "fft", "echo", "hull", "leak", "sail", "core"
IDS = {
    SVD: "0f3a91c2d4e5ffffffffffff",
    FFT: "fft-length",
    ECHO: "1c2d3e4f5a6b000000000000",
    HULL: "2d3e4f5a6b7c000000000000",
    LEAK: "3e4f5a6b7c8d000000000000",
    SAIL: "4f5a6b7c8d9e000000000000",
    CORE: "5a6b7c8d9eaf000000000000",
}
NAMES = {sample_id: name for name, sample_id in IDS.items()}

# The items in the order in which they run: by repository, then as in the file. The digits of FFT, whose id is
# not hexadecimal, are the first twelve of ``printf fft-length | sha256sum``.
ITEMS = {
    HULL: "test_comment2context[acme/boat-does-it-still-float-2d3e4f5a6b7c]",
    LEAK: "test_trace2code[acme/boat-leak-3e4f5a6b7c8d]",
    SAIL: "test_abstention[acme/boat-anchors-4f5a6b7c8d9e]",
    SVD: "test_code2test[numpy/numpy-svd-of-2-d-0f3a91c2d4e5]",
    FFT: "test_code2test[numpy/numpy-length-of-rfft-f2b76f63dd20]",
    ECHO: "test_code2test[pallets/click-echo-bytes-1c2d3e4f5a6b]",
    CORE: "test_abstention[pallets/click-colours-5a6b7c8d9eaf]",
}


def row(name: str, task: str, repo: str, query: dict[str, Any], gold: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": IDS.get(name, name),
        "task_type": task,
        "repo": repo,
        "base_commit": COMMITS[repo],
        "query": query,
        "gold": gold,
    }


ROWS = [
    row(
        SVD,
        "code2test",
        NUMPY,
        {"pr_title": "SVD of 2-d", "changed_file": "numpy/linalg/svd.py"},
        {"related_tests": ["numpy/linalg/tests/test_svd.py"]},
    ),
    row(
        FFT,
        "code2test",
        NUMPY,
        {"pr_title": "Length of rfft", "changed_file": "numpy/fft/helper.py"},
        {"related_tests": ["numpy/fft/tests/test_helper.py"]},
    ),
    row(
        ECHO,
        "code2test",
        CLICK,
        {"pr_title": "Echo bytes", "changed_file": "src/click/echo.py"},
        {"related_tests": ["tests/test_echo.py"]},
    ),
    row(
        HULL,
        "comment2context",
        BOAT,
        {"comment": "Does it still float?", "path": "boat/hull.go"},
        {"must_context_files": ["boat/sail.go"]},
    ),
    row(LEAK, "trace2code", BOAT, {"title": "Leak", "trace": "panic"}, {"root_cause_files": ["main.go"]}),
    {
        **row(SAIL, "abstention", BOAT, {"title": "Anchors"}, {"no_gold": True}),
        "metadata": {"organic": True},
    },
    row(CORE, "abstention", CLICK, {"title": "Colours"}, {"no_gold": True}),
    row("unlabelled", "code2test", BOAT, {"title": "Nobody knows"}, {}),
]

# Where ALPHABET finds the gold file of each positive sample, given files left out.
RANKS = {SVD: 5, FFT: 3, ECHO: 5, HULL: 2, LEAK: 4}

SUITE = """
import pytest

@pytest.mark.retrieval(task="code2test")
def test_code2test(retrieval_judge):
    retrieval_judge()

@pytest.mark.retrieval(task="comment2context")
def test_comment2context(retrieval_judge):
    retrieval_judge()

@pytest.mark.retrieval(task="trace2code")
def test_trace2code(retrieval_judge):
    retrieval_judge()

@pytest.mark.retrieval(task="edit2ripple")
def test_edit2ripple(retrieval_judge):
    retrieval_judge()

@pytest.mark.retrieval(task="abstention")
def test_abstention(retrieval_judge):
    retrieval_judge()
"""

ALPHABET = """
from pytest_retrieval import Arm

class Alphabet(Arm):
    name = "alphabet"

    def rank(self, query):
        return self.snapshot.paths

def pytest_retrieval_arms():
    return [Alphabet]
"""


MAIN = ("--release=release", "--arms=alphabet")
DISTRIBUTED = ("-n", "--dist", "--tx")


def lines(rows: Sequence[Mapping[str, Any]]) -> str:
    """``rows`` as JSON Lines."""
    return "".join(f"{json.dumps(row)}\n" for row in rows)


def chunks(tree: Mapping[str, str]) -> str:
    """A chunk file of ``tree``."""
    return lines([{"kind": "file", "path": path, "text": text} for path, text in tree.items()])


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def write_corpus(folder: Path) -> Path:
    """The trees as chunk files, where a corpus has them."""
    for repo, tree in TREES.items():
        write(folder / repo.replace("/", "__") / f"{COMMITS[repo]}.chunks.jsonl", chunks(tree))
    return folder


def write_release(folder: Path, rows: Sequence[Mapping[str, Any]] = ROWS) -> Path:
    """An extracted release of ``rows`` over the trees."""
    write(folder / "benchmark" / "mini" / "samples.jsonl", lines(rows))
    write_corpus(folder / "corpus" / "mini")
    return folder


class Bench:
    """A folder with the release, its suite and the arm ``alphabet``, in which pytest is run."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.pytester = pytester
        self.path = pytester.path

    def write(self, name: str, text: str) -> Path:
        return write(self.path / name, text)

    def run(self, *arguments: str | Path) -> pytest.RunResult:
        """Run pytest with the plugin in this process, and with xdist where an argument asks for it."""
        if any(str(argument).startswith(DISTRIBUTED) for argument in arguments):
            loaded = ("-p", "pytest_retrieval.plugin", "-p", "xdist")
            return self.pytester.runpytest_inprocess(*loaded, *arguments)
        return self.pytester.runpytest_inprocess(*arguments, plugins=[plugin])

    def run_apart(self, *arguments: str | Path) -> pytest.RunResult:
        """Run pytest with the plugin in a process of its own."""
        return self.pytester.runpytest_subprocess("-p", "pytest_retrieval.plugin", *arguments)

    def report(self, name: str = ".retrieval/report.json") -> dict[str, Any]:
        """A report that the schema has accepted."""
        report: dict[str, Any] = json.loads((self.path / name).read_text(encoding="utf-8"))
        schema_validator().validate(report)
        return report

    def judged(self) -> dict[str, dict[str, Any]]:
        """The details of the default report, by the names of the samples here."""
        return {NAMES.get(detail["id"], detail["id"]): detail for detail in self.report()["details"]}

    def collected(self, *arguments: str) -> list[str]:
        """The samples that the arguments choose, in the order in which they would run."""
        found = self.run("--collect-only", "-q", *MAIN, *arguments)
        names = {f"test_suite.py::{item}": name for name, item in ITEMS.items()}
        return [names[line] for line in found.outlines if line in names]


@cache
def schema_validator() -> Any:
    """The validator of the report's schema."""
    schema = json.loads((ROOT / "pytest_retrieval" / "report" / "schema.json").read_text(encoding="utf-8"))
    return Draft202012Validator(schema)


# A session within this process forgets what it imported, and numpy cannot be imported twice.
for module in walk_packages(pytest_retrieval.__path__, "pytest_retrieval."):
    if not module.name.endswith("__main__"):
        import_module(module.name)
