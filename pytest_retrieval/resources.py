"""What ships with the package: the suites and the embedded release."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).parent


def suites() -> Path:
    """The folder of the suites: inside the installed package, or at the top of a checkout."""
    return _first(_PACKAGE / "suites", _PACKAGE.parent / "suites")


def embedded_release() -> Path:
    """The folder of the embedded release, laid out as an extracted release."""
    return _first(_PACKAGE / "release", _PACKAGE.parent / "testdata" / "release")


def embedded_corpora() -> Path:
    """The file that lists the embedded code-search corpora."""
    return embedded_release() / "codesearch" / "corpora.json"


def embedded_tasks(name: str = "embedded") -> Path:
    """The run manifest of an embedded task set for agents; its corpus lies beside it, if it has one."""
    return _task_sets() / name / "tasks.json"


def embedded_agent() -> Path:
    """The deterministic agent that needs no model."""
    return _first_file(_task_sets() / "fake.sh", _PACKAGE.parent / "testdata" / "agents" / "fake.sh")


def _task_sets() -> Path:
    return _first(_PACKAGE / "tasksets", _PACKAGE.parent / "testdata" / "trial")


def _first_file(*candidates: Path) -> Path:
    return next((path for path in candidates if path.is_file()), candidates[0])


def _first(*candidates: Path) -> Path:
    return next((path for path in candidates if path.is_dir()), candidates[0])
