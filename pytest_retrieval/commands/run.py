"""``pytest-retrieval run``: shipped suites by name; every further argument is pytest's."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

from pytest_retrieval import resources
from pytest_retrieval.commands.parsers import add_command
from pytest_retrieval.errors import UsageError, closest


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    running = add_command(
        commands,
        "run",
        "run shipped suites with pytest",
        "Every further option is pytest's: pytest --help shows them.",
        example="code2test --arms=grep,bm25",
        allow_abbrev=False,
    )
    running.add_argument("suite", nargs="+", help=f"{', '.join(_known())}, or all")
    running.set_defaults(command=run)


def run(options: argparse.Namespace, rest: Sequence[str]) -> NoReturn:
    """Run shipped suites with pytest; every further argument is pytest's.

    pytest takes this process over: imported into it, it could not rewrite the assertions of this package.
    """
    words = [word for name in options.suite for word in _suite(name)]
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "-m", "pytest", *_plugin(), *words, *_joined(rest)])


def _plugin() -> list[str]:
    """What makes pytest load the plugin where it does not by itself; loading it twice would be an error."""
    is_installed = bool(entry_points(group="pytest11", name="retrieval"))
    if is_installed and not os.environ.get("PYTEST_DISABLE_PLUGIN_AUTOLOAD"):
        return []
    return ["-p", "pytest_retrieval.plugin"]


def _joined(words: Sequence[str]) -> list[str]:
    """The words with ``--option value`` of ours as ``--option=value``.

    pytest looks for its root directory before it knows the options of plugins, and would take a value after a
    blank for the path of a test.
    """
    from pytest_retrieval.plugin.options import names_with_values

    known, joined, rest = names_with_values(), [], list(words)
    while rest:
        word = rest.pop(0)
        joined.append(f"{word}={rest.pop(0)}" if word in known and rest else word)
    return joined


def _suite(name: str) -> list[str]:
    folder = resources.suites()
    known = _known()
    if name != "all" and name not in known:
        raise UsageError(f"no suite {name!r}{closest(name, known)} (known: {', '.join(known)}, all)")
    if (package := _package_of(folder)) is not None:
        # As a package name, the suite's place does not become pytest's root directory.
        return ["--pyargs", package + ("" if name == "all" else f".{name}")]
    return [str(folder if name == "all" else folder / name)]


def _known() -> list[str]:
    """The names of the shipped suites."""
    return sorted(path.parent.name for path in resources.suites().glob("*/test_*.py"))


def _package_of(suites: Path) -> str | None:
    """The name by which pytest can import the folder of suites; None inside the checkout that holds it.

    A checkout that is installed for development has its top folder on the path of imports.
    """
    if suites.parent.name == "pytest_retrieval":
        return "pytest_retrieval.suites"
    if Path.cwd().is_relative_to(suites.parent):
        return None
    found = find_spec(suites.name)
    is_ours = found is not None and found.origin == str(suites / "__init__.py")
    return suites.name if is_ours else None
