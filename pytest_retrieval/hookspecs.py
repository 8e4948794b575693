"""What a user's ``conftest.py`` may implement."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pytest_retrieval.arms.base import Arm

ArmFactory = Callable[[], "Arm"]
OwnMeasure = Callable[[Sequence[str], Collection[str]], float]


@pytest.hookspec
def pytest_retrieval_arms(config: pytest.Config) -> Mapping[str, ArmFactory] | Iterable[type[Arm]] | None:
    """Offer arms of your own, to be named in ``--arms``.

    Return a list of :class:`pytest_retrieval.Arm` subclasses (each offered under its ``name``), or a mapping
    from name to a function without arguments that makes the arm::

        def pytest_retrieval_arms(config):
            return {"mine": lambda: MyArm(model="small")}
    """


@pytest.hookspec
def pytest_retrieval_measures(config: pytest.Config) -> Mapping[str, OwnMeasure] | None:
    """Offer measures of your own, to be named in ``--retrieval-measures`` and in gates.

    Return a mapping from name (letters a to z, digits and ``_``) to a function that takes the ranked paths,
    best first, at most ``--limit`` of them, and the gold paths, of which there is at least one, and returns a
    number of 0 to 50::

        def wasted(ranked, gold):
            return sum(path not in gold for path in ranked)

        def pytest_retrieval_measures(config):
            return {"wasted": wasted}

    Reports have it as ``wasted@k``. It is not asked about samples without gold, and is 0 where the arm had an
    error. What it raises is a fault of the answer that it was asked about.
    """
