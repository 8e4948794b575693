"""An installed distribution: the files of its RECORD, so every install of one version is one tree."""

from __future__ import annotations

import csv
import hashlib
import json
from collections import Counter
from importlib import metadata
from pathlib import Path, PurePosixPath

from pytest_retrieval.errors import SnapshotError
from pytest_retrieval.snapshots.base import Tree
from pytest_retrieval.snapshots.directory import DirectoryContents, measure
from pytest_retrieval.snapshots.kept import UNKEPT, Identity, Keeper
from pytest_retrieval.snapshots.paths import is_safe


def read_distribution(name: str, keeper: Keeper = UNKEPT) -> Tree:
    """The tree of the distribution ``name``: its RECORD without metadata, byte code and what leaves the site.

    Raises:
        SnapshotError: it is not installed, has no RECORD, or a recorded file cannot be read.
    """
    found = _distribution(name)
    _refuse_unrecorded(name, found)
    return keeper.read(lambda: _identity(name, found), lambda: _read(name, found))


def _identity(name: str, found: metadata.Distribution) -> Identity:
    """Name, version and RECORD, with size and time of every recorded file: one edited by hand is noticed."""
    root = Path(str(found.locate_file("")))
    whole = hashlib.sha256((found.read_text("RECORD") or "").encode("utf-8", "surrogateescape"))
    for path in _recorded(found):
        try:
            about = (root / path).lstat()
            whole.update(f"{about.st_size} {about.st_mtime_ns} {about.st_ino}\n".encode())
        except OSError:
            whole.update(b"absent\n")
    return ("dist", name, found.version, str(root), whole.hexdigest())


def _read(name: str, found: metadata.Distribution) -> Tree:
    root = Path(str(found.locate_file("")))
    dropped: Counter[str] = Counter()
    files = []
    for path in _recorded(found):
        reason = _left_out(root, path)
        if reason is not None:
            dropped[reason] += 1
            continue
        try:
            files.append(measure(root, path))
        except OSError as error:
            fault = f"dist:{name}: recorded file {path!r} cannot be read ({error.strerror})"
            raise SnapshotError(f"{fault}; install the distribution again") from error
    if not files:
        raise SnapshotError(
            f"dist:{name}: its RECORD lists no file of its own; an editable install cannot serve"
        )
    return Tree(tuple(files), DirectoryContents(root), "full", dropped=dropped, version=found.version)


def distribution_version(name: str) -> str:
    """The version of the installed distribution ``name``.

    Raises:
        SnapshotError: it is not installed.
    """
    return _distribution(name).version


def _distribution(name: str) -> metadata.Distribution:
    try:
        return metadata.distribution(name)
    except (metadata.PackageNotFoundError, ValueError) as error:
        raise SnapshotError(f"dist:{name}: not installed here; install it, or give another source") from error


def _refuse_unrecorded(name: str, found: metadata.Distribution) -> None:
    if found.read_text("RECORD") is None:
        raise SnapshotError(f"dist:{name}: the install has no RECORD; install it from a wheel")
    origin = json.loads(found.read_text("direct_url.json") or "{}")
    if origin.get("dir_info", {}).get("editable"):
        raise SnapshotError(f"dist:{name}: an editable install cannot serve; give its folder as the source")


def _recorded(found: metadata.Distribution) -> list[str]:
    """The paths of the RECORD, sorted; from Python 3.12 on ``files`` is silent about those that are gone."""
    rows = csv.reader((found.read_text("RECORD") or "").splitlines())
    return sorted({str(PurePosixPath(row[0])) for row in rows if row})


def _left_out(root: Path, path: str) -> str | None:
    top = path.partition("/")[0]
    if path.endswith((".pyc", ".pyo")) or "__pycache__" in path.split("/"):
        return "byte code"
    if top.endswith((".dist-info", ".egg-info")):
        return "metadata"
    if not is_safe(path):
        return "outside the site"
    return "symbolic link" if (root / path).is_symlink() else None
