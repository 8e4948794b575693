"""abstention: say nothing where there is nothing.

No file answers these queries: they were asked of another project (natural) or their answer was removed
(counterfactual). Only abstaining succeeds.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest


@pytest.mark.retrieval(task="abstention")
def test_abstention(retrieval_judge: Callable[[], object]) -> None:
    """Say nothing where there is nothing."""
    retrieval_judge()
