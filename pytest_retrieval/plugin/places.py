"""Where the files of a session go: one report, or in a folder one for each kind of items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_retrieval.errors import ReportError, UsageError
from pytest_retrieval.plugin import options
from pytest_retrieval.plugin.settings import Settings, report_root
from pytest_retrieval.report.registration import sidecar_path
from pytest_retrieval.report.write import check_writable, default_report

if TYPE_CHECKING:
    import pytest


@dataclass(frozen=True, slots=True)
class Place:
    """Where the files of a kind of items go; ``shared`` says that the session has several kinds.

    ``report`` is the kind's own, ``registration`` that of its sidecar, if it has one.
    """

    kind: str
    report: Path
    registration: Path | None
    shared: bool = False

    def beside(self, path: Path) -> Path:
        """A file that an option names: ``out.html``, or ``out.bench.html`` where several kinds write one."""
        return path.with_name(f"{path.stem}.{self.kind}{path.suffix}") if self.shared else path


def find_places(settings: Settings, config: pytest.Config, kinds: Sequence[str]) -> list[Place]:
    """The place of each of the ``kinds`` of a session; folders are made, and can be written.

    Raises:
        UsageError: there are several kinds, and ``--report`` names a file.
        ReportError: a report could not be written.
    """
    if len(kinds) == 1:
        report = settings.report or default_report(report_root(config))
        places = [Place(kinds[0], report, settings.registration)]
    else:
        folder = _folder(settings, config, kinds)
        places = [_place(settings, config, kind, folder / f"{kind}.json") for kind in kinds]
    for place in places:
        check_writable(place.report)
    return places


def _folder(settings: Settings, config: pytest.Config, kinds: Sequence[str]) -> Path:
    """The folder of several reports."""
    folder = settings.report
    if folder is None:
        return default_report(report_root(config)).parent
    if folder.suffix == ".json" or folder.is_file():
        raise UsageError(
            f"--report {folder}: a session of {' and '.join(kinds)} items writes a report for each; name a "
            "folder"
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ReportError(f"cannot make the folder of reports {folder}: {error.strerror or error}") from error
    return folder


def _place(settings: Settings, config: pytest.Config, kind: str, report: Path) -> Place:
    """One of several; a registration that was named gets the kind into its name."""
    place = Place(kind, report, None, shared=True)
    if options.value(config, "registration") is not None and settings.registration is not None:
        return Place(kind, report, place.beside(settings.registration), shared=True)
    return Place(kind, report, None if settings.report is None else sidecar_path(report), shared=True)
