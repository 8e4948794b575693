"""contextbench: find what one reads to solve a problem.

The query is the statement of a problem; gold are the files of the spans that people read to solve it. Beside
the common measures, ``cb_*`` say how much of those files and lines an answer covers, and how much of it is
theirs.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest


@pytest.mark.retrieval(task="contextbench")
def test_contextbench(retrieval_judge: Callable[[], object]) -> None:
    """Find what one reads to solve a problem."""
    retrieval_judge()
