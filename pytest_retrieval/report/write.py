"""Files that matter are written beside themselves, synced and renamed: a reader sees the old or the new."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path

from pytest_retrieval.errors import ReportError
from pytest_retrieval.snapshots.paths import OWN_FOLDER

_NOT_SUPPORTED = {errno.EINVAL, errno.ENOTSUP}  # some file systems cannot sync a directory


def write_report(
    path: Path, chunks: Iterable[bytes], what: str = "the report", *, makes_folder: bool = False
) -> None:
    """Replace ``path`` by the joined ``chunks`` and one line feed, atomically and durably.

    A symbolic link is written through; the mode is what the umask gives; with ``makes_folder`` folders that
    are missing are made. Raises ReportError, naming the file by ``what`` it is, when it cannot be written;
    the old one is then still there, and no other file is left.
    """
    write_bytes(path, chain(chunks, [b"\n"]), what, makes_folder=makes_folder)


def write_bytes(path: Path, chunks: Iterable[bytes], what: str, *, makes_folder: bool = False) -> None:
    """As :func:`write_report`, with nothing after the ``chunks``."""
    with _explained(path, what):
        target = _target(path, what, makes_folder=makes_folder)
        if makes_folder:
            target.parent.mkdir(parents=True, exist_ok=True)
        temporary = target.with_name(f".{target.name}.{os.getpid()}.{secrets.token_hex(4)}.tmp")
        try:
            _fill(temporary, chunks)
            temporary.replace(target)
        except BaseException:
            with suppress(OSError):
                temporary.unlink()
            raise
        sync_folder(target.parent)


def check_writable(path: Path, what: str = "the report", *, makes_folder: bool = False) -> None:
    """Raise ReportError, one line, if :func:`write_report` could not write ``path``; leave nothing behind."""
    with _explained(path, what):
        target = _target(path, what, makes_folder=makes_folder)
        folder = target.parent
        while not folder.exists():
            folder = folder.parent
        probe = folder / f".{target.name}.{os.getpid()}.{secrets.token_hex(4)}.tmp"
        os.close(os.open(probe, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o666))
        probe.unlink()


def default_report(root: Path) -> Path:
    """``.retrieval/report.json`` under ``root``; the folder is made, with a ``.gitignore`` that hides it.

    Raises ReportError when the folder cannot be made.
    """
    folder = root / OWN_FOLDER
    with _explained(folder, "the report"):
        folder.mkdir(exist_ok=True)
        with suppress(FileExistsError), (folder / ".gitignore").open("x") as ignore:
            ignore.write("*\n")
    return folder / "report.json"


@contextmanager
def _explained(path: Path, what: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ReportError(f"cannot write {what} {path}: {error.strerror or error}") from error


def _target(path: Path, what: str, *, makes_folder: bool) -> Path:
    """The file that ``path`` names after links, which is absent or a regular file.

    Its folder is there, unless writing ``makes_folder``.
    """
    target = Path(os.path.realpath(path))
    try:
        mode = target.lstat().st_mode
    except FileNotFoundError:
        if not makes_folder and not target.parent.is_dir():
            raise ReportError(
                f"cannot write {what} {path}: there is no folder {target.parent}; make it first"
            ) from None
        return target
    if not stat.S_ISREG(mode):
        kind = "a folder" if stat.S_ISDIR(mode) else "not a regular file"
        raise ReportError(f"cannot write {what} {path}: it is {kind}")
    return target


def _fill(temporary: Path, chunks: Iterable[bytes]) -> None:
    descriptor = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o666)
    with os.fdopen(descriptor, "wb") as stream:
        for chunk in chunks:
            stream.write(chunk)
        stream.flush()
        os.fsync(stream.fileno())


def sync_folder(folder: Path) -> None:
    """Make the names in ``folder`` durable, where its file system can."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _NOT_SUPPORTED:
            raise
    finally:
        os.close(descriptor)
