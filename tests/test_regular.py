"""Files that are opened only if they are some."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_retrieval.regular import is_named, open_regular, read_regular


def test_a_file_and_a_link_to_it(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"some\nlines\n")
    (tmp_path / "link").symlink_to("file")
    assert read_regular(tmp_path / "link") == b"some\nlines\n"
    with open_regular(tmp_path / "file", buffering=1 << 20) as file:
        assert list(file) == [b"some\n", b"lines\n"]


def nothing(path: Path) -> None:
    """Make nothing there."""


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (os.mkfifo, "it is a pipe; write what it gives to a file first"),
        (Path.mkdir, "Is a directory"),
        (lambda path: path.symlink_to("/dev/null"), "not a regular file"),
        (lambda path: path.symlink_to(path.name), "Too many levels of symbolic links"),
        (nothing, "No such file or directory"),
    ],
    ids=["pipe", "folder", "device", "loop", "missing"],
)
def test_what_is_no_file_is_said_at_once(tmp_path: Path, make: Callable[[Path], None], told: str) -> None:
    make(tmp_path / "odd")
    with pytest.raises(OSError, match=r".") as caught:
        read_regular(tmp_path / "odd")
    assert caught.value.strerror == told


def test_a_pipe_is_named_as_a_file_is(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "file").touch()
    found = [is_named(tmp_path / name) for name in ("pipe", "file", "missing", ".")]
    assert found == [True, True, False, False]
