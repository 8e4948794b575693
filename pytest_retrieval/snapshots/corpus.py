"""A folder of snapshots: chunk files of a release, clones, or plain folders."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from pytest_retrieval.errors import SnapshotError
from pytest_retrieval.regular import is_named
from pytest_retrieval.snapshots.base import Tree
from pytest_retrieval.snapshots.kept import UNKEPT, Keeper
from pytest_retrieval.snapshots.paths import is_safe
from pytest_retrieval.snapshots.program import HEX
from pytest_retrieval.snapshots.sources import read_source, split_view

MANIFEST = "corpus_manifest.jsonl"
_MANIFEST_LIMIT = 64 << 20
_REPO = re.compile(r"(?!\.)[A-Za-z0-9_.-]+/(?!\.)[A-Za-z0-9_.-]+")


class Library(Protocol):
    """Anything that may hold the snapshot of a ``repo@commit``."""

    def find(self, repo: str, commit: str) -> str | None:
        """The source of that snapshot, relative to the library, or None."""

    def read(self, source: str, commit: str, keeper: Keeper = UNKEPT) -> Tree:
        """The tree of a source that :meth:`find` named."""


class Corpus:
    """The folder ``DIR`` or ``DIR?view=arb``, as typed after ``--corpus``.

    Searched in this order: a manifest row with a ``source``, a chunk file, a clone (read at the commit
    through ``view``), and the one folder whose name holds the repository's name and 12 digits of the commit.
    """

    def __init__(self, place: str | Path) -> None:
        folder, view = split_view(str(place))
        self.root = Path(folder)
        self.view = view or "full"
        if not self.root.is_dir():
            raise SnapshotError(f"--corpus {folder}: no such folder")

    def find(self, repo: str, commit: str) -> str | None:
        """The source of ``repo@commit``, relative to this folder, or None.

        Raises:
            SnapshotError: several folders fit, or the manifest says that the commit is missing.
        """
        row = self._manifest.get((repo, commit), {})
        if isinstance(row.get("source"), str):
            return str(row["source"])
        if not HEX.fullmatch(commit) or not _REPO.fullmatch(repo):
            return None
        found = self._chunk_file(repo, commit, row) or self._clone(repo) or self._folder(repo, commit)
        if found is None and row.get("status") == "missing_commit":
            raise SnapshotError(f"{repo}@{commit}: the corpus says that its builder did not find this commit")
        return found

    @property
    def labels(self) -> frozenset[str]:
        """The commits that the manifest names with a source of their own; they need not be hexadecimal."""
        return frozenset(
            commit for (_, commit), row in self._manifest.items() if isinstance(row.get("source"), str)
        )

    def read(self, source: str, commit: str, keeper: Keeper = UNKEPT) -> Tree:
        """The tree of a source that :meth:`find` named."""
        compressed = self.root / f"{source}.zst"
        if source.endswith(".chunks.jsonl") and not is_named(self.root / source) and is_named(compressed):
            source += ".zst"
        return read_source(source, commit, self.root, keeper)

    def size(self, repo: str, commit: str) -> int:
        """The bytes of the chunk file of ``repo@commit``, 0 if there is none."""
        if not HEX.fullmatch(commit) or not _REPO.fullmatch(repo):
            return 0
        usual = self.root / repo.replace("/", "__") / f"{commit}.chunks.jsonl"
        for path in (usual, usual.with_name(f"{usual.name}.zst")):
            with suppress(OSError):
                return path.stat().st_size
        return 0

    def _chunk_file(self, repo: str, commit: str, row: Mapping[str, Any]) -> str | None:
        named = row.get("chunks_path")
        usual = f"{repo.replace('/', '__')}/{commit}.chunks.jsonl"
        for place in (named if isinstance(named, str) and is_safe(named) else usual, usual):
            plain = place.removesuffix(".zst")
            if is_named(self.root / plain) or is_named(self.root / f"{plain}.zst"):
                return plain
        return None

    def _clone(self, repo: str) -> str | None:
        flat = repo.replace("/", "__")
        for name in (repo, f"{repo}.git", f"{flat}.git", flat):
            path = self.root / name
            if (path / ".git").exists() or ((path / "HEAD").is_file() and (path / "objects").is_dir()):
                return f"git:{name}" if self.view == "full" else f"git:{name}?view={self.view}"
        return None

    def _folder(self, repo: str, commit: str) -> str | None:
        name, short = repo.rpartition("/")[2], commit[:12]
        fits = sorted(
            f.name for f in self.root.iterdir() if name in f.name and short in f.name and f.is_dir()
        )
        if len(fits) > 1:
            fault = f"{len(fits)} folders of the corpus hold {name!r} and {short!r} in their names"
            raise SnapshotError(f"{repo}@{commit}: {fault}; name one with --snapshot {repo}@{commit}=SOURCE")
        return fits[0] if fits else None

    @cached_property
    def _manifest(self) -> dict[tuple[str, str], dict[str, Any]]:
        return {(str(row.get("repo")), str(row.get("base_commit"))): row for row in self._manifest_rows()}

    def _manifest_rows(self) -> Iterator[dict[str, Any]]:
        path = self.root / MANIFEST
        if not path.is_file():
            return
        if path.stat().st_size > _MANIFEST_LIMIT:
            raise SnapshotError(f"{path}: over {_MANIFEST_LIMIT >> 20} MiB, that is no corpus manifest")
        for number, line in enumerate(path.read_bytes().split(b"\n"), 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise SnapshotError(f"{path}:{number}: not JSON") from error
            if not isinstance(row, dict):
                raise SnapshotError(f"{path}:{number}: the row is no JSON object")
            yield row
