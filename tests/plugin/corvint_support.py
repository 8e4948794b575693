"""Runs of the reference program by real pytest sessions of their own."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.plugin.survival_support import Finished, listing, started
from tests.processes import processes_with, wait_until

ROOT = Path(__file__).parents[2]
FAKE = ROOT / "testdata" / "fake_corvint.py"
REPO, COMMITS = "acme/ring", ("1" * 40, "2" * 40)
TREE = {
    "ring.c": "int ring_wrap(void) { return head; }\n",
    "ring_test.c": "#include ring\nassert wrap\n",
    "notes.md": "the ring buffer\n",
}
SUITE = """
import pytest


@pytest.mark.retrieval(samples="samples.jsonl", corpus="corpus")
def test_sample(retrieval_judge):
    retrieval_judge()
"""
IMPATIENT = """
from pytest_retrieval import Capabilities
from pytest_retrieval.arms.corvint_verb import CorvintVerb

CorvintVerb.capabilities = Capabilities(worktree=True, timeout=0.5)
"""
WAIT = 60.0


def sample(number: int, **fields: Any) -> dict[str, Any]:
    return {
        "id": f"ring-{number}",
        "query": "wrap the ring",
        "relevant": ["ring_test.c"],
        "repo": REPO,
        "base_commit": COMMITS[0],
        "changed_file": "ring.c",
        **fields,
    }


def package(folder: Path) -> Path:
    """A copy of the package, for its files are bound: nobody may edit them while a run lasts."""
    shutil.copytree(
        ROOT / "pytest_retrieval", folder / "pytest_retrieval", ignore=shutil.ignore_patterns("__pycache__")
    )
    return folder


@dataclass
class Ring:
    """A suite over a tiny tree, asked through the reference program; ``python`` is where the package is."""

    folder: Path
    python: Path

    def __post_init__(self) -> None:
        self.root = self.folder / "project"
        self.temporary = self.folder / "temporary"
        self.report = self.folder / "out" / "report.json"
        self.registration = self.folder / "out" / "report.json.registration.json"
        self.partial = self.folder / "out" / "report.json.partial.json"
        self.pids = self.folder / "pids"
        self.log = self.folder / "log"
        for made in (self.root, self.temporary, self.report.parent):
            made.mkdir()
        (self.root / "test_suite.py").write_text(SUITE)
        (self.root / "pytest.ini").write_text("[pytest]\nfilterwarnings = error\n")
        self.write_samples(sample(1))
        corpus = self.root / "corpus" / REPO.replace("/", "__")
        corpus.mkdir(parents=True)
        rows = [{"kind": "file", "path": path, "text": text} for path, text in TREE.items()]
        for commit in COMMITS:
            (corpus / f"{commit}.chunks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        self.program = FAKE

    def write_samples(self, *rows: Mapping[str, Any]) -> None:
        (self.root / "samples.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    def wrap(self, script: str) -> None:
        """Put a shell script before the program: ``$FAKE`` is the program, ``$VERB`` what it is asked."""
        self.program = self.folder / "corvint"
        self.program.write_text(f'#!/bin/sh\nFAKE="{FAKE}"\nVERB="$3"\n{script}\nexec "$FAKE" "$@"\n')
        self.program.chmod(0o755)

    def start(self, *words: str, program: bool = True, **variables: str) -> subprocess.Popen[str]:
        """Start a run, of the arm ``context`` unless other arms are named, with or without ``--corvint``."""
        argv = [f"--report={self.report}", *words, *([f"--corvint={self.program}"] if program else [])]
        if not any(word.startswith(("--arms", "retrieval_arms")) for word in words):
            argv.append("--arms=context")
        own = {
            "TMPDIR": str(self.temporary),
            "FAKE_CORVINT_LOG": str(self.log),
            "FAKE_CORVINT_PIDS": str(self.pids),
        }
        return started(argv, self.root, self.python, {**own, **variables})

    def run(self, *words: str, program: bool = True, **variables: str) -> Finished:
        """A run to its end."""
        return self.end(self.start(*words, program=program, **variables))

    def latency(self, *words: str, **variables: str) -> Finished:
        """A run that measures matched snapshot latency."""
        return self.run("--retrieval-snapshot-latency", *words, program=True, **variables)

    def end(self, process: subprocess.Popen[str]) -> Finished:
        try:
            output, _ = process.communicate(timeout=WAIT)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
            raise AssertionError(f"the session did not end by itself:\n{output}") from None
        return Finished(process.returncode, output)

    def interrupt(self, process: subprocess.Popen[str], number: signal.Signals) -> Finished:
        """Send a signal once the program has said that it hangs: SIGINT to the group, as a terminal does."""
        wait_until(lambda: self.pids.exists() and self.pids.read_text().endswith("\n"), "the program")
        if number == signal.SIGINT:
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)
        return self.end(process)

    def copies(self) -> set[str]:
        """The work trees that the program was asked about."""
        argvs = [json.loads(line)["argv"] for line in self.log.read_text().splitlines()]
        return {argv[1] for argv in argvs if argv[0] == "--root"}

    def calls(self) -> list[str]:
        """The verbs that the program was asked, in order; ``--version`` is one."""
        argvs = [json.loads(line)["argv"] for line in self.log.read_text().splitlines()]
        return [argv[2] if len(argv) > 2 else argv[0] for argv in argvs]

    def questions(self) -> list[str]:
        """The calls but ``--version``."""
        return [verb for verb in self.calls() if verb != "--version"] if self.log.exists() else []

    def read(self, path: Path | None = None) -> dict[str, Any]:
        report: dict[str, Any] = json.loads((path or self.report).read_text())
        return report

    def answers(self) -> list[dict[str, Any]]:
        return [detail["arms"]["context"] for detail in self.read()["details"]]

    def assert_nothing_is_left(self) -> None:
        """No process of the run, no copy, and the corpus as it was."""
        wait_until(lambda: not processes_with(f"TMPDIR={self.temporary}"), "the end of all processes")
        left = [path for path in listing(self.temporary) if not path.startswith("pytest-of-")]  # xdist's
        assert left == []
        names = [f"acme__ring/{commit}.chunks.jsonl" for commit in COMMITS]
        assert listing(self.root / "corpus") == ["acme__ring", *names]
