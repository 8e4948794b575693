"""What conftests offer: arms and measures of their own, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, TypeVar

from pytest_retrieval.errors import UsageError

if TYPE_CHECKING:
    import pytest

    from pytest_retrieval.arms.base import Arm
    from pytest_retrieval.measures.chosen import OwnMeasure

Offered = TypeVar("Offered")


def offered_arms(config: pytest.Config) -> dict[str, Callable[[], Arm]]:
    """The arms of every conftest, by name; raises UsageError, one line."""
    found = config.hook.pytest_retrieval_arms(config=config)
    return _distinct("pytest_retrieval_arms", "an arm", (pair for arms in found for pair in _arms(arms)))


def offered_measures(config: pytest.Config) -> dict[str, OwnMeasure]:
    """The measures of every conftest, by name; raises UsageError, one line."""
    found = config.hook.pytest_retrieval_measures(config=config)
    pairs = (pair for measures in found for pair in _measures(measures))
    return _distinct("pytest_retrieval_measures", "a measure", pairs)


def _distinct(hook: str, what: str, pairs: Iterable[tuple[str, Offered]]) -> dict[str, Offered]:
    offered: dict[str, Offered] = {}
    for name, found in pairs:
        if name in offered:
            raise UsageError(f"{hook}: two conftests offer {what} named {name!r}; rename one")
        offered[name] = found
    return offered


def _arms(arms: object) -> list[tuple[str, Callable[[], Arm]]]:
    if isinstance(arms, Mapping):
        return list(arms.items())
    if isinstance(arms, list | tuple):
        named = [(getattr(arm, "name", ""), arm) for arm in arms]
        if all(isinstance(name, str) and name for name, _ in named):
            return named
    raise UsageError(
        "pytest_retrieval_arms: return a list of Arm subclasses, each with a name, or a mapping from name "
        f"to a function that makes the arm, not {arms!r:.80}"
    )


def _measures(measures: object) -> Iterator[tuple[str, OwnMeasure]]:
    from pytest_retrieval.measures.chosen import check_own

    if not isinstance(measures, Mapping):
        raise UsageError(
            "pytest_retrieval_measures: return a mapping from name to a function of ranking and gold, "
            f"not {measures!r:.80}"
        )
    yield from check_own(measures).items()
