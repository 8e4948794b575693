"""Where a context comes from: from nowhere, or from any arm of this project as a listing."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from pytest_retrieval.arms.observed import encoded
from pytest_retrieval.arms.registry import ArmSpec
from pytest_retrieval.bench.judge import Station, dirt_of
from pytest_retrieval.errors import RetrievalError, UsageError
from pytest_retrieval.model import Capabilities, Hit, Query
from pytest_retrieval.trial.prompt import RANKED
from pytest_retrieval.trial.workspace import Workspace


class ContextError(RetrievalError):
    """A context that could not be produced: its arm is run all the same, and the report says why."""


@dataclass(frozen=True, slots=True)
class Question:
    """What a context is produced for: the task's text, or a query of an agent's own.

    ``subject`` is the file that a change task presents; ``changed_file`` any task's.
    """

    text: str
    limit: int
    changed_file: str | None = None
    subject: str | None = None


@dataclass(frozen=True, slots=True)
class Body:
    """A context as produced; ``state`` is what a packet says of itself, empty where nothing does."""

    text: str
    state: str = ""


class ContextSource(ABC):
    """One way to a context: ``prologue`` is what the prompt says of it.

    ``has_tool`` says whether an agent can be given it as a tool, ``section`` which member of a report's head
    identifies the program that it asks, if it asks one.
    """

    prologue: ClassVar[str]
    has_tool: ClassVar[bool] = True
    section: ClassVar[str] = ""

    @abstractmethod
    def produce(self, question: Question, workspace: Workspace) -> Body:
        """The context for ``question``.

        Raises:
            RetrievalError: it could not be produced.
        """

    @abstractmethod
    def facts(self) -> dict[str, Any]:
        """What it declares of itself, for the report."""

    def identity(self) -> dict[str, str]:
        """Which program it asks.

        Raises:
            UsageError: the program does not tell.
        """
        return {}

    def close(self) -> None:
        """Let go of whatever it holds of the latest repository; nothing, unless a subclass says so."""
        return


class NoContext(ContextSource):
    """Nothing is supplied: what an agent knows of a public repository by heart shows here."""

    prologue = """\
Nothing retrieved is supplied with this task. Every claim rests on the task text, or on files that you opened
yourself."""
    has_tool = False

    def produce(self, question: Question, workspace: Workspace) -> Body:
        """The empty context."""
        return Body("")

    def facts(self) -> dict[str, Any]:
        """The memorisation check: a success without a context comes from the model or the task's own text."""
        return {**_facts("none", "1", Capabilities()), "memorisation": True}


class ArmContext(ContextSource):
    """The first rows of an arm of this project, a line each."""

    prologue = RANKED
    nothing = "(no file was ranked for this task)"

    def __init__(self, spec: ArmSpec) -> None:
        self._spec = spec
        self._station = Station(spec)

    def produce(self, question: Question, workspace: Workspace) -> Body:
        """The listing; the arm sees the text, the changed file and the limit.

        Raises:
            ContextError: the arm failed, declined, or changed the work tree, which is made anew.
        """
        row = self._station.ask(_query(question), workspace.snapshot)
        dirt = dirt_of(workspace.snapshot) if self._station.uses_worktree else None
        if dirt is not None:
            workspace.snapshot.rebuild_worktree()
            self._station.forget()
            raise ContextError(dirt if row.fault is None else f"{row.fault}; {dirt}")
        if row.error is not None:
            raise ContextError(row.error)
        lines = [self.line(rank, hit) for rank, hit in enumerate(row.hits, start=1)]
        return Body("\n".join(lines) or self.nothing)

    def line(self, rank: int, hit: Hit) -> str:
        """How a row is shown."""
        return f"rank={rank} {shown(hit.path)}"

    def facts(self) -> dict[str, Any]:
        """What the arm declares, as in the report of a bench; one that cannot be made declares nothing.

        Raises:
            UsageError: the arm says that what the run was given is wrong.
        """
        label = self._spec.label
        try:
            arm = self._spec.create()
            name, version = str(getattr(arm, "name", "") or label), str(getattr(arm, "version", "unknown"))
            baseline = {"baseline": True} if getattr(arm, "baseline", False) else {}
            return {**_facts(name, version, arm.capabilities), **baseline}
        except UsageError:
            raise
        # An arm is anybody's code: what it raises is told in each of its contexts.
        except (Exception, SystemExit):  # noqa: BLE001
            return _facts(label, "unknown", Capabilities())

    def close(self) -> None:
        """Close the arm, and what it made of the latest tree goes with it."""
        self._station.close()


class TermOverlap(ArmContext):
    """``grep`` as the trial has it: the lexical arm over the task's text, each line with its score."""

    prologue = """\
Each line is one of the best files by term overlap with the task text, as `score=N PATH`, best first. The
score counts the distinct task terms that the file holds; a term that also matches the path counts double.
These are ranked hits, not verified evidence. Cite a hit by its path."""
    nothing = "(no file of the repository matched any term of the task)"

    def line(self, rank: int, hit: Hit) -> str:
        """The score instead of the rank, as the original shows it."""
        return f"score={hit.score} {shown(hit.path)}"


def shown(path: str) -> str:
    """A path as text that UTF-8 can hold, on one line."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in encoded(path).decode())


def _query(question: Question) -> Query:
    seen: Mapping[str, Any] = {"text": question.text}
    if question.changed_file is not None:
        seen = {**seen, "changed_file": question.changed_file}
    return Query(question.text, seen, changed_file=question.changed_file, limit=question.limit)


def _facts(name: str, version: str, capabilities: Capabilities) -> dict[str, Any]:
    return {"name": name, "version": version, "capabilities": asdict(capabilities)}
