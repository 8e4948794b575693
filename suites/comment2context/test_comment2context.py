"""comment2context: find what a review comment is about.

The query is a comment on a diff; gold are the files that one must read to answer it. The reviewed file
is given and counts for nothing.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest


@pytest.mark.retrieval(task="comment2context")
def test_comment2context(retrieval_judge: Callable[[], object]) -> None:
    """Find what a review comment is about."""
    retrieval_judge()
