"""Which version of a tool is measured, as far as that can be told from outside."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from pytest_retrieval.arms.engine.sources import code_beside, editable
from pytest_retrieval.engines.description import Command, Description
from pytest_retrieval.engines.template import Template
from pytest_retrieval.errors import ArmError

_FIXED = frozenset({"Here", "Python"})
_SHEBANG = 256  # bytes of a first line


@dataclass(frozen=True, slots=True)
class Identity:
    """``shown`` is for reports; ``digest`` changes whenever anything did that was looked at.

    ``contents_of`` names the programs and scripts whose contents alone tell the version, where the tool does
    not: what those call in turn is nobody's, and may be upgraded unnoticed.
    """

    shown: str
    digest: str
    contents_of: tuple[str, ...] = ()


def identify(description: Description, values: Mapping[str, str], said: str | None) -> Identity:
    """The identity of a tool that ``said`` of its version what its description has it asked, or None.

    Looked at are the programs and the scripts that the commands name, what the first line of a script names,
    the code around a script, and which Python distributions lie beside them: the script of an installed
    package never changes. Of one that is installed in place its code counts, too.

    Raises:
        ArmError: a program is not there.
    """
    whole = hashlib.sha256(repr(said).encode())
    search = _search_path(description, values)
    named = list(_named(description, values, search))
    files = list(dict.fromkeys(path for pair in named for path in _with_code(*pair, search)))
    packages = dict.fromkeys(package for path in files for package in _distributions(path))
    code = (path for package in packages for path in editable(package))
    for path in dict.fromkeys((*files, *code)):
        whole.update(f"{path.name}\0{_digest(path)}\n".encode(errors="surrogateescape"))
    for package in packages:
        whole.update(f"{package.name}\n".encode(errors="surrogateescape"))
    digest = whole.hexdigest()
    if said is not None:
        return Identity(f"{said} sha256:{digest[:12]}", digest)
    return Identity(f"sha256:{digest[:12]}", digest, tuple(dict.fromkeys(path.name for path, _ in named)))


def find_program(word: str, path: str | None = None) -> Path:
    """The program ``word``: a name on PATH, or a path relative to the working directory.

    Raises:
        ArmError: there is none, or it is not executable.
    """
    wanted = str(Path(word).absolute()) if os.sep in word else word
    found = shutil.which(wanted, path=path)
    if found is None:
        where = "there is no such program" if os.sep in word else "it is not on PATH"
        raise ArmError(f"cannot start {word!r}: {where}, or it is not executable")
    return Path(found).absolute()


def _search_path(description: Description, values: Mapping[str, str]) -> str | None:
    """The PATH on which the tool is looked for; empty where it is another for every tree."""
    template = dict(description.env).get("PATH")
    return os.environ.get("PATH") if template is None else _fixed(template, values) or ""


def _named(
    description: Description, values: Mapping[str, str], search: str | None
) -> Iterator[tuple[Path, bool]]:
    """The programs that the commands start and the scripts that they name, and whether each is started."""
    for command in description.commands:
        for number, template in enumerate(command.argv):
            word = _fixed(template, values)
            if word is None:
                continue
            if number == 0:
                if os.sep in word or search != "":
                    yield find_program(word, search), True
            elif (script := _script(word, command, values)) is not None:
                yield script, False


def _with_code(path: Path, started: bool, search: str | None) -> Iterator[Path]:
    yield path
    yield from _interpreter(path, search) if started else code_beside(path)


def _fixed(template: Template, values: Mapping[str, str]) -> str | None:
    """The word where it is the same for every tree and query, else None."""
    return template.render(values) if template.fields <= _FIXED else None


def _script(word: str, command: Command, values: Mapping[str, str]) -> Path | None:
    """The file that ``word`` names, if it does; relative to where the command runs."""
    folder = Path()
    if command.dir is not None:
        known = _fixed(command.dir, values)
        if known is None:
            return None
        folder = Path(known)
    try:
        path = (folder / word).absolute()
        return path if path.is_file() else None
    except (OSError, ValueError):
        return None


def _interpreter(program: Path, search: str | None) -> Iterator[Path]:
    """The code around a script, and the programs that its first line names."""
    try:
        with program.open("rb") as file:
            line = file.readline(_SHEBANG)
    except OSError:
        return
    if line.startswith(b"#!"):
        yield from code_beside(program)
        for word in os.fsdecode(line[2:]).split():
            found = shutil.which(word, path=search)
            if found is not None:
                yield Path(found).absolute()


def _distributions(program: Path) -> list[Path]:
    """The Python distributions installed beside ``program``, named with their versions."""
    return sorted(program.parent.parent.glob("lib/python*/*-packages/*.dist-info"))


def _digest(path: Path) -> str:
    """The SHA-256 of a file."""
    try:
        status = path.stat()
        return _content_digest(str(path), status.st_size, status.st_mtime_ns, status.st_ino)
    except OSError as error:
        raise ArmError(f"{path} cannot be read: {error.strerror}") from error


@lru_cache(maxsize=4096)
def _content_digest(path: str, size: int, changed: int, number: int) -> str:
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
