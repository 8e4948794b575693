"""locbench: find the files that solve a problem, in the rows of Loc-Bench.

As swebench; the report keeps the functions that the patch edits beside the files. ``full@k`` is Loc-Bench's
Acc@k.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest


@pytest.mark.retrieval(task="locbench")
def test_locbench(retrieval_judge: Callable[[], object]) -> None:
    """Find the files that solve a problem, in the rows of Loc-Bench."""
    retrieval_judge()
