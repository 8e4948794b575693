"""Arms that users write: a class, an object or a function, checked before the first query."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pytest_retrieval.arms.base import Arm, Ranking
from pytest_retrieval.errors import ArmError, UsageError, closest
from pytest_retrieval.model import Query

if TYPE_CHECKING:
    from pytest_retrieval.snapshots.base import Snapshot

Factory = Callable[[], Arm]

_PARTS = ("rank", "prepare", "close", "capabilities")  # what the grading loop uses of an arm
_RANK_PARAMETERS = 2


class FunctionArm(Arm):
    """A plain function ``rank(query, snapshot)`` as an arm."""

    def __init__(self, function: Callable[[Query, Snapshot], Ranking]) -> None:
        self._function = function

    def rank(self, query: Query) -> Ranking:
        """What the function says."""
        return self._function(query, self.snapshot)


def load_object(module: str, name: str) -> object:
    """The object ``name`` (which may have dots) of ``module``.

    Raises:
        ModuleNotFoundError: there is no such module, or no such package around it.
        UsageError: the module cannot be imported, or has no such object.
    """
    try:
        found: object = import_module(module)
    except (Exception, SystemExit) as error:
        if isinstance(error, ModuleNotFoundError) and f"{module}.".startswith(f"{error.name}."):
            raise
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise UsageError(f"arm {module}:{name}: importing {module} failed: {reason}") from error
    for part in name.split("."):
        if not hasattr(found, part):
            hint = closest(part, [known for known in dir(found) if not known.startswith("_")])
            raise UsageError(f"arm {module}:{name}: {module} has no {name}{hint}")
        found = getattr(found, part)
    return found


def factory_of(target: object, shown: str) -> Factory:
    """What makes the arm that ``target`` stands for; ``shown`` names it in messages.

    ``target`` is an arm's class, an arm, a function without arguments that makes one, or a function
    ``rank(query, snapshot)``.

    Raises:
        UsageError: it is none of these.
    """
    if isinstance(target, type):
        _check(target, shown, UsageError)
        if _required(target, shown):
            raise UsageError(f"arm {shown}: its constructor needs arguments; name a function that makes it")
        return target
    if hasattr(target, "rank"):
        arm = _check(target, shown, UsageError)
        return lambda: arm
    if callable(target):
        required = _required(target, shown)
        if required == _RANK_PARAMETERS:
            return partial(FunctionArm, target)
        if required == 0:
            return lambda: _check(target(), shown, ArmError)
    raise UsageError(
        f"arm {shown}: {target!r:.60} is no arm; it must be a subclass of pytest_retrieval.Arm, "
        "a function without arguments that makes one, or a function rank(query, snapshot)"
    )


def _check(arm: Any, shown: str, error: type[UsageError | ArmError]) -> Any:
    """``arm`` (an object or a class) if it has all that the grading loop uses."""
    lacking = [part for part in _PARTS if not hasattr(arm, part)]
    if not lacking and not callable(arm.rank):
        lacking = ["a callable rank"]
    if getattr(arm, "rank", None) is Arm.rank:
        lacking = ["a rank of its own"]
    if lacking:
        raise error(
            f"arm {shown}: {arm!r:.60} is no arm: it lacks {', '.join(lacking)}; "
            "subclass pytest_retrieval.Arm"
        )
    return arm


def _required(function: Callable[..., object], shown: str) -> int:
    """How many arguments a call must have."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError) as error:
        raise UsageError(f"arm {shown}: what arguments {function!r:.60} takes is unknown") from error
    optional = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return sum(p.default is inspect.Parameter.empty and p.kind not in optional for p in parameters)
