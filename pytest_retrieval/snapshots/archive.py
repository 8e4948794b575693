"""A release as ``.tar.zst``, read as a stream and never extracted whole.

An archive has a folder of its own in the run's scratch. Opening it streams until the samples have been seen;
chunk files come later, in one pass for all that are wanted, as rows of kind ``file`` alone, compressed again.
Every process of a run shares the folder: a lock lets one of them work, and files appear by being renamed.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

import zstandard

from pytest_retrieval.errors import SnapshotError
from pytest_retrieval.snapshots.base import Tree
from pytest_retrieval.snapshots.chunkfile import copy_file_rows, read_chunk_file
from pytest_retrieval.snapshots.locks import exclusive
from pytest_retrieval.snapshots.program import HEX
from pytest_retrieval.snapshots.tar import Member, TarReader
from pytest_retrieval.snapshots.zstd import open_plain_or_zstd

ARCHIVE_FILE = "archive.json"
_SAMPLES_LIMIT = 256 << 20
_CHUNKS = ".chunks.jsonl"


def open_archive(path: Path, scratch: Path) -> Path:
    """The folder of the archive ``path`` below ``scratch``, with its samples in ``benchmark/<id>/*.jsonl``.

    The first process to ask streams the archive as far as needed; later ones find the folder ready.

    Raises:
        SnapshotError: the archive cannot be read, is damaged, or holds no samples.
    """
    name = hashlib.sha256(os.fsencode(path.resolve())).hexdigest()[:16]
    folder = scratch / f"archive-{name}"
    folder.mkdir(parents=True, exist_ok=True)
    with exclusive(folder / "lock"):
        if not (folder / ARCHIVE_FILE).is_file():
            _extract_samples(path, folder)
            _write_json(folder / ARCHIVE_FILE, {"path": str(path.resolve()), "shown": path.name})
    return folder


def _extract_samples(path: Path, folder: Path) -> None:
    found = 0
    for member in _members(path):
        kind, parts = _place(member.name)
        if kind == "benchmark" and len(parts) == 2 and parts[1].endswith(".jsonl"):
            _copy_bounded(member, folder / "benchmark" / parts[0] / parts[1], path.name)
            found += 1
        elif found and kind != "benchmark":
            break
    if not found:
        raise SnapshotError(
            f"{path.name}: no benchmark/<id>/*.jsonl in it; that is no release of the benchmark"
        )


def _place(name: str) -> tuple[str, list[str]]:
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


def _members(path: Path) -> Iterator[Member]:
    with open_plain_or_zstd(path, path.name) as reader:
        yield from TarReader(reader, path.name)


class ArchiveCorpus:
    """The snapshots of an archive that :func:`open_archive` opened."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        about = json.loads((folder / ARCHIVE_FILE).read_bytes())
        self._archive = Path(about["path"])
        self._shown = str(about["shown"])

    def expect(self, wanted: Iterable[tuple[str, str]]) -> None:
        """Narrow the first pass to the chunk files of these ``(repo, commit)``."""
        _write_json(self.folder / "wanted.json", sorted(_chunk_name(*pair) for pair in wanted))

    def find(self, repo: str, commit: str) -> str | None:
        """The chunk file of ``repo@commit``, extracted if the archive has it."""
        if not HEX.fullmatch(commit) or repo.count("/") != 1:
            return None
        name = _chunk_name(repo, commit)
        if name not in self._asked():
            with exclusive(self.folder / "lock"):
                asked = self._asked()
                if name not in asked:
                    self._extract({name} if asked else {name, *self._expected()}, asked)
        return name if self._extracted(name).is_file() else None

    def read(self, source: str, commit: str) -> Tree:
        """The tree of a chunk file that :meth:`find` named."""
        return read_chunk_file(self._extracted(source), f"{self._shown}: {source}")

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
            for member in _members(self._archive):
                name = "/".join(member.name.split("/")[-2:])
                if name in missing and _place(member.name)[0] == "corpus":
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


def _write_json(path: Path, value: object) -> None:
    """Write beside and rename: another process reads the old file or the new one."""
    partial = path.with_name(f"{path.name}.{os.getpid()}.partial")
    partial.write_text(json.dumps(value), encoding="utf-8")
    partial.replace(path)
