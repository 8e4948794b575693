"""Named baselines: reports that somebody accepted, with a reason, under ``.retrieval/baselines``.

``NAME.json`` is the report as it was accepted, byte for byte; ``NAME.accepted.json`` lists every acceptance
of that name, the last one being what stands there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from pytest_retrieval.errors import ReportError, UsageError, closest
from pytest_retrieval.regular import read_regular
from pytest_retrieval.report.canonical import encode
from pytest_retrieval.report.write import default_report, write_report
from pytest_retrieval.snapshots.paths import OWN_FOLDER

FOLDER = "baselines"
_NAME = re.compile(r"[A-Za-z0-9_.+-]+", re.ASCII)
_ACCEPTED = ".accepted.json"


def baseline_path(text: str, root: Path, base: Path) -> Path:
    """The file that ``--baseline`` names: a baseline under ``root``, else a path from ``base``."""
    if is_name(text):
        return root / OWN_FOLDER / FOLDER / f"{text}.json"
    return base / Path(text).expanduser()


def is_name(text: str) -> bool:
    """Whether ``text`` is a baseline's name and not a path: no slash, and not ``.json`` at the end."""
    return _NAME.fullmatch(text) is not None and not text.endswith(".json") and text.strip(".") != ""


def accept(report: Path, name: str, reason: str, root: Path) -> dict[str, Any]:
    """Keep ``report`` as the baseline ``name`` under ``root``; returns the entry of the list.

    Raises UsageError for a name or a reason that cannot be taken, ReportError where it cannot be written.
    """
    if not is_name(name):
        raise UsageError(f"--as {name!r}: a name is made of letters, digits and _.+- and is no path")
    if not reason.strip() or not reason.isprintable():
        raise UsageError("--reason must say in one line why this report is the baseline from now on")
    try:
        data = read_regular(report)
    except OSError as error:
        raise UsageError(f"cannot read the report {report}: {error.strerror or error}") from error
    folder = _folder(root)
    digest = sha256(data).hexdigest()
    entry = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "reason": reason.strip(),
        "report": str(report),
        "sha256": digest,
    }
    history = _history(folder / f"{name}{_ACCEPTED}")
    write_report(folder / f"{name}.json", [data.removesuffix(b"\n")])
    write_report(folder / f"{name}{_ACCEPTED}", [encode([*history, entry])])
    return entry


def accepted(root: Path) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Every named baseline with its acceptances, oldest first; by name."""
    folder = root / OWN_FOLDER / FOLDER
    for path in sorted(folder.glob(f"*{_ACCEPTED}")):
        yield path.name.removesuffix(_ACCEPTED), _history(path)


def check_accepted(path: Path, digest: str) -> None:
    """Refuse a named baseline whose file is no longer what was accepted; raises ReportError."""
    history = _history(path.with_name(f"{path.stem}{_ACCEPTED}"))
    if history and history[-1]["sha256"] != digest:
        raise ReportError(f"{path}: it is not the report that was accepted on {history[-1]['date']}")


def known_names(root: Path, text: str) -> str:
    """What to say of a baseline that is not there: the nearest of those that are."""
    names = [name for name, _ in accepted(root)]
    return f"{closest(text, names)}; known are {', '.join(names)}" if names else ""


def _folder(root: Path) -> Path:
    folder = default_report(root).parent / FOLDER
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise ReportError(f"cannot make the folder {folder}: {error.strerror or error}") from error
    return folder


def _history(path: Path) -> list[dict[str, Any]]:
    try:
        found = json.loads(read_regular(path))
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as error:
        raise ReportError(f"{path}: cannot be read: {error}") from error
    keys = ("date", "reason", "report", "sha256")
    if not isinstance(found, list) or not all(
        isinstance(entry, dict) and all(isinstance(entry.get(key), str) for key in keys) for entry in found
    ):
        raise ReportError(f"{path}: not a list of acceptances")
    return found
