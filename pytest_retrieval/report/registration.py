"""What a run is, written down before it asks anything: the report's ``registration`` and the file beside it.

A run whose registration differs is a different run. The file is made once and never replaced; it survives
whatever becomes of the run.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pytest_retrieval.datasets.folds import FOLD_MAP_SHA256
from pytest_retrieval.errors import ReportError
from pytest_retrieval.regular import read_regular
from pytest_retrieval.report.corvint import ARMS
from pytest_retrieval.report.escaped import escaped_json
from pytest_retrieval.report.fingerprint import Fingerprint
from pytest_retrieval.report.write import sync_folder

SUFFIX = ".registration.json"


def registration(
    *,
    samples: Sequence[str],
    arms: Iterable[str],
    limit: int,
    max_samples: int | None,
    sample_ids: Sequence[str],
    snapshot_latency: bool,
    fingerprint: Fingerprint,
    alternate: bool = False,
    corpora: Sequence[Mapping[str, Any]] = (),
    snapshots: Mapping[str, Mapping[str, Any]] | None = None,
) -> dict[str, Any]:
    """The report's section ``registration`` of a run that is about to start.

    ``samples`` are the SHA-256 of the samples files in the order of the report, each over the whole file;
    ``sample_ids`` the chosen samples in the same order. ``arms`` are labels: those of the original come first
    and in its order. ``alternate`` tells that every other sample's matched calls begin with the store.
    ``corpora`` and ``snapshots`` are what :mod:`pytest_retrieval.report.binding` gives.
    Nothing here tells the time: two runs over the same inputs have equal sections.
    """
    labels = list(arms)
    known = [label for label in ARMS if label in labels]
    return {
        "arms": known + [label for label in labels if label not in known],
        "bench_sha256": fingerprint.bench,
        "corpora": [dict(corpus) for corpus in corpora],
        "corvint_sha256": fingerprint.program,
        "corvint_version": fingerprint.program_version,
        "environment": list(fingerprint.environment),
        "fold_map_sha256": FOLD_MAP_SHA256,
        "further_environment": dict(fingerprint.further_environment),
        "limit": limit,
        "max_samples": max_samples or 0,
        "sample_ids": list(sample_ids),
        "samples_sha256": samples[0] if len(samples) == 1 else list(samples),
        "snapshot_latency": snapshot_latency,
        **({"latency_order": "alternate"} if alternate else {}),
        "snapshots": {name: dict(facts) for name, facts in (snapshots or {}).items()},
    }


def stamped(section: Mapping[str, Any], nanoseconds: int | None = None) -> dict[str, Any]:
    """``section`` with ``registered_at``, for a sidecar and its report.

    That key takes no part in comparing reports. ``nanoseconds`` is the time since the epoch, now by default.
    """
    moment = time.time_ns() if nanoseconds is None else nanoseconds
    return {**section, "registered_at": timestamp(moment)}


def timestamp(nanoseconds: int) -> str:
    """A time since the epoch in UTC, as RFC 3339 with no more digits than it needs."""
    seconds, rest = divmod(nanoseconds, 1_000_000_000)
    whole = datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    fraction = f".{rest:09d}".rstrip("0").rstrip(".")
    return f"{whole}{fraction}Z"


def sidecar_path(report: Path) -> Path:
    """Where the registration of an explicit report goes unless it is named."""
    return report.with_name(report.name + SUFFIX)


def discard_sidecar(path: Path) -> None:
    """Remove the registration of an earlier run, if there is one at ``path``.

    Raises:
        ReportError: what is there is no registration, or cannot be removed.
    """
    try:
        if not _is_registration(read_regular(path)):
            raise ReportError(f"cannot replace {path}: it is no registration; name another file")
        path.unlink()
    except FileNotFoundError:
        return
    except OSError as error:
        raise ReportError(f"cannot replace the registration {path}: {error.strerror or error}") from error


def _is_registration(data: bytes) -> bool:
    try:
        found = json.loads(data)
    except ValueError:
        return False
    return isinstance(found, dict) and {"fold_map_sha256", "registered_at"} <= found.keys()


def write_sidecar(path: Path, section: Mapping[str, Any]) -> None:
    """Create ``path`` with ``section``, synced with its folder; indented by two, keys sorted.

    Raises:
        ReportError: something of that name exists, or it cannot be written; a file that could not be written
            to its end does not stay.
    """
    data = escaped_json(section, indent=2, sort_keys=True) + b"\n"
    try:
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o644)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            sync_folder(path.parent)
        except BaseException:
            with suppress(OSError):
                path.unlink()
            raise
    except FileExistsError as error:
        raise ReportError(
            f"cannot write the registration {path}: it exists, and is never replaced without"
            " --retrieval-overwrite; give that, or name a new report or registration"
        ) from error
    except OSError as error:
        raise ReportError(f"cannot write the registration {path}: {error.strerror or error}") from error
