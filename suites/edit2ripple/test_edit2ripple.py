"""edit2ripple: find what else a change must touch.

The query is one file's diff and its intent; gold are the other files of the same commit.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest


@pytest.mark.retrieval(task="edit2ripple")
def test_edit2ripple(retrieval_judge: Callable[[], object]) -> None:
    """Find what else a change must touch."""
    retrieval_judge()
