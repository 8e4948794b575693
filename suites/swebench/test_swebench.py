"""swebench: find the files that solve a problem.

The query is the statement of a problem; gold are the files that its patch modifies, deletes or renames.
``full@k`` says whether all of them are within the first k.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest


@pytest.mark.retrieval(task="swebench")
def test_swebench(retrieval_judge: Callable[[], object]) -> None:
    """Find the files that solve a problem."""
    retrieval_judge()
