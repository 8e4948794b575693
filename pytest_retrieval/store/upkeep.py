"""The store looked at from outside: its size and use, whether it is whole, and what may go."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pytest_retrieval.regular import open_regular
from pytest_retrieval.store.pack import PACK, Pack
from pytest_retrieval.store.sealed import TEMPORARY, DamagedError, open_kept, unseal
from pytest_retrieval.store.shelf import LOCK, held, remove

USES = ("contents asked", "contents found", "records asked", "records found")
RECORDS = (".tree", ".release")
_LOG = "uses.log"
_LOG_LIMIT = 1 << 20
_KEPT_AFTER_EVICTION = 0.9  # of the limit, so that not every run evicts
_ABANDONED = 3600.0  # seconds after which a half-written file belongs to nobody


@dataclass(frozen=True, slots=True)
class Kept:
    """A file of the store: its size and when it was last used."""

    path: Path
    size: int
    used: float


@dataclass(frozen=True, slots=True)
class Info:
    """What a store holds: files by kind, bytes, and the uses that runs have noted."""

    size: int
    files: Mapping[str, int]
    sizes: Mapping[str, int]
    uses: Mapping[str, int]


def kept(folder: Path) -> Iterator[Kept]:
    """Every pack and record below ``folder``; what is gone meanwhile is passed over."""
    for path in _files(folder):
        if path.suffix == PACK or path.suffix in RECORDS:
            with contextlib.suppress(OSError):
                found = path.lstat()
                yield Kept(path, found.st_size, found.st_mtime)


def other_layouts(folder: Path) -> list[Path]:
    """What other versions of this program keep beside ``folder``, which none but they read."""
    return [path for path in sorted(folder.parent.glob("v[0-9]*")) if path.is_dir() and path != folder]


def info(folder: Path) -> Info:
    """Count what is kept."""
    files: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    for entry in kept(folder):
        kind = entry.path.name.partition("-")[0] if entry.path.suffix == PACK else entry.path.suffix[1:]
        files[kind] += 1
        sizes[kind] += entry.size
    return Info(sizes.total(), files, sizes, _uses(folder))


def verify(folder: Path) -> Iterator[tuple[Path, str]]:
    """Read everything that is kept; each damaged file with what is wrong."""
    for entry in kept(folder):
        try:
            if entry.path.suffix == PACK:
                Pack(entry.path).check()
            else:
                with open_kept(entry.path) as file:
                    unseal(file, os.fstat(file.fileno()).st_size, entry.path.name)
        except DamagedError as error:
            yield entry.path, str(error)
        except FileNotFoundError:
            continue
        except OSError as error:
            yield entry.path, error.strerror or type(error).__name__


def evict(folder: Path, limit: int) -> int:
    """If more than ``limit`` bytes are kept, remove the longest unused files; the bytes that went.

    Packs whose shelf is open in any process stay, whatever the limit.
    """
    sweep(folder)
    entries = sorted(kept(folder), key=lambda entry: (entry.used, entry.path.name))
    total = sum(entry.size for entry in entries)
    if total <= limit:
        return 0
    goal, removed = int(limit * _KEPT_AFTER_EVICTION), 0
    with contextlib.ExitStack() as stack:
        free: dict[Path, bool] = {}
        for entry in entries:
            if total - removed <= goal:
                break
            shelf = entry.path.parent
            if shelf not in free:
                free[shelf] = _is_free(shelf, stack)
            if free[shelf] and remove(entry.path):
                removed += entry.size
    return removed


def sweep(folder: Path) -> None:
    """Remove what killed writers left half written."""
    for path in _files(folder):
        if path.suffix == TEMPORARY:
            with contextlib.suppress(OSError):
                if time.time() - path.stat().st_mtime > _ABANDONED:
                    path.unlink()


def clear(folder: Path) -> int:
    """Remove everything that is kept, and the folders that are then empty; the bytes that went."""
    removed = sum(entry.size for entry in list(kept(folder)) if remove(entry.path))
    for path in _files(folder):
        if path.name in {LOCK, _LOG} or path.suffix == TEMPORARY:
            remove(path)
    for place in [*(path for path in _entries(folder) if path.is_dir()), folder]:
        with contextlib.suppress(OSError):
            place.rmdir()
    return removed


def note_uses(folder: Path, uses: Mapping[str, int]) -> None:
    """Add one process's uses, where that is allowed; an append of a short line is whole."""
    if not any(uses.values()):
        return
    line = json.dumps(dict(uses)).encode() + b"\n"
    path = folder / _LOG
    if path.is_symlink() or not path.is_file():
        remove(path)
    with contextlib.suppress(OSError), path.open("ab", buffering=0) as log:
        if log.tell() > _LOG_LIMIT:
            log.truncate(0)
        log.write(line)


def _uses(folder: Path) -> Counter[str]:
    total: Counter[str] = Counter()
    with contextlib.suppress(OSError):
        with open_regular(folder / _LOG) as log:
            lines = log.read(2 * _LOG_LIMIT).splitlines()
        for line in lines:
            with contextlib.suppress(ValueError, RecursionError):
                noted = json.loads(line)
                if isinstance(noted, dict):
                    total.update({key: noted[key] for key in USES if isinstance(noted.get(key), int)})
    return total


def _is_free(shelf: Path, stack: contextlib.ExitStack) -> bool:
    """Whether no process has the shelf open; it is then held until ``stack`` unwinds."""
    try:
        descriptor = held(shelf, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    if descriptor is not None:
        stack.callback(os.close, descriptor)
    return True


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _files(folder: Path) -> Iterator[Path]:
    """Whatever lies directly below ``folder`` and its folders: a store is two levels deep."""
    for entry in _entries(folder):
        if entry.is_dir() and not entry.is_symlink():
            yield from _entries(entry)
        else:
            yield entry
