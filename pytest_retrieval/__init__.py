"""pytest-retrieval: benchmark code retrieval with pytest.

What a user's ``conftest.py`` and suites import is here and loads on first use; everything else is private.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_retrieval.arms.base import Arm
    from pytest_retrieval.bench.judge import Outcome
    from pytest_retrieval.model import Answer, Capabilities, Hit, Query, Sample, Span
    from pytest_retrieval.snapshots.base import Snapshot

__version__ = "0.1.0"
__all__ = [
    "Answer",
    "Arm",
    "Capabilities",
    "Hit",
    "Outcome",
    "Query",
    "Sample",
    "Snapshot",
    "Span",
    "__version__",
]

_HOMES = {
    "Answer": "pytest_retrieval.model",
    "Arm": "pytest_retrieval.arms.base",
    "Capabilities": "pytest_retrieval.model",
    "Hit": "pytest_retrieval.model",
    "Outcome": "pytest_retrieval.bench.judge",
    "Query": "pytest_retrieval.model",
    "Sample": "pytest_retrieval.model",
    "Snapshot": "pytest_retrieval.snapshots.base",
    "Span": "pytest_retrieval.model",
}


if not TYPE_CHECKING:  # to a type checker it would make every misspelt name an Any

    def __getattr__(name: str) -> Any:
        """Import a public name on first use: ten dataclasses would cost every pytest run 14 ms."""
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        return getattr(import_module(_HOMES[name]), name)
