"""Which arms a run asks: those that options name, of what is built in, offered, or described by a file."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict

from pytest_retrieval.plugin import options
from pytest_retrieval.plugin.offers import offered_arms
from pytest_retrieval.plugin.option_values import absolute_path, base_of

if TYPE_CHECKING:
    import pytest

    from pytest_retrieval.arms.base import Arm
    from pytest_retrieval.arms.engine.home import EngineHome
    from pytest_retrieval.arms.registry import ArmSpec, Prefix


class ProgramArms(TypedDict):
    """Arms by name that there are, and why others are not there."""

    provided: dict[str, Callable[[], Arm]]
    withheld: dict[str, str]


@dataclass(frozen=True, slots=True)
class ArmChoice:
    """The ``arms`` that rank files, and what stands beside them.

    ``prefixes`` say what ``PREFIX:REST`` means as an arm. ``contexts`` are the labels of what was named
    beside the arms and only an agent can be given, ``possible_contexts`` those that agents are given if no
    arm was named, too.
    """

    arms: tuple[ArmSpec, ...]
    prefixes: Mapping[str, Prefix]
    contexts: tuple[str, ...]
    possible_contexts: tuple[str, ...]

    @property
    def labels(self) -> list[str]:
        """The labels of the arms, in their order."""
        return [arm.label for arm in self.arms]


def choose_arms(config: pytest.Config, home: EngineHome) -> ArmChoice:
    """The arms that ``--arms`` names, else the default ones; raises UsageError, one line.

    ``home`` is where the indexes of tools lie that a description names.
    """
    from pytest_retrieval.arms.registry import CONTEXTS, parse_arms, without_contexts

    prefixes = {"engine": _engines(config, home)}
    typed = options.values(config, "arms")
    named, contexts = without_contexts(typed)
    arms: tuple[ArmSpec, ...] = ()
    if named or not contexts:
        asked = named if contexts else typed
        arms = parse_arms(asked, offered_arms(config), prefixes, **program_arms(config))
    return ArmChoice(arms, prefixes, tuple(contexts), tuple(contexts if typed else CONTEXTS))


def _engines(config: pytest.Config, home: EngineHome) -> Prefix:
    """What ``engine:FILE`` means; FILE is relative to where the arm was named."""

    def prefix(text: str) -> tuple[str | None, Callable[[], Arm]]:
        from pytest_retrieval.arms.engine.arm import engine_arm

        return engine_arm(text, home, base_of(config, "arms"))

    return prefix


def program_arms(config: pytest.Config) -> ProgramArms:
    """The arms of the program that an option names, or what is said to who names one of them without it."""
    from pytest_retrieval.arms.corvint import NAMES, named_arms

    program = program_path(config)
    if program is None:
        return {"provided": {}, "withheld": dict.fromkeys(NAMES, "it asks a program: give --corvint PATH")}
    return {"provided": named_arms(program), "withheld": {}}


def program_path(config: pytest.Config) -> str | None:
    """The program of ``--corvint``: a path relative to where the option stands, or a name on PATH."""
    text = options.value(config, "corvint")
    return text if text is None or os.sep not in text else str(absolute_path(config, "corvint", text))
