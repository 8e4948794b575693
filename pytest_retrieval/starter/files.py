"""The files to begin with, filled in for one repository."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path, PurePosixPath

from pytest_retrieval.errors import UsageError
from pytest_retrieval.starter.examples import examples
from pytest_retrieval.starter.repository import Repository

FOLDER = "retrieval"
WORKFLOW = ".github/workflows/retrieval.yml"
QUERIES = f"{FOLDER}/queries.jsonl"
_TEMPLATES = ("suite.py", "pytest.ini", "engine.json", "search.py")


def starting_files(repository: Repository) -> dict[str, str]:
    """The text of each file by its path below the repository's root.

    Raises:
        UsageError: no file of the repository has a name to ask for.
    """
    rows = examples(repository.paths)
    if not rows:
        raise UsageError(f"{repository.root}: no file at {repository.commit[:12]} has a name to ask for")
    found = {QUERIES: "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)}
    found |= {f"{FOLDER}/{name}": _filled(name, repository) for name in _TEMPLATES}
    return {**found, WORKFLOW: workflow(repository.branch)}


def workflow(branch: str) -> str:
    """The workflow for a repository with this default branch."""
    return _template("retrieval.yml").replace("@BRANCH@", branch)


def write_new(root: Path, texts: dict[str, str]) -> Iterator[tuple[str, bool]]:
    """Write what is not there; each path, and whether it was written.

    Raises:
        OSError: a file cannot be written; those before it were.
    """
    for name, text in texts.items():
        path = root.joinpath(*PurePosixPath(name).parts)
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with path.open("x", encoding="utf-8", newline="\n") as target:
                target.write(text)
        except FileExistsError:
            yield name, False
        else:
            yield name, True


def _filled(name: str, repository: Repository) -> str:
    return _template(name).replace("@SNAPSHOT@", f"{repository.name}@{repository.commit}")


def _template(name: str) -> str:
    file = name + (".txt" if name.endswith(".py") else "")  # no module of this package
    return (files("pytest_retrieval.starter") / "templates" / file).read_text(encoding="utf-8")
