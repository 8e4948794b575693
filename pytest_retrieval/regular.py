"""Reading files that users name: of a pipe by such a name nobody knows when, or whether, it will end."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO


def open_regular(path: Path, buffering: int = -1) -> BinaryIO:
    """The regular file at ``path`` for reading; links are followed, and nothing is waited for.

    Raises:
        OSError: it cannot be opened, or is no regular file; ``strerror`` says which.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return os.fdopen(descriptor, "rb", buffering)
    os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    told = (
        "it is a pipe; write what it gives to a file first" if stat.S_ISFIFO(mode) else "not a regular file"
    )
    raise OSError(errno.EINVAL, told, str(path))


def is_named(path: Path) -> bool:
    """Whether there is a file at ``path``, or a pipe, which whoever reads it will refuse in so many words."""
    return path.is_file() or path.is_fifo()


def read_regular(path: Path) -> bytes:
    """All bytes of the regular file at ``path``; raises OSError as :func:`open_regular` does."""
    with open_regular(path) as file:
        return file.read()
