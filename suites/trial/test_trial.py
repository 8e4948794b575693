"""trial: ask an agent the same question with different contexts, and score what it commits to.

A task is a question about one repository at one commit. Its arms differ in the context that the agent is
given; what it claims is held against gold. Tasks come from --tasks, by default an embedded set that needs no
model.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest


@pytest.mark.retrieval_trial
def test_trial(retrieval_trial_judge: Callable[[], object]) -> None:
    """Ask the agent once for each arm."""
    retrieval_trial_judge()
