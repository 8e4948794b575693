"""What a trial is, written down before an agent starts; a run that takes it up is held against it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_retrieval import __version__
from pytest_retrieval.errors import UsageError
from pytest_retrieval.plugin.trial.runs import shown
from pytest_retrieval.report.distinct import check_distinct
from pytest_retrieval.report.fingerprint import Fingerprint, machine
from pytest_retrieval.report.journal import journal_path, read_journal
from pytest_retrieval.report.registration import discard_sidecar, registration, stamped, write_sidecar

if TYPE_CHECKING:
    from pytest_retrieval.plugin.places import Place
    from pytest_retrieval.plugin.trial.session import TrialSession

_PACKAGE = "bench_sha256"  # of a registration: the code that runs
_ASKED = ("agent", "model", "access", "repeats", "skeleton_sha256", "prologues")


def register(trial: TrialSession, place: Place, header: Mapping[str, Any]) -> dict[str, Any]:
    """The report's section ``registration``; its sidecar is written, if the run has one.

    A run that takes up an interrupted one verifies the sidecar that is there instead.

    Raises:
        ReportError: the sidecar cannot be written, or would replace another one.
        UsageError: it is that of a run over something else.
    """
    section, path = _section(trial, header), place.registration
    if path is None:
        return section
    check_distinct(path, place.report)
    if trial.settings.resume and path.exists():
        return _verified(path, section, place.report)
    section = stamped(section)
    if trial.bench.settings.overwrite:
        discard_sidecar(path)
    write_sidecar(path, {**section, "machine": machine()})
    return section


def _section(trial: TrialSession, header: Mapping[str, Any]) -> dict[str, Any]:
    shared, manifest = trial.bench.settings, trial.manifest
    section = registration(
        samples=[manifest.sha256],
        arms=trial.contexts.labels,
        limit=shared.limit,
        max_samples=shared.max_samples,
        sample_ids=[manifest.tasks[row].id for row in sorted(set(trial.plan.entries.values()))],
        snapshot_latency=False,
        fingerprint=Fingerprint.read(None),
    )
    return {**section, "trial": {name: header[name] for name in _ASKED}}


def _verified(path: Path, section: Mapping[str, Any], report: Path) -> dict[str, Any]:
    """The section that the sidecar has, which says the same as ``section``."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"--retrieval-resume: cannot read the registration {path}: {error}") from error
    if not isinstance(found, dict):
        raise UsageError(f"--retrieval-resume: {path}: is no registration")
    if found.get(_PACKAGE) != section[_PACKAGE]:
        version = read_journal(journal_path(report))[0].get("version", "unknown")
        raise UsageError(
            f"--retrieval-resume: {path} registers a run of other code of this package (it was begun by "
            f"version {version}, this is {__version__}): take it up with the package as it was, or remove "
            "that file to register the run anew"
        )
    for name, value in section.items():
        if found.get(name) != value:
            before, now = shown(found.get(name), value), shown(value, found.get(name))
            raise UsageError(
                f"--retrieval-resume: {path} registers a run whose {name} is {before}, and this run's is "
                f"{now}; start anew without --retrieval-resume"
            )
    return {name: value for name, value in found.items() if name != "machine"}
