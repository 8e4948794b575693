"""Releases of Agent Retrieval Bench: one extracted, a data root of several, or ``.tar.zst`` archives."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pytest_retrieval.errors import UsageError
from pytest_retrieval.regular import is_named
from pytest_retrieval.snapshots.archive import ARCHIVE_FILE, open_archive
from pytest_retrieval.store.store import Store

_ARCHIVE_ENDINGS = (".tar.zst", ".tzst")
_MIXED = "selective_retrieval"
_ALL_SAMPLES = "samples.jsonl"


@dataclass(frozen=True, slots=True)
class Release:
    """One release: its samples files, and the folders that a catalog searches for its snapshots."""

    id: str
    samples: tuple[Path, ...]
    corpora: tuple[Path, ...]


def find_releases(root: Path, scratch: Path, store: Store | None = None) -> tuple[Release, ...]:
    """The releases at ``root``, sorted by id; archives are opened into ``scratch``, once per run, and not
    at all if ``store`` holds their samples.

    ``root`` is an archive, an extracted release, or a folder of either; the folders ``benchmark`` and
    ``corpus`` may also lie one level down. An archive whose release is also extracted is left alone. The
    mixed lists repeat samples of other releases, so they count only when nothing else is there.

    Raises:
        UsageError: nothing is there.
        SnapshotError: an archive cannot be read.
    """
    extracted, archives = find_places(root)
    tops = [*extracted, *(open_archive(path, scratch, store) for path in archives)]
    found: dict[str, Release] = {}
    for top in tops:
        for folder in sorted(_folders(top / "benchmark")):
            samples = _samples(folder)
            if samples and folder.name not in found:
                found[folder.name] = Release(folder.name, samples, _corpora(folder.name, top, tops))
    if not found:
        raise _nothing_at(root)
    plain = [name for name in sorted(found) if _MIXED not in name]
    return tuple(found[name] for name in plain or sorted(found))


def find_places(root: Path) -> tuple[list[Path], list[Path]]:
    """The extracted releases at ``root`` (folders that hold ``benchmark`` and ``corpus``) and the archives.

    Raises:
        UsageError: neither is there.
    """
    if is_named(root):
        return [], [root]
    places = (root, *sorted(_folders(root)))
    extracted = [folder for folder in places if (folder / "benchmark").is_dir()]
    known = {release.name for top in extracted for release in _folders(top / "benchmark")}
    archives = [
        path
        for folder in places
        for path in (sorted(folder.iterdir()) if folder.is_dir() else ())
        if path.name.endswith(_ARCHIVE_ENDINGS) and is_named(path) and not _is_extracted(path, known)
    ]
    if not extracted and not archives:
        raise _nothing_at(root)
    return extracted, archives


def _nothing_at(root: Path) -> UsageError:
    wanted = "benchmark/<id>/*.jsonl, or a .tar.zst that holds it"
    return UsageError(f"--release {root}: no release there; looked for {wanted}")


def _is_extracted(archive: Path, known: set[str]) -> bool:
    """Whether the release that an archive is named after is one of ``known``."""
    name = archive.name.removesuffix(".tar.zst").removesuffix(".tzst")
    return name.removeprefix("agent_retrieval_bench_") in known


def _folders(path: Path) -> list[Path]:
    return [entry for entry in path.iterdir() if entry.is_dir()] if path.is_dir() else []


def _samples(folder: Path) -> tuple[Path, ...]:
    whole = folder / _ALL_SAMPLES
    return (whole,) if whole.is_file() else tuple(sorted(folder.glob("*.jsonl")))


def _corpora(release: str, top: Path, tops: list[Path]) -> tuple[Path, ...]:
    """The release's own corpus first, then every other: mixed lists have none and share the others'."""
    own = top / "corpus" / release
    places = [own, *(place for other in tops for place in _searched(other))]
    return tuple(dict.fromkeys(place for place in places if place.is_dir()))


def _searched(top: Path) -> list[Path]:
    return [top] if (top / ARCHIVE_FILE).is_file() else sorted(_folders(top / "corpus"))
