"""code2test: find the tests of a change.

The query is a pull request's title and body with the changed file; gold are the tests that the pull
request changed.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest


@pytest.mark.retrieval(task="code2test")
def test_code2test(retrieval_judge: Callable[[], object]) -> None:
    """Find the tests of a change."""
    retrieval_judge()
