"""A release into the store, in one pass: afterwards it is judged without being read or extracted.

Archives are read here, member by member; what is in a chunk file is hashed, counted and compressed by other
processes, one for each core. All snapshots of a repository go to the same one, for they share their texts.
"""

from __future__ import annotations

import io
import os
import signal
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from multiprocessing import connection, get_context, parent_process
from pathlib import Path

from pytest_retrieval.datasets.release import find_places
from pytest_retrieval.errors import UsageError
from pytest_retrieval.index.statistics import Statistics
from pytest_retrieval.snapshots import archive
from pytest_retrieval.snapshots.base import Snapshot, Tree
from pytest_retrieval.snapshots.chunkfile import copy_file_rows, read_chunk_file, read_rows
from pytest_retrieval.snapshots.kept import Identity, Keeper, file_identity
from pytest_retrieval.snapshots.scratch import RunFolder, sweep
from pytest_retrieval.snapshots.tar import TarReader
from pytest_retrieval.snapshots.zstd import ZstdReader, open_packed
from pytest_retrieval.store.store import Store

_WAITING = 3  # chunk files given to a process and not done: they are held in memory
_CHUNKS = (".chunks.jsonl", ".chunks.jsonl.zst")


@dataclass(frozen=True, slots=True)
class Chunks:
    """A chunk file: ``name`` is its ``OWNER__NAME/COMMIT.chunks.jsonl``, ``source`` its rows or its path."""

    name: str
    shown: str
    identity: Identity | None
    source: bytes | Path


@dataclass(slots=True)
class Progress:
    """How far an import is: snapshots and files kept, and how many bytes of the release are read."""

    size: int
    read: int = 0
    snapshots: int = 0
    files: int = 0


def import_release(root: Path, store: Store, tell: Callable[[Progress], None]) -> Progress:
    """Import the archives and the extracted releases at ``root``; ``tell`` hears of every step.

    Raises:
        UsageError: no release is there, or the store cannot be written.
        SnapshotError: an archive or a chunk file is damaged; what came before it is kept.
    """
    folders, archives = find_places(root)
    plain = sorted({path for folder in folders for path in _chunk_files(folder)})
    store.check()
    if not store.writable:
        raise UsageError(f"nothing can be imported: the store {store.root} cannot be written ({store.fault})")
    progress = Progress(sum(path.stat().st_size for path in (*archives, *plain)))
    with _Crew(store, progress, tell) as crew:
        for path in archives:
            _import_archive(path, store, crew)
        for path in plain:
            name = f"{path.parent.name}/{path.name.removesuffix('.zst')}"
            crew.give(Chunks(name, str(path), file_identity(path), path))
            progress.read += path.stat().st_size
    return progress


def _chunk_files(folder: Path) -> Iterator[Path]:
    return (path for path in folder.glob("corpus/*/*/*") if path.name.endswith(_CHUNKS))


def _import_archive(path: Path, store: Store, crew: _Crew) -> None:
    """Give out every chunk file of an archive; its samples are kept last, for they say that it is whole."""
    names = []
    before = crew.progress.read
    with (
        _scratch() as folder,
        open_packed(path, path.name) as packed,
        io.BufferedReader(ZstdReader(packed, path.name), 1 << 20) as reader,
    ):
        samples = archive.SampleCopy(folder, path.name)
        for member in TarReader(reader, path.name):
            samples.take(member)
            if archive.place(member.name)[0] == "corpus" and member.name.endswith(_CHUNKS[0]):
                rows = io.BytesIO()
                shown = f"{path.name}: {member.name}"
                copy_file_rows(member.data, rows, shown)
                names.append("/".join(member.name.split("/")[-2:]))
                identity = archive.member_identity(path, names[-1])
                crew.give(Chunks(names[-1], shown, identity, rows.getvalue()))
            crew.progress.read = before + packed.tell()
        crew.finish()
        samples.check()
        archive.keep_samples(path, folder, store, names)


@contextmanager
def _scratch() -> Iterator[Path]:
    """A folder for samples; one whose import was killed is removed by the next import or run."""
    sweep()
    folder = RunFolder.enter(RunFolder.name_only())
    try:
        yield folder.path
    finally:
        folder.remove()


class _Crew:
    """The processes that keep chunk files; each has its own repositories."""

    def __init__(self, store: Store, progress: Progress, tell: Callable[[Progress], None]) -> None:
        self.progress = progress
        self._store = store
        self._tell = tell
        self._stack = ExitStack()
        self._given: Counter[int] = Counter()
        self._of: dict[str, int] = {}
        self._pending: list[deque[Future[int]]] = []
        self._executors: list[ProcessPoolExecutor] = []

    def __enter__(self) -> _Crew:
        for _ in range(os.cpu_count() or 1):
            executor = ProcessPoolExecutor(1, get_context("spawn"), initializer=_start)
            self._stack.callback(executor.shutdown, cancel_futures=True)
            self._executors.append(executor)
            self._pending.append(deque())
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        with self._stack:
            if kind is None:
                self.finish()

    def give(self, chunks: Chunks) -> None:
        """Hand a chunk file to its repository's process; waits while that has enough to do."""
        repo = archive.repo_of(chunks.name)
        number = self._of.setdefault(repo, min(range(len(self._executors)), key=self._given.__getitem__))
        self._given[number] += len(chunks.source) if isinstance(chunks.source, bytes) else 1
        pending = self._pending[number]
        while len(pending) >= _WAITING:
            self._settle(pending)
        pending.append(self._executors[number].submit(keep, self._store.root, self._store.limit, chunks))

    def finish(self) -> None:
        """Wait until everything given is kept."""
        for pending in self._pending:
            while pending:
                self._settle(pending)

    def _settle(self, pending: deque[Future[int]]) -> None:
        self.progress.files += pending.popleft().result()
        self.progress.snapshots += 1
        self._tell(self.progress)


def keep(root: Path, limit: int, chunks: Chunks) -> int:
    """Read a chunk file through the store, count its words, and say how many files it has."""
    store, statistics = _bench(root, limit)
    repo = archive.repo_of(chunks.name)
    tree = Keeper(store, repo).read(lambda: chunks.identity, lambda: _read(chunks))
    snapshot = Snapshot(repo, "", chunks.name, tree, store=store)
    statistics.of(snapshot)
    snapshot.close()
    store.close()
    if not store.writable:
        raise UsageError(
            f"the store {root} cannot be written any more ({store.fault}); the import stops here"
        )
    return len(snapshot.files)


def _read(chunks: Chunks) -> Tree:
    if isinstance(chunks.source, Path):
        return read_chunk_file(chunks.source, chunks.shown)
    return read_rows(io.BytesIO(chunks.source), chunks.shown)


@cache
def _bench(root: Path, limit: int) -> tuple[Store, Statistics]:
    """What a process of the crew works with, made once."""
    return Store(root, limit), Statistics()


def _start() -> None:
    """Leave interrupts to the parent, and do not outlive it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)
