"""What the four Corvint verbs share: one call per sample in the work tree, labelled, bounded and read."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from pytest_retrieval.arms.base import Arm
from pytest_retrieval.arms.observed import Call, encoded
from pytest_retrieval.arms.packet import Packet
from pytest_retrieval.arms.program import TIMEOUT, Program, RefusalError, inherited_environment, output_of
from pytest_retrieval.errors import ArmError
from pytest_retrieval.model import UNRECORDED, Answer, Capabilities, Hit, Query, distinct
from pytest_retrieval.programs.process import Completed
from pytest_retrieval.snapshots.base import Snapshot

TRACE = "CORVINT_BENCH_SNAPSHOT_TRACE"
COLD = "COLD_UNIQUE"
PRIMED = "PRIMED_SHARED"


class CorvintVerb(Arm):
    """One verb of the program; a subclass says what it is asked and how its packet ranks.

    ``may_refuse`` is whether the verb has declared refusals (see :mod:`pytest_retrieval.arms.program`).
    """

    capabilities = Capabilities(worktree=True, timeout=TIMEOUT)
    keeps_timeout: ClassVar[bool] = True
    section: ClassVar[str] = "corvint"
    verb: ClassVar[str]
    may_refuse: ClassVar[bool] = True

    def __init__(self, program: Program) -> None:
        self.program = program
        self.version = str(program.identity)
        self.last: Call | None = None

    @property
    def store(self) -> Path:
        """Where the program keeps its snapshot store in the work tree: the one place that knows."""
        return self.root / ".git" / "corvint" / "index"

    def prepare(self, snapshot: Snapshot) -> None:
        """Make the work tree."""
        super().prepare(snapshot)
        self.root = snapshot.worktree()

    def rank(self, query: Query) -> Answer:
        """What the program answers; its packet's length and the state of its store before the call.

        Raises:
            ArmError: the call failed, or its output is no packet.
        """
        self.last, self.cache_state = None, UNRECORDED
        label = None
        try:
            arguments = self.arguments(query)
            self.cache_state = label = cache_state(self.store)
            output = self._output(arguments, query)
        except RefusalError as refusal:
            return Answer(refusal=str(refusal), cache_state=label)
        answer = self._read(output, query)
        return replace(answer, packet_bytes=len(output), cache_state=label)

    @abstractmethod
    def arguments(self, query: Query) -> Sequence[str]:
        """The verb and what follows it.

        Raises:
            RefusalError: the sample has nothing to ask the verb about.
        """

    @abstractmethod
    def read(self, packet: Packet, query: Query) -> Answer:
        """The ranking, state and abstention of ``packet``.

        Raises:
            ArmError: it is none of this verb's packets.
        """

    def run(self, arguments: Sequence[str], query: Query) -> Completed:
        """Call the program in the work tree; ``query`` is for verbs that must do more for it."""
        return self.call(arguments)

    def call(self, arguments: Sequence[str], **variables: str) -> Completed:
        """Run ``--root COPY ARGUMENTS…`` with ``variables`` added to the inherited environment."""
        return self.program.call(
            ["--root", str(self.root), *map(encoded, arguments)],
            cwd=self.root,
            environment=inherited_environment(without=(TRACE,), **variables),
            timeout=self.capabilities.timeout or TIMEOUT,
        )

    def _output(self, arguments: Sequence[str], query: Query) -> bytes:
        self.last = Call(tuple(arguments))
        done = self.run(arguments, query)
        self.last = replace(self.last, completed=done)
        return output_of(done, self.capabilities.timeout or TIMEOUT, may_refuse=self.may_refuse)

    def _read(self, output: bytes, query: Query) -> Answer:
        assert self.last is not None
        self.last = replace(self.last, parsed=False)
        answer = self.read(Packet.parse(output), query)
        self.last = replace(self.last, parsed=True)
        return answer


def cache_state(store: Path) -> str:
    """The label of a call that is about to be made: is the store there?

    Raises:
        ArmError: that cannot be told.
    """
    try:
        store.stat()
    except (FileNotFoundError, NotADirectoryError):
        return COLD
    except OSError as error:
        raise ArmError(f"the store cannot be looked at: {error.strerror}") from error
    return PRIMED


def changed_file(query: Query) -> str:
    """The file that ``query`` is about.

    Raises:
        RefusalError: there is none, or the program would take its name for an option.
    """
    if not query.changed_file:
        raise RefusalError("no changed_file in query")
    if query.changed_file.startswith("-"):
        raise RefusalError(f"changed_file {query.changed_file!r:.80} would be read as an option")
    return query.changed_file


def ranked(paths: Iterable[str], *, without: str | None = None) -> tuple[Hit, ...]:
    """The distinct paths in the order of the packet; empty ones and ``without`` are skipped."""
    return tuple(Hit(path) for path in distinct(paths) if path and path != without)
