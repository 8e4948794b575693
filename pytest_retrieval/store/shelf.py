"""The packs of one kind for one repository: what a neighbouring snapshot shares is found here."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from pytest_retrieval.store.pack import PACK, Block, Pack, Place, write_pack
from pytest_retrieval.store.sealed import DamagedError

LOCK = "lock"


class Shelf:
    """Things of one ``kind`` in ``folder`` by 32-byte key.

    While the shelf is open, a shared lock keeps its packs from being evicted. Packs that other processes
    add are seen at the next look. ``gave_up`` is told the error when the shelf cannot be written.
    """

    def __init__(self, folder: Path, kind: str, gave_up: Callable[[OSError], None]) -> None:
        self.folder = folder
        self.kind = kind
        self.asked = self.found = self.written = 0
        self._gave_up = gave_up
        self._packs: dict[str, Pack] = {}
        self._index: dict[bytes, tuple[Pack, int]] = {}
        self._used: set[str] = set()
        self._seen = 0
        self._lock: int | None = None

    def fetch(self, keys: Iterable[bytes]) -> Iterator[tuple[bytes, list[Place]]]:
        """Blocks that hold some of ``keys``, each with their places; what the store has not is left out."""
        wanted = list(keys)
        self.asked += len(wanted)
        for pack, rows in self._locate(wanted).items():
            for number, places in pack.places(rows).items():
                try:
                    data = pack.block(number)
                except (DamagedError, OSError) as error:
                    self._drop(pack, error)
                    break
                self.found += len(places)
                yield data, places

    def missing(self, keys: Iterable[bytes]) -> list[bytes]:
        """Those of ``keys`` that no pack holds."""
        wanted = list(keys)
        self._look(wanted)
        return [key for key in wanted if key not in self._index]

    def add(self, blocks: Iterable[Block]) -> None:
        """Keep ``blocks`` as a new pack; where that fails, nothing is kept."""
        try:
            self._hold()
            path, size = write_pack(self.folder, self.kind, blocks)
            self._take(path.name, Pack(path))
        except DamagedError:
            return
        except OSError as error:
            self._gave_up(error)
            return
        self.written += size

    def close(self) -> None:
        """Let go of the packs; harmless when repeated."""
        if self._lock is not None:
            os.close(self._lock)
        self._lock = None
        self._packs, self._index, self._seen = {}, {}, 0

    def _locate(self, keys: Sequence[bytes]) -> dict[Pack, list[int]]:
        self._look(keys)
        found: defaultdict[Pack, list[int]] = defaultdict(list)
        for key in keys:
            if key in self._index:
                pack, row = self._index[key]
                found[pack].append(row)
        for pack in found:
            self._touch(pack)
        return found

    def _look(self, keys: Iterable[bytes]) -> None:
        """Read the indexes of packs not seen before, if a key is unknown and the folder has changed."""
        if all(key in self._index for key in keys):
            return
        try:
            changed = self.folder.stat().st_mtime_ns
            if changed == self._seen:
                return
            self._hold()
            names = sorted(os.listdir(self.folder))  # noqa: PTH208  names are all that is needed, thousands
        except OSError:
            return
        self._seen = changed
        for name in names:
            if name.startswith(f"{self.kind}-") and name.endswith(PACK) and name not in self._packs:
                self._open(name)

    def _open(self, name: str) -> None:
        try:
            self._take(name, Pack(self.folder / name))
        except DamagedError:
            remove(self.folder / name)
        except OSError:
            return

    def _take(self, name: str, pack: Pack) -> None:
        self._packs[name] = pack
        self._index.update((key, (pack, row)) for row, key in enumerate(pack.keys))

    def _drop(self, pack: Pack, error: Exception) -> None:
        """Forget a pack that cannot be used; a damaged one is removed, so that it is made again."""
        if isinstance(error, DamagedError):
            remove(pack.path)
        for key in pack.keys:
            if self._index.get(key, (None, 0))[0] is pack:
                del self._index[key]
        self._packs.pop(pack.path.name, None)

    def _touch(self, pack: Pack) -> None:
        """Mark a pack as used now, once in this shelf's life; eviction starts with the longest unused."""
        if pack.path.name not in self._used:
            self._used.add(pack.path.name)
            touch(pack.path)

    def _hold(self) -> None:
        """Hold the folder's lock, shared."""
        if self._lock is None:
            self._lock = held(self.folder, fcntl.LOCK_SH)


def held(folder: Path, how: int) -> int | None:
    """A descriptor that holds the lock of ``folder``; None in a folder that cannot be written.

    Raises:
        BlockingIOError: it is held by another, and ``how`` does not wait.
        FileNotFoundError: there is no such folder.
    """
    try:
        descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except FileNotFoundError:
        raise
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, how)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def touch(path: Path) -> None:
    """Mark a file as used now, where that is allowed."""
    try:
        os.utime(path)
    except OSError:
        return


def remove(path: Path) -> bool:
    """Remove a file, or the folder in its place; whether it was there and is gone."""
    try:
        path.unlink()
    except IsADirectoryError:
        shutil.rmtree(path, ignore_errors=True)
        return not path.exists()
    except OSError:
        return False
    return True
