"""The program of an agent: found once, before the run, and known by its content."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

from pytest_retrieval.errors import UsageError


def find_program(word: str, base: Path) -> Path:
    """The program ``word``: a path relative to ``base``, a name on PATH, or that of a file in ``base``.

    Raises:
        UsageError: there is none, or it is not executable.
    """
    place = Path(os.path.normpath(base / Path(word).expanduser())).absolute()
    named = shutil.which(word) if os.sep not in word else None
    found = Path(named).absolute() if named else place
    if not found.is_file():
        where = "no such file" if os.sep in word else "it is not on PATH"
        raise UsageError(f"agent program {word!r}: {where}")
    if not os.access(found, os.X_OK):
        raise UsageError(f"agent program {word!r} is not executable; chmod +x it")
    return found


def digest_of(program: Path) -> str:
    """The SHA-256 of a program's file, or of a script that it is given.

    Raises:
        UsageError: it cannot be read.
    """
    try:
        with program.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise UsageError(f"agent program {program}: cannot be read: {error.strerror}") from error
