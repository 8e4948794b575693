"""A release as ``.tar.zst``, read as a stream and never extracted whole.

An archive has a folder of its own in the run's scratch. Opening it streams until the samples have been seen;
chunk files come later, in one pass for all that are wanted, as rows of kind ``file`` alone, compressed again.
Every process of a run shares the folder: a lock lets one of them work, and files appear by being renamed.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import zstandard

from pytest_retrieval.errors import SnapshotError
from pytest_retrieval.snapshots.base import Tree
from pytest_retrieval.snapshots.chunkfile import copy_file_rows, read_chunk_file
from pytest_retrieval.snapshots.kept import UNKEPT, Identity, Keeper, file_identity
from pytest_retrieval.snapshots.locks import exclusive
from pytest_retrieval.snapshots.program import HEX
from pytest_retrieval.snapshots.tar import Member, TarReader
from pytest_retrieval.snapshots.zstd import open_plain_or_zstd
from pytest_retrieval.store.store import Store

ARCHIVE_FILE = "archive.json"
_SAMPLES_LIMIT = 256 << 20
_CHUNKS = ".chunks.jsonl"
_RELEASE = "release"


def open_archive(path: Path, scratch: Path, store: Store | None = None) -> Path:
    """The folder of the archive ``path`` below ``scratch``, with its samples in ``benchmark/<id>/*.jsonl``.

    The first process to ask streams the archive as far as needed; later ones find the folder ready. Samples
    that ``store`` holds are not read from the archive again.

    Raises:
        SnapshotError: the archive cannot be read, is damaged, or holds no samples.
    """
    name = hashlib.sha256(os.fsencode(path.resolve())).hexdigest()[:16]
    folder = scratch / f"archive-{name}"
    folder.mkdir(parents=True, exist_ok=True)
    with exclusive(folder / "lock"):
        if not (folder / ARCHIVE_FILE).is_file():
            kept = _restore_samples(path, folder, store)
            if kept is None:
                _extract_samples(path, folder)
                keep_samples(path, folder, store)
            about = {"path": str(path.resolve()), "shown": path.name, "members": (kept or {}).get("members")}
            _write_json(folder / ARCHIVE_FILE, about)
    return folder


def _restore_samples(path: Path, folder: Path, store: Store | None) -> dict[str, Any] | None:
    """Write the archive's samples below ``folder`` if ``store`` holds them, and return what else it knows.

    ``members`` are the names of all chunk files of the archive once it was imported.
    """
    identity = file_identity(path)
    payload = None if store is None or identity is None else store.record(_RELEASE, json.dumps(identity))
    if payload is None:
        return None
    head, _, texts = payload.partition(b"\n")
    about: dict[str, Any] = json.loads(head)
    start = 0
    for name, size in about["samples"]:
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(texts[start : start + size])
        start += size
    return about


def keep_samples(path: Path, folder: Path, store: Store | None, members: Sequence[str] | None = None) -> None:
    """Keep the samples below ``folder``; ``members`` names all chunk files once they have been imported."""
    identity = file_identity(path)
    if store is None or identity is None:
        return
    texts = {
        text.relative_to(folder).as_posix(): text.read_bytes()
        for text in sorted(folder.glob("benchmark/*/*.jsonl"))
    }
    about = {"samples": [(name, len(text)) for name, text in texts.items()], "members": members}
    payload = b"\n".join((json.dumps(about).encode(), b"".join(texts.values())))
    store.keep_record(_RELEASE, json.dumps(identity), payload)


def _extract_samples(path: Path, folder: Path) -> None:
    samples = SampleCopy(folder, path.name)
    for member in members(path):
        samples.take(member)
        if samples.complete:
            break
    samples.check()


class SampleCopy:
    """Copies the samples of the archive ``shown`` below ``folder``, whoever streams it and however far.

    They end at the first member of another kind behind them, where ``complete`` becomes true.
    """

    def __init__(self, folder: Path, shown: str) -> None:
        self.complete = False
        self._folder = folder
        self._shown = shown
        self._found = 0

    def take(self, member: Member) -> None:
        """Copy ``member`` to its place if it holds samples."""
        kind, parts = place(member.name)
        if self.complete or kind != "benchmark":
            self.complete = self._found > 0
        elif len(parts) == 2 and parts[1].endswith(".jsonl"):
            _copy_bounded(member, self._folder / kind / parts[0] / parts[1], self._shown)
            self._found += 1

    def check(self) -> None:
        """Raise SnapshotError if there were none."""
        if not self._found:
            raise SnapshotError(
                f"{self._shown}: no benchmark/<id>/*.jsonl in it; that is no release of the benchmark"
            )


def place(name: str) -> tuple[str, list[str]]:
    """Which part of a release a member belongs to, and its path there; one folder above is allowed."""
    parts = name.split("/")
    for depth in (0, 1):
        if len(parts) > depth + 1 and parts[depth] in {"benchmark", "corpus", "eval", "reports"}:
            return parts[depth], parts[depth + 1 :]
    return "", parts


def _copy_bounded(member: Member, target: Path, shown: str) -> None:
    if member.size > _SAMPLES_LIMIT:
        raise SnapshotError(f"{shown}: {member.name} is over {_SAMPLES_LIMIT >> 20} MiB")
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.open("wb") as writer:
        while piece := member.data.read(1 << 20):
            writer.write(piece)


def members(path: Path) -> Iterator[Member]:
    """The regular files of the archive ``path``, in their order."""
    with open_plain_or_zstd(path, path.name) as reader:
        yield from TarReader(reader, path.name)


class ArchiveCorpus:
    """The snapshots of an archive that :func:`open_archive` opened."""

    def __init__(self, folder: Path, store: Store | None = None) -> None:
        self.folder = folder
        self._store = store
        about = json.loads((folder / ARCHIVE_FILE).read_bytes())
        self._archive = Path(about["path"])
        self._shown = str(about["shown"])
        self._members: list[str] | None = about["members"]

    def expect(self, wanted: Iterable[tuple[str, str]]) -> None:
        """Narrow the first pass to the chunk files of these ``(repo, commit)``."""
        _write_json(self.folder / "wanted.json", sorted(_chunk_name(*pair) for pair in wanted))

    def find(self, repo: str, commit: str) -> str | None:
        """The chunk file of ``repo@commit``, extracted if the archive has it."""
        if not HEX.fullmatch(commit) or repo.count("/") != 1:
            return None
        name = _chunk_name(repo, commit)
        if self._members is not None and name not in self._members:
            return None
        if self._is_kept(name):
            return name
        self._find(name)
        return name if self._extracted(name).is_file() else None

    def read(self, source: str, commit: str, keeper: Keeper = UNKEPT) -> Tree:
        """The tree of a chunk file that :meth:`find` named."""

        def extracted() -> Tree:
            self._find(source)
            return read_chunk_file(self._extracted(source), f"{self._shown}: {source}")

        return keeper.read(lambda: member_identity(self._archive, source), extracted)

    def _is_kept(self, name: str) -> bool:
        return Keeper(self._store, repo_of(name)).knows(member_identity(self._archive, name))

    def _find(self, name: str) -> None:
        """Extract a chunk file, if the archive has it; the first time also those that a run will ask for."""
        if name not in self._asked():
            with exclusive(self.folder / "lock"):
                asked = self._asked()
                if name not in asked:
                    self._extract({name} if asked else {name, *self._unkept()}, asked)

    def _unkept(self) -> Iterator[str]:
        return (name for name in self._expected() if not self._is_kept(name))

    def _asked(self) -> Collection[str]:
        path = self.folder / "asked.json"
        return frozenset(json.loads(path.read_bytes())) if path.is_file() else frozenset()

    def _expected(self) -> set[str]:
        path = self.folder / "wanted.json"
        if path.is_file():
            return set(json.loads(path.read_bytes()))
        return set(_sampled(self.folder))

    def _extracted(self, name: str) -> Path:
        return self.folder / "corpus" / f"{name}.zst"

    def _extract(self, names: set[str], asked: Collection[str]) -> None:
        """One pass over the archive, which ends as soon as every one of ``names`` has been seen."""
        missing = {name for name in names if not self._extracted(name).is_file()}
        if missing:
            for member in members(self._archive):
                name = "/".join(member.name.split("/")[-2:])
                if name in missing and place(member.name)[0] == "corpus":
                    self._copy_rows(member, self._extracted(name))
                    missing.discard(name)
                if not missing:
                    break
        _write_json(self.folder / "asked.json", sorted({*asked, *names}))

    def _copy_rows(self, member: Member, target: Path) -> None:
        target.parent.mkdir(parents=True, exist_ok=True)
        partial = target.with_name(f"{target.name}.partial")
        compressor = zstandard.ZstdCompressor(level=1)
        with partial.open("wb") as plain, compressor.stream_writer(plain) as writer:
            copy_file_rows(member.data, writer, f"{self._shown}: {member.name}")
        partial.replace(target)


def member_identity(archive: Path, name: str) -> Identity | None:
    """The identity of the chunk file ``name`` (``OWNER__NAME/COMMIT.chunks.jsonl``) of an archive."""
    identity = file_identity(archive)
    return None if identity is None else (*identity, name)


def repo_of(name: str) -> str:
    """The repository that a chunk file is of."""
    return name.partition("/")[0].replace("__", "/", 1)


def _chunk_name(repo: str, commit: str) -> str:
    return f"{repo.replace('/', '__')}/{commit}{_CHUNKS}"


def _sampled(folder: Path) -> Iterator[str]:
    """The chunk file of every sample; a row that cannot be read is for the samples' loader to report."""
    for path in sorted(folder.glob("benchmark/*/*.jsonl")):
        with path.open("rb") as reader:
            for line in reader:
                row = _row(line)
                repo, commit = row.get("repo"), row.get("base_commit")
                if isinstance(repo, str) and isinstance(commit, str):
                    yield _chunk_name(repo, commit)


def _row(line: bytes) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return row if isinstance(row, dict) else {}


def member_shown(path: Path, scratch: Path) -> str | None:
    """``ARCHIVE/benchmark/…`` for what :func:`open_archive` put below ``scratch``; None for another path."""
    if not path.is_relative_to(scratch):
        return None
    folder, *inside = path.relative_to(scratch).parts
    about = scratch / folder / ARCHIVE_FILE
    if not about.is_file():
        return None
    return "/".join((json.loads(about.read_bytes())["shown"], *inside))


def _write_json(path: Path, value: object) -> None:
    """Write beside and rename: another process reads the old file or the new one."""
    partial = path.with_name(f"{path.name}.{os.getpid()}.partial")
    partial.write_text(json.dumps(value), encoding="utf-8")
    partial.replace(path)
