"""The Corvint arms of one program, by the names that a user types."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

from pytest_retrieval.arms.base import Arm
from pytest_retrieval.arms.corvint_affected import CorvintAffected
from pytest_retrieval.arms.corvint_context import CorvintContext
from pytest_retrieval.arms.corvint_impact import CorvintImpact
from pytest_retrieval.arms.corvint_query import CorvintQuery
from pytest_retrieval.arms.program import Program

VERBS = (CorvintQuery, CorvintContext, CorvintImpact, CorvintAffected)
NAMES = tuple(verb.name for verb in VERBS)


def corvint_arms(program: Program) -> dict[str, Callable[[], Arm]]:
    """What makes each arm: ``corvint``, ``context``, ``impact`` and ``affected``.

    Their ``version`` is ``program.identity``, which the first of them reads for all.
    """
    return {verb.name: partial(verb, program) for verb in VERBS}


def named_arms(text: str) -> dict[str, Callable[[], Arm]]:
    """The arms of the program that a user named; it is looked for once, when the first of them is made.

    A run that chooses none of them does not need the program. Making one raises UsageError where there is no
    such program or it does not tell its version.
    """
    find = cache(lambda: Program.find(text))

    def made(name: str) -> Arm:
        return corvint_arms(find())[name]()

    return {name: partial(made, name) for name in NAMES}
