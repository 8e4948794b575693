"""What a registration says of the snapshots before any of them is built: where each comes from, how large.

Nothing is unpacked, and no content is read but that of a corpus's manifest. The digest of each tree is in the
report, once it was read. Texts are as the run was given them; no other path of the machine is told.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from pytest_retrieval.errors import SnapshotError
from pytest_retrieval.snapshots.archive import ARCHIVE_FILE
from pytest_retrieval.snapshots.corpus import MANIFEST, Corpus
from pytest_retrieval.snapshots.distribution import distribution_version
from pytest_retrieval.snapshots.paths import OWN_FOLDER
from pytest_retrieval.snapshots.program import git_directory
from pytest_retrieval.snapshots.sources import split_view


def bind_snapshots(
    names: Iterable[tuple[str, str]], explicit: Mapping[str, str], corpora: Sequence[str | Path]
) -> dict[str, dict[str, Any]]:
    """``{repo@commit: facts}`` of each ``(repo, commit)``, found as a catalog of the same sources finds it.

    Facts are the ``source`` relative to its corpus, or as given; the ``size`` in bytes of a chunk file, or of
    all regular files of a folder without ``.git`` and ``.retrieval``; the number of ``files`` of a folder;
    the ``version`` of a distribution. A commit of a clone needs no more than its name. What only an archive
    can hold has its name there and the ``archives`` that are searched. What nothing holds has no facts.
    """
    folders = [Corpus(place) for place in corpora if not _is_archive(place)]
    archives = [_archive(place)["shown"] for place in corpora if _is_archive(place)]
    return {
        f"{repo}@{commit}": _bind(repo, commit, explicit, folders, archives)
        for repo, commit in sorted(set(names))
    }


def bind_corpora(corpora: Mapping[str, str | Path]) -> list[dict[str, Any]]:
    """The ``source`` of each corpus, with the ``size`` of an archive or the ``manifest_sha256`` of a folder.

    ``corpora`` maps the text to show of each corpus to its place; an archive is shown by its file's name.
    """
    return [_bind_corpus(shown, place) for shown, place in corpora.items()]


def bound_places(
    sources: Iterable[str], corpora: Iterable[str | Path]
) -> tuple[list[tuple[str, Path]], list[Path]]:
    """The files, each with what it is, and the folders that named sources and corpora are read from.

    A repository whose commits are read is its Git directory; a distribution belongs to neither.
    """
    files, trees = [], []
    for place in corpora:
        if _is_archive(place):
            files.append(("the archive", Path(_archive(place)["path"])))
        else:
            trees.append(Path(split_view(str(place))[0]).absolute())
    for source in sources:
        path = _place_of(source)
        if path is None:
            continue
        if path.is_file():
            files.append(("the snapshot", path))
        else:
            trees.append(path)
    return files, trees


def _place_of(source: str) -> Path | None:
    if source.startswith("dist:"):
        return None
    if not source.startswith("git:"):
        return Path(source).absolute()
    with suppress(SnapshotError):
        return git_directory(Path(split_view(source.removeprefix("git:"))[0]).absolute())
    return None


def _bind(
    repo: str, commit: str, explicit: Mapping[str, str], folders: Sequence[Corpus], archives: Sequence[str]
) -> dict[str, Any]:
    named = explicit.get(f"{repo}@{commit}")
    if named is not None:
        return _facts(named, Path())
    for corpus in folders:
        # A corpus that says why it cannot serve a snapshot says so again when an item asks for it.
        with suppress(SnapshotError):
            source = corpus.find(repo, commit)
            if source is not None:
                return _facts(source, corpus.root)
    if archives:
        chunks = f"{repo.replace('/', '__')}/{commit}.chunks.jsonl"
        return {"source": chunks, "archives": list(archives)}
    return {}


def _facts(source: str, base: Path) -> dict[str, Any]:
    if source.startswith("git:"):
        return {"source": source}
    if source.startswith("dist:"):
        with suppress(SnapshotError):
            return {"source": source, "version": distribution_version(source.removeprefix("dist:"))}
        return {"source": source}
    return {"source": source, **_measured(base / source)}


def _measured(path: Path) -> dict[str, int]:
    if not path.exists():
        path = path.with_name(f"{path.name}.zst")
    try:
        if not path.is_dir():
            return {"size": path.stat().st_size}
        sizes = [size for folder in _folders(path) for size in _sizes(folder)]
    except OSError:
        return {}
    return {"files": len(sizes), "size": sum(sizes)}


def _folders(root: Path) -> Iterable[str]:
    for folder, inside, _ in os.walk(root):
        inside[:] = [name for name in inside if name not in (".git", OWN_FOLDER)]
        yield folder


def _sizes(folder: str) -> list[int]:
    with os.scandir(folder) as entries:
        return [
            entry.stat(follow_symlinks=False).st_size
            for entry in entries
            if entry.is_file(follow_symlinks=False) and entry.name != ".git"
        ]


def _bind_corpus(shown: str, place: str | Path) -> dict[str, Any]:
    if _is_archive(place):
        archive = _archive(place)
        with suppress(OSError):
            return {"source": archive["shown"], "size": Path(archive["path"]).stat().st_size}
        return {"source": archive["shown"]}
    manifest = Path(split_view(str(place))[0]) / MANIFEST
    if not manifest.is_file():
        return {"source": shown}
    with manifest.open("rb") as file:
        return {"source": shown, "manifest_sha256": hashlib.file_digest(file, "sha256").hexdigest()}


def _is_archive(place: str | Path) -> bool:
    return (Path(place) / ARCHIVE_FILE).is_file()


def _archive(place: str | Path) -> dict[str, Any]:
    about: dict[str, Any] = json.loads((Path(place) / ARCHIVE_FILE).read_bytes())
    return about
