"""``pytest-retrieval init``: what a repository needs to judge its search tool, from the first query to CI."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_retrieval.commands.parsers import add_command

if TYPE_CHECKING:
    from pytest_retrieval.starter.repository import Repository

FOLDER = "retrieval"


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    beginning = add_command(
        commands,
        "init",
        "begin in a repository: queries, a suite, a CI workflow",
        "Writes retrieval/ and .github/workflows/retrieval.yml, over no file that is there, and says what to"
        " do next.",
    )
    beginning.add_argument(
        "folder", nargs="?", default=".", metavar="DIR", help="in a Git repository; default: ."
    )
    beginning.set_defaults(command=init)


def init(options: argparse.Namespace, rest: Sequence[str]) -> int:
    """Write the files that are not there, and say what to do next."""
    from pytest_retrieval.starter.files import starting_files, write_new
    from pytest_retrieval.starter.repository import find_repository

    repository = find_repository(Path(options.folder))
    shown = Path(os.path.relpath(repository.root))
    texts = starting_files(repository)
    written = {}
    for name, is_new in write_new(repository.root, texts):
        written[name] = is_new
        sys.stdout.write(f"{'wrote' if is_new else 'kept '} {shown / name}\n")
    queries = f"{FOLDER}/queries.jsonl"
    examples = texts[queries].count("\n") if written[queries] else 0
    sys.stdout.writelines(f"{line}\n" for line in _next_steps(repository, shown, examples))
    return 0


def _next_steps(repository: Repository, shown: Path, examples: int) -> Iterator[str]:
    """What to run at once, and what to edit; ``examples`` of the queries are new."""
    folder = shown / FOLDER
    where = "" if shown == Path() else f"cd {shown} && "
    yield f"\nNow run:  {where}pytest {FOLDER}\n"
    if examples:
        asked = "1 example" if examples == 1 else f"{examples} examples"
        yield f"It asks {asked} of {repository.name} at {repository.commit[:12]}. They are made"
        yield "of file names and easy: they show that all is wired, and measure nothing."
        yield f"- Replace them in {folder / 'queries.jsonl'} by 30 questions that you would really ask, each"
        yield "  with the files that answer it."
    yield f"- Describe your search tool in {folder / 'engine.json'} instead of search.py. What it answers:"
    yield f"  pytest-retrieval engine probe {folder / 'engine.json'} --root {shown} --query 'a question'"
    yield f"- Commit: the workflow judges pull requests against the last report of {repository.branch}."
