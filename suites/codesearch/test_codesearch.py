"""codesearch: find the files, and the lines in them, that answer a question about code.

The query is what a developer types into a search tool; gold are files or lines of files. Corpora come from
--corpora, by default numpy's and pytest's installed source.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest


@pytest.mark.retrieval(task="codesearch")
def test_codesearch(retrieval_judge: Callable[[], object]) -> None:
    """Find the lines that answer a question."""
    retrieval_judge()
