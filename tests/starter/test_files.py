from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from pytest_retrieval.cli import main
from pytest_retrieval.datasets.samples import load_samples
from pytest_retrieval.engines.loading import load_description
from pytest_retrieval.starter.files import workflow
from pytest_retrieval.starter.repository import find_repository

ROOT = Path(__file__).parents[2]
NAMES = [
    ".github/workflows/retrieval.yml",
    "retrieval/engine.json",
    "retrieval/pytest.ini",
    "retrieval/queries.jsonl",
    "retrieval/search.py",
    "retrieval/suite.py",
]


def git(folder: Path, *words: str) -> None:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=trunk"]
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True, timeout=60)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "ring"
    (folder / "src").mkdir(parents=True)
    git(folder, "init", "-q")
    (folder / "src" / "ring_buffer.py").write_text("def push(): ...\n", encoding="utf-8")
    (folder / "src" / "greeting.py").write_text("def greet(): ...\n", encoding="utf-8")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "one")
    return folder


def written(folder: Path) -> list[str]:
    found = (path for top in (".github", "retrieval") for path in (folder / top).rglob("*") if path.is_file())
    return sorted(path.relative_to(folder).as_posix() for path in found)


def test_what_is_written(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    git(repository, "remote", "add", "origin", "git@example.org:acme/ring.git")
    assert main(["init", str(repository / "src")]) == 0
    said = capsys.readouterr().out
    assert written(repository) == NAMES
    assert all(
        any(line.startswith("wrote ") and line.endswith(name) for line in said.splitlines()) for name in NAMES
    )
    found = find_repository(repository)
    assert (found.name, found.branch) == ("acme/ring", "trunk")
    suite = (repository / "retrieval" / "suite.py").read_text(encoding="utf-8")
    assert f'snapshot="acme/ring@{found.commit}=git:.."' in suite
    assert "branches: [trunk]" in (repository / NAMES[0]).read_text(encoding="utf-8")
    samples = load_samples(
        repository / "retrieval" / "queries.jsonl", default=(found.name, found.commit)
    ).samples
    assert [sample.gold for sample in samples] == [("src/greeting.py",), ("src/ring_buffer.py",)]
    assert load_description(repository / "retrieval" / "engine.json").name == "mine"


def test_nothing_is_overwritten(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (repository / "retrieval").mkdir()
    (repository / "retrieval" / "queries.jsonl").write_text("mine\n", encoding="utf-8")
    assert main(["init", str(repository)]) == 0
    assert (repository / "retrieval" / "queries.jsonl").read_text(encoding="utf-8") == "mine\n"
    said = capsys.readouterr().out
    assert said.count("kept ") == 1
    assert said.count("wrote ") == 5
    assert "examples of" not in said
    before = {name: (repository / name).read_bytes() for name in NAMES}
    assert main(["init", str(repository)]) == 0
    assert {name: (repository / name).read_bytes() for name in NAMES} == before


def test_without_a_commit_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", str(tmp_path)]) == 2
    assert "is in no Git repository" in capsys.readouterr().err
    git(tmp_path, "init", "-q")
    assert main(["init", str(tmp_path)]) == 2
    assert "the repository has no commit yet; commit something first" in capsys.readouterr().err
    (tmp_path / "1").touch()
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-q", "-m", "one")
    assert main(["init", str(tmp_path)]) == 2
    assert "has a name to ask for" in capsys.readouterr().err
    assert {path.name for path in tmp_path.iterdir()} == {".git", "1"}


def test_without_git_one_line(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(repository))
    assert main(["init", str(repository)]) == 2
    assert capsys.readouterr().err.endswith("is Git installed?\n")


def test_the_readme_shows_the_workflow() -> None:
    assert f"```yaml\n{workflow('main')}```" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_workflow_asks_for_little() -> None:
    text = workflow("trunk")
    used = re.findall(r"uses: (.*)", text)
    assert used
    assert all(
        re.fullmatch(r"actions/[a-z-]+(/[a-z]+)?@v\d+", name) for name in used
    )  # GitHub's own, at a major
    assert "\npermissions:\n  contents: read\n" in text
    judge, comment = text.split("\n  comment:\n")
    assert ": write" not in judge
    assert "pull-requests: write" in comment
    assert not re.search(r"checkout|run:", comment)  # it may write, so it runs no code of the pull request
    assert "${{ github.event.pull_request.title" not in text
    assert "@BRANCH@" not in text


def test_the_queries_say_that_they_are_examples(repository: Path) -> None:
    main(["init", str(repository)])
    lines = (repository / "retrieval" / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    assert all(json.loads(line)["id"].startswith("example-") for line in lines)
