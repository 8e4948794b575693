"""Atomic writes: every failure of every call leaves the old report or the new one, and nothing else."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_retrieval.errors import ReportError
from pytest_retrieval.report.write import check_writable, default_report, write_report

NEW = b"new\n"


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def test_chunks_are_joined_and_end_in_one_line_feed(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    write_report(path, iter([b'{"a":', b"1}"]))
    assert path.read_bytes() == b'{"a":1}\n'
    write_report(path, [b"{}"])
    assert path.read_bytes() == b"{}\n"
    assert names(tmp_path) == ["report.json"]


@pytest.mark.parametrize("umask", [0o022, 0o077])
def test_the_mode_is_what_the_umask_gives(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        write_report(tmp_path / "report.json", [])
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "report.json").stat().st_mode) == 0o666 & ~umask


@pytest.mark.parametrize("dangling", [False, True])
def test_a_link_is_written_through(tmp_path: Path, dangling: bool) -> None:
    (tmp_path / "real").mkdir()
    target, link = tmp_path / "real" / "r.json", tmp_path / "link.json"
    if not dangling:
        target.write_bytes(b"old\n")
    link.symlink_to(target)
    write_report(link, [b"new"])
    assert link.is_symlink()
    assert target.read_bytes() == NEW
    assert names(tmp_path / "real") == ["r.json"]


class Disk:
    """Fails the n-th of all watched calls; ``calls`` counts them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, fail_at: int) -> None:
        self.calls = 0
        self.fail_at = fail_at
        for name in ("open", "fsync", "replace"):
            monkeypatch.setattr(os, name, self.watched(getattr(os, name)))

    def watched(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def wrapper(*arguments: Any) -> Any:
            self.step()
            return call(*arguments)

        return wrapper

    def step(self) -> None:
        self.calls += 1
        if self.calls == self.fail_at:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def chunks(self) -> Iterator[bytes]:
        """The report's bytes; asking for a piece is a watched call, as a write that fails would be."""
        for piece in (b"ne", b"w"):
            self.step()
            yield piece


@pytest.mark.parametrize("old", [None, b"old\n"])
def test_the_nth_call_fails_for_every_n(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: bytes | None
) -> None:
    path = tmp_path / "report.json"
    failures = 0
    for fail_at in range(1, 20):
        if old is None:
            path.unlink(missing_ok=True)
        else:
            path.write_bytes(old)
        with monkeypatch.context() as patch:
            disk = Disk(patch, fail_at)
            try:
                write_report(path, disk.chunks())
            except ReportError as error:
                failures += 1
                assert str(error) == f"cannot write the report {path}: No space left on device"
        assert (path.read_bytes() if path.exists() else None) in (old, NEW)
        assert names(tmp_path) in ([], ["report.json"])
    # open, two pieces, fsync, replace, open and fsync of the folder
    assert failures == 7
    assert path.read_bytes() == NEW


def test_a_real_write_that_fails_leaves_the_old_report(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    signal = pytest.importorskip("signal")
    path = tmp_path / "report.json"
    path.write_bytes(b"old\n")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        with pytest.raises(ReportError, match="cannot write"):
            write_report(path, [b"x" * 60_000] * 4)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, handler)
    assert path.read_bytes() == b"old\n"
    assert names(tmp_path) == ["report.json"]


def test_an_interrupt_leaves_no_temporary(tmp_path: Path) -> None:
    def chunks() -> Iterator[bytes]:
        yield b"half"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_report(tmp_path / "report.json", chunks())
    assert names(tmp_path) == []


def test_a_folder_that_cannot_be_synced_is_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sync = os.fsync

    def refusing(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", refusing)
    write_report(tmp_path / "report.json", [b"new"])
    assert (tmp_path / "report.json").read_bytes() == NEW


def test_writable_leaves_nothing(tmp_path: Path) -> None:
    check_writable(tmp_path / "report.json")
    assert names(tmp_path) == []
    (tmp_path / "report.json").write_bytes(b"old\n")
    check_writable(tmp_path / "report.json")
    assert names(tmp_path) == ["report.json"]


def test_missing_folders_are_made_where_they_may_be(tmp_path: Path) -> None:
    path = tmp_path / "one" / "two" / "page.html"
    check_writable(path, makes_folder=True)
    assert names(tmp_path) == []
    write_report(path, [b"ne", b"w"], makes_folder=True)
    assert path.read_bytes() == NEW
    (tmp_path / "file").touch()
    with pytest.raises(ReportError, match=r"cannot write the page .*/file/two/page.html: Not a directory"):
        check_writable(tmp_path / "file" / "two" / "page.html", "the page", makes_folder=True)


def make_loop(folder: Path) -> Path:
    (folder / "a").symlink_to(folder / "b")
    (folder / "b").symlink_to(folder / "a")
    return folder / "a"


def make_fifo(folder: Path) -> Path:
    os.mkfifo(folder / "pipe")
    return folder / "pipe"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        (lambda folder: folder, "it is a folder"),
        (lambda folder: folder / "absent" / "r.json", "absent; make it first"),
        (make_fifo, "it is not a regular file"),
        (make_loop, "it is not a regular file"),
        (lambda folder: folder / ("n" * 300), "File name too long"),
        (lambda folder: Path("/dev/null"), "it is not a regular file"),
        (lambda folder: Path("/proc/r.json"), "cannot write the report /proc/r.json: "),
    ],
)
def test_what_cannot_be_written_is_refused_in_one_line(
    tmp_path: Path, name: Callable[[Path], Path], why: str
) -> None:
    path = name(tmp_path)
    with pytest.raises(ReportError) as caught:
        check_writable(path)
    assert why in str(caught.value)
    assert str(caught.value).startswith(f"cannot write the report {path}: ")
    assert "\n" not in str(caught.value)


def test_the_default_folder_hides_itself_from_git(tmp_path: Path) -> None:
    assert default_report(tmp_path) == tmp_path / ".retrieval" / "report.json"
    ignore = tmp_path / ".retrieval" / ".gitignore"
    assert ignore.read_text() == "*\n"
    ignore.write_text("mine\n")
    default_report(tmp_path)
    assert ignore.read_text() == "mine\n"


def test_a_default_folder_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / ".retrieval").write_text("")
    with pytest.raises(ReportError, match="File exists"):
        default_report(tmp_path)
