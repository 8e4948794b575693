"""Where a context capture may go: a new file, reached through no link, outside of everything that is read."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_retrieval.errors import ReportError, UsageError
from pytest_retrieval.report.distinct import resolve_target

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC

Inode = tuple[int, int]  # device and number


@dataclass(frozen=True, slots=True)
class CapturePlace:
    """The destination ``path`` of a capture and what it must stay clear of.

    ``files`` are the samples files, the registration and the report, each with what it is; ``trees`` the
    folders of corpora and snapshots, and files among them.
    """

    path: Path
    files: Sequence[tuple[str, Path]]
    trees: Sequence[Path]

    @classmethod
    def of(cls, path: Path, *, files: Iterable[tuple[str, Path]], trees: Iterable[Path]) -> CapturePlace:
        """The place at ``path``, made absolute; nothing is looked at."""
        return cls(Path(os.path.abspath(path)), tuple(files), tuple(trees))  # noqa: PTH100

    def check(self) -> None:
        """Refuse a destination that exists, that a link leads to, or that is or lies in an input.

        Raises:
            UsageError: with why.
        """
        folders = self._folders()
        for what, path in self.files:
            if resolve_target(path) == self.path:
                raise self._refusal(f"it is {what} {path}")
        for tree in self.trees:
            resolved = Path(os.path.realpath(tree))
            if self.path.is_relative_to(resolved) or inode(tree) in folders:
                raise self._refusal(f"it lies in {tree}, which the run reads")

    def create(self) -> int:
        """Create the file, for this user alone, and return a descriptor to write it.

        The folder is held open while the place is checked once more, and the file is made in that very
        folder: one that is exchanged in between is noticed, and then nothing is made anywhere.

        Raises:
            UsageError: the place is refused.
            ReportError: the file cannot be made.
        """
        try:
            folder = os.open(self.path.parent, _FOLDER)
            try:
                self.check()
                if _inode(os.fstat(folder)) != inode(self.path.parent):
                    raise self._refusal("its folder was exchanged")
                return self._new(folder)
            finally:
                os.close(folder)
        except OSError as error:
            raise ReportError(f"cannot write the capture {self.path}: {error.strerror}") from error

    def _new(self, folder: int) -> int:
        descriptor = os.open(self.path.name, _NEW, 0o600, dir_fd=folder)
        own = _inode(os.fstat(descriptor))
        for what, path in self.files:
            if inode(path) == own:
                os.close(descriptor)
                os.unlink(self.path.name, dir_fd=folder)
                raise self._refusal(f"it became {what} {path}")
        os.fsync(folder)
        return descriptor

    def _folders(self) -> set[Inode]:
        """The inodes of the folders above the destination, all of which are there and none a link."""
        found = set()
        for component, mode, number in self._components():
            if stat.S_ISLNK(mode):
                raise self._refusal(self._through(component))
            if component == self.path:
                raise self._refusal("it exists, and is never replaced; name a new file")
            found.add(number)
        return found

    def _components(self) -> Iterator[tuple[Path, int, Inode]]:
        """Each folder above the destination from the root on, and the destination itself if it is there."""
        for component in (*reversed(self.path.parents), self.path):
            try:
                status = component.lstat()
            except OSError as error:
                if component == self.path and isinstance(error, FileNotFoundError):
                    return
                raise self._refusal(f"{component}: {error.strerror}") from error
            yield component, status.st_mode, _inode(status)

    def _through(self, link: Path) -> str:
        if link == self.path:
            return "it is a symbolic link; name a new file"
        direct = Path(os.path.realpath(self.path.parent)) / self.path.name
        return (
            f"{link} is a symbolic link, as /tmp is on some systems, and no capture is written through one;"
            f" write {direct}"
        )

    def _refusal(self, why: str) -> UsageError:
        return UsageError(f"--retrieval-context-packets {self.path}: {why}")


def inode(path: Path) -> Inode | None:
    """The inode that ``path`` leads to, or None."""
    try:
        return _inode(path.stat())
    except OSError:
        return None


def _inode(status: os.stat_result) -> Inode:
    return status.st_dev, status.st_ino
