"""A project whose arms misbehave when a query tells them to, run by real pytest sessions of their own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.processes import name_of, processes_with, wait_until

ROOT = Path(__file__).parents[2]
OLDER_REPORT = '{"details":[],"profile":"pytest-retrieval/1"}\n'  # enough to be replaced
COMMIT = "5" * 40
REPOS = ("acme/anvil", "acme/bellows", "acme/crucible")
FILES = 6
#: What answers of two runs may differ in, and what of a sample depends on the verb of its query.
TIMES = {"wall_ms", "build_ms", "cache_state"}
OF_THE_QUERY = {"source", "query_chars", "query_sha256"}
WAIT = 120.0

SUITE = """
import pytest


@pytest.mark.retrieval(samples="samples.jsonl", corpus="corpus")
def test_sample(retrieval_judge):
    retrieval_judge()
"""

CONFTEST = '''
import errno
import os
import resource
import signal
import time
from hashlib import sha256
from pathlib import Path

import pytest

from pytest_retrieval import Arm, Capabilities
from pytest_retrieval.programs.process import run

MARKS = Path(__file__).parent / "marks"


class Steady(Arm):
    """A ranking that depends on the last word of the query alone."""

    name = "steady"

    def rank(self, query):
        word = query.text.rpartition(" ")[2]
        return sorted(self.snapshot.paths, key=lambda path: sha256(os.fsencode(word + path)).digest())


class Wild(Steady):
    """Does what the first word of the query says; the environment can tame it."""

    name = "wild"
    capabilities = Capabilities(worktree=True)

    def rank(self, query):
        verb, _, rest = query.text.partition(" ")
        if "TAME" not in os.environ:
            getattr(self, verb, lambda rest: None)(rest)
        return super().rank(query)

    def hang(self, rest):
        """Run a program that never ends, with a child of its own, beside a work tree."""
        assert (self.snapshot.worktree() / ".git").is_dir()
        mark(rest)
        script = 'sleep 600 & sleep 0.3; echo > "$0"; sleep 600'  # by then its starter knows that it runs
        run(["sh", "-c", script, str(MARKS / "program")], timeout=600)

    def tree(self, rest):
        assert (self.snapshot.worktree() / ".git").is_dir()

    def spin(self, rest):
        mark(rest)
        while True:
            pass

    def die(self, rest):
        os.kill(os.getpid(), signal.SIGKILL)

    def leave(self, rest):
        os._exit(7)

    def wait(self, rest):
        """Wait for the test to say so."""
        mark(rest)
        while not (MARKS / "go").exists():
            time.sleep(0.01)

    def fail(self, rest):
        raise RuntimeError("this arm fails on request")

    def overrun(self, rest):
        done = run(["sleep", "600"], timeout=0.1, grace=0.1)
        raise TimeoutError("the program ran out of time" if done.timed_out else "it did not")

    def spoil(self, rest):
        """Leave a folder that cannot be written, and a link to elsewhere."""
        tree = self.snapshot.worktree()
        (tree / "away").symlink_to(MARKS)
        (tree / "src").chmod(0o555)

    def fork(self, rest):
        """Leave a process behind that has all descriptors of this one."""
        self.tree(rest)
        if os.fork() == 0:
            mark(rest)
            time.sleep(600)

    def quit(self, rest):
        raise SystemExit(9)

    def close(self):
        if "SLOW_CLOSE" in os.environ:
            mark("closing")
            time.sleep(600)
        raise RuntimeError("this arm cannot be closed")


def fill_the_disk(part):
    """From now on no byte can be written to the journal, or to the report."""

    def place(descriptor):
        return Path(os.readlink(f"/proc/self/fd/{descriptor}")).name

    def write(descriptor, data, write=os.write):
        if part == "journal" and place(descriptor) == "report.json.journal":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(descriptor, data)

    def fsync(descriptor, fsync=os.fsync):
        if part == "report" and place(descriptor).startswith(".report.json."):
            if "pytest-retrieval-report-" not in os.readlink(f"/proc/self/fd/{descriptor}"):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return fsync(descriptor)

    os.write, os.fsync = write, fsync


def die_once(config, at):
    """The first worker that comes here dies."""
    if os.environ.get("DIE_AT") != at or not hasattr(config, "workerinput"):
        return
    try:
        (MARKS / "died").touch(exist_ok=False)
    except FileExistsError:
        return
    os.kill(os.getpid(), signal.SIGKILL)


def pytest_collection_modifyitems(config):
    die_once(config, "collection")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    """Wait for the test, where it says so: the report has been made by then."""
    if "LINGER" in os.environ and not hasattr(session.config, "workerinput"):
        mark("linger")
        time.sleep(600)


def pytest_configure(config):
    die_once(config, "configure")
    if "FULL" in os.environ:
        fill_the_disk(os.environ["FULL"])
    if "LARGEST_FILE" in os.environ:
        size = int(os.environ["LARGEST_FILE"])
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def mark(name):
    (MARKS / name).write_text(str(os.getpid()))


def pytest_retrieval_arms():
    return [Steady, Wild]
'''


@dataclass(frozen=True)
class Finished:
    """A session that has ended."""

    code: int
    output: str

    def line(self, *words: str) -> str:
        """The one line of the output that holds all ``words``."""
        lines = [line for line in self.output.splitlines() if all(word in line for word in words)]
        assert len(lines) == 1, f"{len(lines)} lines with {words} in:\n{self.output}"
        return lines[0]


class Place:
    """The folders of a project, sessions over it, and what they leave there."""

    arms = ""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "project"
        self.temporary = folder / "temporary"
        self.cache = folder / "cache"
        self.report = folder / "out" / "report.json"
        self.journal = folder / "out" / "report.json.journal"
        self.marks = self.root / "marks"
        self.sessions: list[Session] = []
        for made in (self.root, self.temporary, self.report.parent, self.marks):
            made.mkdir()

    def start(self, *words: str, **variables: str) -> Session:
        """Start pytest over the project, in a process group of its own."""
        own = ("-p", "xdist", f"--arms={self.arms}", "--retrieval-overwrite", f"--report={self.report}")
        variables = {"TMPDIR": str(self.temporary), "XDG_CACHE_HOME": str(self.cache), **variables}
        session = Session(started([*own, *words], self.root, ROOT, variables))
        self.sessions.append(session)
        return session

    def run(self, *words: str, **variables: str) -> Finished:
        """Run pytest over the project to its end."""
        return self.start(*words, **variables).end()

    def wait_for(self, *marks: str) -> list[int]:
        """Wait until arms have left all ``marks``; the process ids that they wrote there."""
        places = [self.marks / mark for mark in marks]

        def are_there() -> bool:
            if all(place.exists() and place.read_text() for place in places):
                return True
            for session in self.sessions:
                assert session.process.poll() is None, f"{marks} will never come: {session.end().output}"
            return False

        wait_until(are_there, ", ".join(marks))
        return [int(place.read_text().strip() or 0) for place in places]

    def read_report(self) -> dict[str, Any]:
        report: dict[str, Any] = json.loads(self.report.read_text())
        return report

    def programs(self, name: str) -> list[int]:
        """The live processes of the project that run the program ``name``."""
        return [pid for pid in processes_with(f"TMPDIR={self.temporary}") if name == name_of(pid)]

    def left(self) -> list[str]:
        """What lies in the temporary folder, without what xdist makes for pytest's ``tmp_path``."""
        return [path for path in listing(self.temporary) if not path.startswith("pytest-of-")]

    def assert_nothing_is_left(self) -> None:
        """No temporary file, no process, and no unfinished file beside the report."""
        wait_until(lambda: not processes_with(f"TMPDIR={self.temporary}"), "the end of all processes")
        assert self.left() == [], self.left()
        unfinished = [name for name in listing(self.report.parent) if not name.startswith("report.json")]
        assert unfinished == [], unfinished


class Project(Place):
    """A suite over ``count`` samples; ``verbs`` says which of them make the arm ``wild`` do what."""

    arms = "steady,wild"

    def __init__(self, folder: Path, verbs: Mapping[int, str] | None = None, count: int = 24) -> None:
        super().__init__(folder)
        (self.root / "test_suite.py").write_text(SUITE)
        (self.root / "conftest.py").write_text(CONFTEST)
        (self.root / "pytest.ini").write_text("[pytest]\nfilterwarnings = error\n")
        self.write_samples(sample(number, (verbs or {}).get(number, "calm")) for number in range(count))
        for repo in REPOS:
            self.write_corpus(repo)

    def write_samples(self, rows: Iterable[Mapping[str, Any]]) -> None:
        (self.root / "samples.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    def write_corpus(self, repo: str) -> None:
        folder = self.root / "corpus" / repo.replace("/", "__")
        folder.mkdir(parents=True)
        rows = [
            {"kind": "file", "path": f"src/part{number}.c", "text": f"int part{number}(void);\n"}
            for number in range(FILES)
        ]
        (folder / f"{COMMIT}.chunks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    def journalled(self) -> dict[str, dict[str, Any]]:
        """The outcomes of the journal by sample, as far as they can be compared."""
        header, *lines = self.journal.read_text().splitlines()
        assert json.loads(header)["profile"] == "pytest-retrieval/1"
        return by_sample(json.loads(line)["outcome"]["detail"] for line in lines)

    def reported(self) -> dict[str, dict[str, Any]]:
        """The details of the report by sample, as far as they can be compared."""
        return by_sample(self.read_report()["details"])


def started(
    argv: Sequence[str], folder: Path, package: Path, variables: Mapping[str, str]
) -> subprocess.Popen[str]:
    """A pytest in ``folder``, in a process group of its own; ``package`` is where ours is imported from."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(package),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTEST_ADDOPTS": "",
        "COLUMNS": "200",
        **variables,
    }
    return subprocess.Popen(
        [sys.executable, "-m", "pytest", "-p", "pytest_retrieval.plugin", "-p", "no:cacheprovider", *argv],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        text=True,
        errors="backslashreplace",
    )


class Session:
    """A running pytest."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def signal_group(self, number: signal.Signals) -> None:
        """What the terminal does at Ctrl-C: the signal goes to the controller and its workers."""
        os.killpg(self.process.pid, number)

    def end(self) -> Finished:
        """Wait for the end."""
        try:
            output, _ = self.process.communicate(timeout=WAIT)
        except subprocess.TimeoutExpired:
            self.signal_group(signal.SIGKILL)
            output, _ = self.process.communicate()
            raise AssertionError(f"the session did not end by itself:\n{output}") from None
        return Finished(self.process.returncode, output)


def sample(number: int, verb: str = "calm") -> dict[str, Any]:
    """A row of the short form; neighbours are in different repositories."""
    return {
        "id": f"s{number:03d}",
        "query": f"{verb} m{number:03d}",
        "relevant": [f"src/part{number % FILES}.c"],
        "repo": REPOS[number % len(REPOS)],
        "base_commit": COMMIT,
    }


def by_sample(details: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    return {detail["id"]: comparable(detail) for detail in details}


def comparable(detail: Mapping[str, Any]) -> dict[str, Any]:
    """What is the same in every run, disturbed or not."""
    arms = {label: without(answer, TIMES) for label, answer in detail["arms"].items()}
    return {**without(detail, OF_THE_QUERY), "arms": arms}


def without(row: Mapping[str, Any], names: set[str]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key not in names}


def listing(folder: Path) -> list[str]:
    """Every path below ``folder``."""
    walked = os.walk(folder)  # it may be removed meanwhile
    found = (Path(place, name) for place, folders, files in walked for name in (*folders, *files))
    return sorted(path.relative_to(folder).as_posix() for path in found)
