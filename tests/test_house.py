"""The house: a module imports only from floors below its own, or from its own room."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import pytest_retrieval

PACKAGE = Path(pytest_retrieval.__file__).parent
FLOORS = {
    "plugin": 5,
    "bench": 4,
    "trial": 4,
    "history": 4,
    "report": 3,
    "gates": 3,
    "agents": 2,
    "arms": 2,
    "measures": 2,
    "index": 1,
    "stats": 1,
}
MODULES = sorted(
    path for path in PACKAGE.rglob("*.py") if not {"suites", "release"} & set(path.relative_to(PACKAGE).parts)
)


def floor_of(room: str) -> int:
    """The doors are on top; whatever is not named is a noun, or reads the world."""
    if room in ("cli", "commands", "hookspecs"):
        return 5
    return FLOORS.get(room, 0)


def rooms_imported(source: str) -> Iterator[str]:
    """The rooms that a module imports when it runs; imports for type checkers alone do not tie it."""
    tree = ast.parse(source)
    typing = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and id(node) not in typing and node.module:
            names = node.module.split(".")
            if names[0] == "pytest_retrieval":
                yield from [names[1]] if len(names) > 1 else [alias.name for alias in node.names]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_imports_go_down(path: Path) -> None:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    if parts == ("__init__",):
        return
    own = parts[0]
    above = {
        room
        for room in rooms_imported(path.read_text(encoding="utf-8"))
        if room != own and floor_of(room) > floor_of(own)
    }
    assert not above


def test_only_the_doors_import_pytest() -> None:
    importing = {
        path.relative_to(PACKAGE).parts[0]
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if (isinstance(node, ast.Import) and any(alias.name == "pytest" for alias in node.names))
        or (isinstance(node, ast.ImportFrom) and node.module == "pytest")
    }
    assert importing <= {"plugin", "hookspecs.py", "cli.py"}
