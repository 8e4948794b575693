"""The nouns of an agent description: how to run an agent's command line that nobody here has seen."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_retrieval.engines.template import Template

STDOUT, FILE, EVENTS = "stdout", "file", "events"
REPLIES = (STDOUT, FILE, EVENTS)

#: Known before an invocation: what the run was given; the last two as in descriptions of engines.
OF_RUN = ("Command", "Model", "Effort", "Here", "Python")
#: Known once a tools server stands by; empty outside of the access mode ``tools``.
OF_SERVER = ("McpConfig", "McpCommand", "McpArgs")
#: Known for one invocation.
OF_INVOCATION = ("Root", "Dir", "Prompt", "PromptFile", "Reply", *OF_SERVER)
FIELDS = (*OF_INVOCATION, *OF_RUN)


@dataclass(frozen=True, slots=True)
class Words:
    """Words of a command line that stand or fall together.

    Optional ones vanish where one of their fields is empty.
    """

    words: tuple[Template, ...]
    optional: bool = False

    @property
    def fields(self) -> frozenset[str]:
        """The fields of its words."""
        return frozenset[str]().union(*(word.fields for word in self.words))

    def render(self, values: Mapping[str, str]) -> list[str]:
        """The words as a program gets them."""
        if self.optional and any(not values[name] for name in self.fields):
            return []
        return [word.render(values) for word in self.words]


@dataclass(frozen=True, slots=True)
class Rule:
    """Which events are meant, and what is taken from them.

    ``where`` maps dotted paths into an event to the values that may stand there. ``each`` is the dotted path
    to a list in it whose items are looked at instead, if they are as ``item`` says; the event itself where it
    is empty. ``take`` is the dotted path of what is taken, or several with a name each.
    """

    where: Mapping[str, tuple[Any, ...]]
    each: str = ""
    item: Mapping[str, tuple[Any, ...]] | None = None
    take: str | Mapping[str, str] = ""


@dataclass(frozen=True, slots=True)
class Events:
    """How the lines of standard output are read, each a JSON object of its own.

    The last of the ``messages`` is the reply where no better one is given; ``tool_calls`` are counted, and
    what they take is a command; the last ``usage`` holds the tokens; the last of the ``errors`` says why an
    invocation failed.
    """

    messages: tuple[Rule, ...] = ()
    tool_calls: tuple[Rule, ...] = ()
    usage: tuple[Rule, ...] = ()
    errors: tuple[Rule, ...] = ()


@dataclass(frozen=True, slots=True)
class Retry:
    """When a failed invocation is tried again: where ``pattern`` is found in what it said.

    ``attempts`` counts the first one; the wait starts at ``delay`` seconds and doubles up to ``longest``.
    """

    pattern: re.Pattern[str]
    attempts: int
    delay: float
    longest: float

    def waits(self) -> Iterator[float]:
        """The seconds before each further attempt."""
        wait = self.delay
        for _ in range(self.attempts - 1):
            yield min(wait, self.longest)
            wait *= 2


@dataclass(frozen=True, slots=True)
class AgentDescription:
    """An agent: ``command`` (no shell reads it), where the prompt goes in, and where the reply comes out.

    ``reply`` is one of :data:`REPLIES`; a file is the one at ``{{.Reply}}``. ``version`` is a command that
    says which version this is. ``env_pass`` are the names, or patterns such as ``OPENAI_*``, of the variables
    that are passed on; None passes all. ``folder`` is where the file lies, ``digest`` the SHA-256 of its
    bytes, ``unknown`` what nothing reads in it.
    """

    name: str
    command: tuple[Words, ...]
    reply: str
    folder: Path
    digest: str
    stdin: Template | None = None
    events: Events | None = None
    version: tuple[Words, ...] | None = None
    retry: Retry | None = None
    env: tuple[tuple[str, Template], ...] = ()
    env_pass: tuple[str, ...] | None = None
    unknown: tuple[str, ...] = ()

    @property
    def fields(self) -> frozenset[str]:
        """The fields that an invocation uses."""
        stdin = frozenset[str]() if self.stdin is None else self.stdin.fields
        own = frozenset[str]().union(*(template.fields for _, template in self.env))
        return stdin.union(own, *(group.fields for group in self.command))

    @property
    def needs(self) -> frozenset[str]:
        """The fields that may not be empty: those of words that never vanish."""
        return frozenset[str]().union(*(group.fields for group in self.command if not group.optional))

    @property
    def serves_tools(self) -> bool:
        """Whether it says how the agent is told of a tools server."""
        return not self.fields.isdisjoint(OF_SERVER)
