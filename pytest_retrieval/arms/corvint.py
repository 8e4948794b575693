"""The Corvint arms of one program, by the names that a user types."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from pytest_retrieval.arms.base import Arm
from pytest_retrieval.arms.corvint_affected import CorvintAffected
from pytest_retrieval.arms.corvint_context import CorvintContext
from pytest_retrieval.arms.corvint_impact import CorvintImpact
from pytest_retrieval.arms.corvint_query import CorvintQuery
from pytest_retrieval.arms.program import Program

VERBS = (CorvintQuery, CorvintContext, CorvintImpact, CorvintAffected)


def corvint_arms(program: Program) -> dict[str, Callable[[], Arm]]:
    """What makes each arm: ``corvint``, ``context``, ``impact`` and ``affected``.

    Their ``version`` is ``program.identity``, which the first of them reads for all.
    """
    return {verb.name: partial(verb, program) for verb in VERBS}
