"""trace2code: find the cause of a failure.

The query is a stack trace or a log; gold are the files that the fix changed.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest


@pytest.mark.retrieval(task="trace2code")
def test_trace2code(retrieval_judge: Callable[[], object]) -> None:
    """Find the cause of a failure."""
    retrieval_judge()
