"""The registration and the report of one run must be two files, by whatever names."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from pytest_retrieval.errors import UsageError

MAX_LINKS = 40


def check_distinct(registration: Path, report: Path) -> None:
    """Refuse two paths that name one file, or that would name one once it is written.

    Called before anything is written, and again right before the report is: two spellings that only a file
    system takes for one name cannot be told apart before one of the files exists.

    Raises:
        UsageError: the paths are one file, or it cannot be told which file one of them is.
    """
    if resolve_target(registration) == resolve_target(report) or same_file(registration, report):
        raise UsageError(
            f"the registration {registration} and the report {report} must be distinct files; rename one"
        )


def resolve_target(path: Path) -> Path:
    """The file that writing to ``path`` would open, which need not exist; its folder must.

    Dangling links are followed to the name that would come into being, at most 40 of them.

    Raises:
        UsageError: a folder is missing or unreadable, or there are too many links.
    """
    current = path.absolute()
    try:
        for _ in range(MAX_LINKS + 1):
            with suppress(FileNotFoundError):
                return Path(os.path.realpath(current, strict=True))
            target = Path(os.path.realpath(current.parent, strict=True)) / current.name
            if not target.is_symlink():
                return target
            current = target.parent / target.readlink()
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.filename}: {error.strerror}") from error
    raise UsageError(f"{path} cannot be written: it leads through more than {MAX_LINKS} symbolic links")


def same_file(one: Path, other: Path) -> bool:
    """Whether both paths exist and are one file: hard links, and names that differ in case alone."""
    try:
        return one.samefile(other)
    except OSError:
        return False
