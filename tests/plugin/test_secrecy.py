"""An arm sees the question and the tree, and nothing of the answer."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest

from tests.plugin.support import BOAT, CLICK, COMMITS, MAIN, NUMPY, TREES, Bench, lines, write

pytest_plugins = ["pytester"]

SECRET = "5ec2e7"  # in every answer, and in nothing that an arm may know

# Writes down all that can be reached from what an arm is given, and the files of its work tree.
SPY = """
import dataclasses
import json
import os
from pathlib import Path
from types import FunctionType, MethodType, ModuleType

from pytest_retrieval import Arm, Capabilities

OUT = Path(__file__).parent / "seen"

def reach(value, seen, depth=0):
    if id(value) in seen or isinstance(value, (type, ModuleType, FunctionType, MethodType)):
        return
    seen[id(value)] = value
    if isinstance(value, (str, bytes, int, float, Path)) or value is None:
        return
    if hasattr(value, "items") and hasattr(value, "keys"):
        for key, inner in value.items():
            reach(key, seen)
            reach(inner, seen)
    elif isinstance(value, (list, tuple, set, frozenset)):
        for inner in value:
            reach(inner, seen)
    names = [*getattr(value, "__dict__", ()), *getattr(type(value), "__slots__", ())]
    for name in names:
        if hasattr(value, name):
            reach(getattr(value, name), seen)

class Spy(Arm):
    name = "spy"
    capabilities = Capabilities(worktree=True)

    def prepare(self, snapshot):
        super().prepare(snapshot)
        self.tree = snapshot.worktree()

    def rank(self, query):
        seen = {}
        reach(query, seen)
        reach(self.snapshot, seen)
        reach({name: value for name, value in vars(self).items()}, seen)
        words = [os.fsdecode(v) if isinstance(v, bytes) else str(v) for v in seen.values()
                 if isinstance(v, (str, bytes, int, float, Path))]
        files = [path for path in self.tree.rglob("*") if path.is_file()]
        inside = {str(path.relative_to(self.tree)): path.read_bytes().decode("latin-1") for path in files}
        fields = sorted(field.name for field in dataclasses.fields(query))
        OUT.mkdir(exist_ok=True)
        text = json.dumps([fields, words, inside, str(self.tree)])
        (OUT / f"{len(list(OUT.iterdir()))}-{os.getpid()}.json").write_text(text)
        query.object.get("list", []).append("changed by an arm")
        return self.snapshot.paths

class Late(Arm):
    name = "late"

    def rank(self, query):
        return [json.dumps(query.object.get("list", []))]

def pytest_retrieval_arms():
    return [Spy, Late]
"""

GIT = """
import subprocess
from pytest_retrieval import Answer, Arm, Capabilities

class Git(Arm):
    name = "git"
    capabilities = Capabilities(worktree=True)

    def ask(self, *words):
        command = ["git", "-C", str(self.snapshot.worktree()), *words]
        return subprocess.run(command, capture_output=True, text=True).stdout.splitlines()

    def rank(self, query):
        commits = self.ask("log", "--all", "--format=%s")
        return Answer(state=f"{len(commits)} {self.ask('remote')} {self.ask('status', '--porcelain')}")

def pytest_retrieval_arms():
    return [Git]
"""


def secret_rows() -> list[dict[str, Any]]:
    """A row of each shape, whose every field that is no question names the secret."""
    files = [f"{SECRET}/gold.py"]
    common = {"repo": NUMPY, "base_commit": COMMITS[NUMPY], "task_type": "code2test"}
    gold = {
        "files": files,
        "related_tests": files,
        "root_cause_files": files,
        "must_context_files": files,
        "negative_distractors": [f"{SECRET}/negative.py"],
        "given_files": ["numpy/linalg/svd.py"],
        "rationale": SECRET,
    }
    metadata = {"fix": SECRET, "organic": False}
    query = {"pr_title": "Speak", "changed_file": "numpy/linalg/svd.py", "list": ["asked"]}
    return [
        {**common, "id": f"{SECRET}000000", "query": query, "gold": gold, "metadata": metadata},
        {
            "query": "Speak up",
            "relevant": files,
            "negatives": [f"{SECRET}/negative.py"],
            "repo": NUMPY,
            "base_commit": COMMITS[NUMPY],
            "id": f"{SECRET}111111",
            "cluster": SECRET,
        },
    ]


@pytest.fixture
def seen(bench: Bench, request: pytest.FixtureRequest) -> list[Any]:
    """What the spy wrote down, with as many workers as asked for."""
    bench.write("conftest.py", SPY)
    samples = bench.write("secret.jsonl", lines(secret_rows()))
    corpus = bench.path / "release" / "corpus" / "mini"
    arguments = [f"--samples={samples}", f"--corpus={corpus}", "--arms=spy,late", *request.param]
    bench.run(*arguments).assert_outcomes(passed=2)
    return [json.loads(path.read_text(encoding="utf-8")) for path in (bench.path / "seen").iterdir()]


@pytest.mark.parametrize("seen", [[], ["-n1"]], indirect=True)
def test_nothing_that_an_arm_can_reach_names_the_answer(bench: Bench, seen: list[Any]) -> None:
    assert len(seen) == 2
    for fields, words, inside, _ in seen:
        assert fields == ["changed_file", "given", "limit", "object", "per_file", "spans", "text"]
        assert [word for word in words if SECRET in word] == []
        assert [path for path, text in inside.items() if SECRET in path + text] == []
    assert {detail["gold"][0] for detail in bench.report()["details"]} == {f"{SECRET}/gold.py"}


@pytest.mark.parametrize("seen", [[]], indirect=True)
def test_a_work_tree_holds_the_snapshot_and_one_commit(bench: Bench, seen: list[Any]) -> None:
    for _, _, inside, tree in seen:
        files = {path: text for path, text in inside.items() if not path.startswith(".git/")}
        assert files == TREES[NUMPY]
        assert not tree.startswith(str(bench.path / "release"))
        assert not (bench.path / tree).exists()  # by now


@pytest.mark.parametrize("seen", [[]], indirect=True)
def test_what_one_arm_does_to_its_question_reaches_no_other(bench: Bench, seen: list[Any]) -> None:
    assert len(seen) == 2
    answers = {detail["id"]: detail["arms"]["late"]["ranked"] for detail in bench.report()["details"]}
    assert answers == {f"{SECRET}000000": ['["asked"]'], f"{SECRET}111111": ["[]"]}


def test_a_work_tree_has_no_history(bench: Bench) -> None:
    bench.write("conftest.py", GIT)
    repository = bench.pytester.mkdir("clones") / "pallets" / "click"
    for path, text in TREES[CLICK].items():
        write(repository / path, text)
    git = ["git", "-C", str(repository), "-c", "user.name=a", "-c", "user.email=a@localhost"]
    for command in (
        ["init", "--quiet"],
        ["add", "--all"],
        ["commit", "--quiet", "-m", "base"],
        ["commit", "--quiet", "--allow-empty", "-m", "the fix"],
    ):
        subprocess.run([*git, *command], check=True)
    base = subprocess.run([*git, "rev-parse", "HEAD~1"], check=True, capture_output=True, text=True)
    rows = [
        {
            "query": "echo",
            "relevant": ["src/click/echo.py"],
            "repo": CLICK,
            "base_commit": base.stdout.strip(),
        }
    ]
    bench.write("short.jsonl", lines(rows))
    arguments = ["--samples=short.jsonl", "--corpus=clones", "--arms=git"]
    bench.run("test_suite.py", *arguments).assert_outcomes(passed=1)
    [detail] = bench.report()["details"]
    assert detail["arms"]["git"]["state"] == "1 [] []"


def test_samples_beside_the_corpus_are_in_no_snapshot(bench: Bench) -> None:
    bench.run(*MAIN).assert_outcomes(passed=7)
    ranked = {path for d in bench.report()["details"] for path in d["arms"]["alphabet"]["ranked"]}
    assert ranked == {path for repo in (NUMPY, CLICK, BOAT) for path in TREES[repo]}
