"""The run's private temporary root, and the sweep of roots whose run was killed.

A root is ``TMP/pytest-retrieval-UID/run-PID-RANDOM``. Beside it lies ``run-PID-RANDOM.lock``, on which every
process of the run holds a shared OS lock; the system lets go of it when they die, however they die. Whoever
gets the lock exclusively may remove the root. The folder around them goes with the last of them.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from pytest_retrieval.errors import RetrievalError

_LOCK = ".lock"
_held: set[int] = set()  # descriptors of the locks of this process


class ScratchError(RetrievalError):
    """The temporary root cannot be made, or is not private."""


def private_base() -> Path:
    """The folder of this user that holds all roots; not created here."""
    return Path(tempfile.gettempdir()) / f"pytest-retrieval-{os.getuid()}"


class RunFolder:
    """A temporary root that this process has entered; several processes may share one."""

    def __init__(self, path: Path, lock: int) -> None:
        self.path = path
        self._lock: int | None = lock

    @staticmethod
    def name_only() -> Path:
        """A path for a new root; nothing is created."""
        return private_base() / f"run-{os.getpid()}-{os.urandom(6).hex()}"

    @classmethod
    def enter(cls, path: Path) -> RunFolder:
        """Create the root ``path`` unless it exists, and keep it from being swept until :meth:`close`.

        Raises:
            ScratchError: the folder cannot be made, is a link, or belongs to another user.
        """
        try:
            lock = hold(_lock_path(path), fcntl.LOCK_SH)
            try:
                _make_private(path)
            except BaseException:
                _unlock(lock)
                raise
        except OSError as error:
            raise ScratchError(f"{path}: no temporary folder can be made there ({error.strerror})") from error
        return cls(path, lock)

    def close(self) -> None:
        """Let go of the root; whoever sweeps next may remove it. Harmless when repeated."""
        if self._lock is not None:
            _unlock(self._lock)
            self._lock = None

    def remove(self) -> None:
        """Let go, and remove the root unless another process of the run still holds it."""
        self.close()
        _remove_unheld(_lock_path(self.path))
        _leave(self.path.parent)


def sweep() -> int:
    """Remove everything of this user that nobody holds; how many roots and locks were removed."""
    base = private_base()
    try:
        _check_private(base)
        names = sorted(base.glob(f"*{_LOCK}"))
    except (OSError, ScratchError):
        return 0
    removed = sum(_remove_unheld(lock) for lock in names)
    _leave(base)
    return removed


def hold(path: Path, mode: int) -> int:
    """A descriptor that locks the file ``path`` of the private base, which is made, in the ``mode`` of flock.

    Raises:
        BlockingIOError: ``mode`` has LOCK_NB and another process holds the file.
        ScratchError: the base is a link, or belongs to another user.
    """
    while True:
        _make_private(path.parent)
        try:
            descriptor = _open_lock(path, os.O_CREAT)
        except FileNotFoundError:  # the last run left at this moment and took the base along
            continue
        try:
            fcntl.flock(descriptor, mode)
        except BaseException:
            os.close(descriptor)
            raise
        if _is_current(descriptor, path):
            _held.add(descriptor)
            return descriptor
        os.close(descriptor)


def let_go(path: Path, descriptor: int) -> None:
    """Remove a file that :func:`hold` locked exclusively, and let go of it."""
    path.unlink(missing_ok=True)
    _unlock(descriptor)
    _leave(path.parent)


def _unlock(descriptor: int) -> None:
    _held.discard(descriptor)
    os.close(descriptor)


def _disown() -> None:
    """Close the locks in a forked child: one that outlives the run must not hold its folder."""
    while _held:
        os.close(_held.pop())


os.register_at_fork(after_in_child=_disown)


@contextlib.contextmanager
def passing_folder(scratch: Path, prefix: str) -> Iterator[Path]:
    """A new folder in ``scratch`` that goes at the end, also where a program made parts of it unreadable."""
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=scratch))
    try:
        yield folder
    finally:
        remove_tree(folder)


def remove_tree(root: Path) -> None:
    """Remove ``root`` and all in it that can be removed, also below folders without permissions."""
    shutil.rmtree(root, ignore_errors=True)
    if not root.is_dir():
        return
    with contextlib.suppress(OSError):
        root.chmod(0o700)
    for place, folders, _ in os.walk(root):
        for folder in map(Path(place).joinpath, folders):
            if not folder.is_symlink():
                with contextlib.suppress(OSError):
                    folder.chmod(0o700)
    shutil.rmtree(root, ignore_errors=True)


def _leave(base: Path) -> None:
    """Remove the folder of all roots if it is empty."""
    with contextlib.suppress(OSError):
        base.rmdir()


def _lock_path(path: Path) -> Path:
    return path.with_name(path.name + _LOCK)


def _make_private(path: Path) -> None:
    while True:
        with contextlib.suppress(FileExistsError):
            path.mkdir(mode=0o700)
        try:
            return _check_private(path)
        except FileNotFoundError:  # another run removed it between the two
            continue


def _check_private(path: Path) -> None:
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode):
        raise ScratchError(f"{path}: is no folder (a link is not followed); remove it, or set TMPDIR")
    if found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise ScratchError(f"{path}: is not private to this user; remove it, or set TMPDIR")


def _open_lock(path: Path, flags: int) -> int:
    return os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC | flags, 0o600)


def _is_current(descriptor: int, path: Path) -> bool:
    """Whether ``path`` still names the opened file: a sweeper may have removed it before the lock was had."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    except FileNotFoundError:
        return False


def _remove_unheld(lock: Path) -> bool:
    """Remove the root of ``lock`` if nobody holds it; the lock file goes last, under the lock.

    A root that cannot be removed keeps its lock file, so that a later sweep tries again.
    """
    try:
        descriptor = _open_lock(lock, 0)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not _is_current(descriptor, lock):
            return False
        root = lock.with_name(lock.name.removesuffix(_LOCK))
        remove_tree(root)
        if root.exists():
            return False
        lock.unlink(missing_ok=True)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True
