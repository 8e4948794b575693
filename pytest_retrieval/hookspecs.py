"""What a user's ``conftest.py`` may implement."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pytest_retrieval.arms.base import Arm

ArmFactory = Callable[[], "Arm"]


@pytest.hookspec
def pytest_retrieval_arms(config: pytest.Config) -> Mapping[str, ArmFactory] | Iterable[type[Arm]] | None:
    """Offer arms of your own, to be named in ``--arms``.

    Return a list of :class:`pytest_retrieval.Arm` subclasses (each offered under its ``name``), or a mapping
    from name to a function without arguments that makes the arm::

        def pytest_retrieval_arms(config):
            return {"mine": lambda: MyArm(model="small")}
    """
