"""Where a run's outcomes go when they cannot be written where they belong."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from pytest_retrieval.errors import ReportError


def rescue(name: str, write: Callable[[Path], object]) -> Path | None:
    """Let ``write`` make the file ``name`` in a new folder for temporary files; None when it cannot.

    The folder is meant to stay: its path is for the user.
    """
    folder: Path | None = None
    try:
        folder = Path(tempfile.mkdtemp(prefix="pytest-retrieval-report-"))
        write(folder / name)
    except (OSError, ReportError):
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
        return None
    return folder / name
