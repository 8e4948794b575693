"""The contexts of a run by their labels: what each is, what it declares, and what it says of a task."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_retrieval.agents.events import NOT_OBSERVED
from pytest_retrieval.arms.base import Arm
from pytest_retrieval.arms.corvint import NAMES as CORVINT_NAMES
from pytest_retrieval.arms.corvint import corvint_arms
from pytest_retrieval.arms.objects import Factory
from pytest_retrieval.arms.program import Program
from pytest_retrieval.arms.registry import BUILT_IN, ArmSpec, Prefix, parse_arms
from pytest_retrieval.errors import RetrievalError
from pytest_retrieval.text.cutting import truncate
from pytest_retrieval.trial.manifest import Task
from pytest_retrieval.trial.packets import CorvintPacket, RepositoryMap
from pytest_retrieval.trial.prompt import TOOLS, prologue, sha256
from pytest_retrieval.trial.sources import ArmContext, ContextSource, NoContext, Question, TermOverlap
from pytest_retrieval.trial.workspace import Workspace

CONTEXT_BYTES = 1 << 16
DEFAULT = ("none", "grep")

_NONE, _GREP, _CORVINT, _AIDER = "none", "grep", "corvint", "aider"


class Contexts:
    """What each arm of a run supplies; arms are built when first asked.

    ``limit`` is how many rows a context may have.
    """

    def __init__(self, sources: Mapping[str, ContextSource], limit: int) -> None:
        self._sources = dict(sources)
        self._limit = limit

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels in the order in which they were named."""
        return tuple(self._sources)

    def source(self, label: str) -> ContextSource:
        """What the arm ``label`` is."""
        return self._sources[label]

    def facts(self, access: str) -> dict[str, Any]:
        """What the head of a report says of them: ``arms``, ``corvint``, ``aider`` and ``prologues``.

        Raises:
            UsageError: a program does not tell what it is.
        """
        asking = [source for source in self._sources.values() if source.section]
        texts = {label: self.prologue(label, access) for label in self._sources}
        return {
            "arms": {label: source.facts() for label, source in self._sources.items()},
            "prologues": {label: {"sha256": sha256(text), "text": text} for label, text in texts.items()},
            **dict.fromkeys((CorvintPacket.section, RepositoryMap.section), NOT_OBSERVED),
            **{source.section: source.identity() for source in asking},
        }

    def prologue(self, label: str, access: str) -> str:
        """What the prompt says before the context of an arm."""
        source = self._sources[label]
        return prologue(access, source.prologue, has_tool=source.has_tool)

    def question(self, task: Task) -> Question:
        """What a context is produced for."""
        subject = task.changed_file if task.kind == "change" else None
        return Question(task.text, self._limit, task.changed_file, subject)

    def produce(self, label: str, task: Task, workspace: Workspace, access: str) -> dict[str, Any]:
        """The members of an arm's entry that tell its context, which never leaves an arm out.

        With tools there is none; what could not be produced is a notice in its place.
        """
        if access == TOOLS:
            return {"context": "", "context_bytes": 0, "context_truncated": False}
        state, fault = "", None
        try:
            body = self._sources[label].produce(self.question(task), workspace)
            text, state = body.text, body.state
        except (RetrievalError, OSError) as error:
            fault = " ".join(str(error).split()) or type(error).__name__
            text = f"(the context of arm {label} could not be produced: {fault})"
        context, cut = truncate(text, CONTEXT_BYTES)
        return {
            "context": context,
            "context_bytes": len(context.encode("utf-8", "replace")),
            "context_truncated": cut,
            **({"context_state": state} if state else {}),
            **({} if fault is None else {"context_error": fault}),
        }

    def close(self) -> None:
        """Close what was built: copies that arms hold go with it."""
        for source in self._sources.values():
            source.close()


def make_contexts(
    texts: Sequence[str],
    *,
    limit: int,
    timeout: float,
    base: Path,
    corvint: str | None = None,
    aider_command: str | None = None,
    extra: Mapping[str, Factory] | None = None,
    prefixes: Mapping[str, Prefix] | None = None,
) -> Contexts:
    """The contexts that ``texts`` name, as arms of a bench are named; ``none`` and ``grep`` where none is.

    ``extra`` and ``prefixes`` are as for :func:`pytest_retrieval.arms.registry.parse_arms`; ``corvint`` is a
    program, ``aider_command`` a command, relative to ``base``. An invocation may take ``timeout`` seconds.

    Raises:
        UsageError: a name is unknown or taken, or wants a program that was not given or is not there.
    """
    makers = _own_makers(base, corvint, aider_command, 2 * timeout)
    named = {} if corvint is None else corvint_arms(Program.find(corvint))
    own = {name: _unmade for name in makers if name not in BUILT_IN}
    withheld = {_AIDER: "it asks a command: give --retrieval-aider-command"}
    withheld |= dict.fromkeys(CORVINT_NAMES, "it asks a program: give --corvint PATH")
    specs = parse_arms(
        list(texts) or list(DEFAULT),
        extra or {},
        prefixes or {},
        provided={**named, **own},
        withheld=withheld,
    )
    sources = {spec.label: makers.get(spec.spec, ArmContext)(spec) for spec in specs}
    return Contexts(sources, limit)


def _own_makers(
    base: Path, corvint: str | None, aider_command: str | None, timeout: float
) -> dict[str, Callable[[ArmSpec], ContextSource]]:
    """The names that mean a context of the trial's own, and what makes it."""
    makers: dict[str, Callable[[ArmSpec], ContextSource]] = {
        _NONE: lambda _: NoContext(),
        _GREP: TermOverlap,
    }
    if corvint is not None:
        makers[_CORVINT] = lambda _: CorvintPacket(Program.find(corvint))
    if aider_command is not None:
        makers[_AIDER] = lambda _: RepositoryMap(aider_command, base, timeout)
    return makers


def _unmade() -> Arm:
    raise AssertionError("a context of the trial's own is no arm of a bench")
