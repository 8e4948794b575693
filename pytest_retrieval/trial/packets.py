"""Contexts that programs supply whole: the Corvint task-context packet, and a repository map's listing."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pytest_retrieval.agents.program import find_program
from pytest_retrieval.arms.observed import encoded
from pytest_retrieval.arms.program import (
    TIMEOUT,
    Program,
    RefusalError,
    inherited_environment,
    output_of,
)
from pytest_retrieval.errors import ArmError
from pytest_retrieval.model import Capabilities
from pytest_retrieval.programs.process import ProgramError, run
from pytest_retrieval.trial.sources import Body, ContextError, ContextSource, Question
from pytest_retrieval.trial.workspace import Workspace

UNREADABLE = "UNREADABLE"  # the state of a packet that is no JSON


class CorvintPacket(ContextSource):
    """The standard output of ``corvint context``, as it is."""

    prologue = """\
The context is a JSON task-context packet. Each row of `results` is a file to read: its `id` is the path, its
`kind` the relation that admitted it (pair, mentioned, definition, reverse-import, cochange, sibling,
lexical), and the `reason` in its evidence row states that relation. `action` says what to do with the file:
act on it. A `lexical` row is a mere match of terms. `subject` is the task's own path and no result. A row's
`confidence` bounds yours: `high` can back `certain`, `medium` and `low` back at most `likely`; a packet with
the state `NO_CANDIDATES` backs at most `unsure`. Cite a row by its `id`."""
    section = "corvint"

    def __init__(self, program: Program) -> None:
        self._program = program

    def produce(self, question: Question, workspace: Workspace) -> Body:
        """The packet over the copy, within two minutes and 8 MiB.

        Raises:
            RetrievalError: the program failed, or changed the copy, which is made anew.
        """
        arguments = ["--root", str(workspace.path), "context", "--task", question.text]
        arguments += ["--limit", str(question.limit)]
        if question.subject is not None:
            arguments += ["--subject", question.subject]
        try:
            output = output_of(self._program.call([*map(encoded, arguments)]), TIMEOUT, may_refuse=False)
        except (ArmError, RefusalError) as error:
            raise _with_dirt(str(error), workspace) from error
        _refuse_dirt(workspace)
        text = output.decode("utf-8", "replace")
        return Body(text, _state(text))

    def facts(self) -> dict[str, Any]:
        """The program's version.

        Raises:
            UsageError: it does not tell.
        """
        capabilities = asdict(Capabilities(worktree=True, timeout=TIMEOUT))
        version = str(self._program.identity)
        return {"name": "corvint", "version": version, "capabilities": capabilities}

    def identity(self) -> dict[str, str]:
        """The program's version and SHA-256."""
        return asdict(self._program.identity)


class RepositoryMap(ContextSource):
    """The standard output of a command that ranks files, such as a bridge to aider's repository map.

    ``command`` is split at blanks; words of it that name files are relative to ``base``, and no call takes
    more than ``timeout`` seconds.
    """

    prologue = """\
Each line is one of the files that a repository map ranks highest, as `rank=N PATH`, rank 1 first: a
personalised PageRank over definitions and references of identifiers, seeded with the subject's path and with
the code-shaped identifiers of the task. These are ranked hits, not verified evidence. Cite a hit by its
path."""
    section = "aider"

    def __init__(self, command: str, base: Path, timeout: float) -> None:
        self._command = command
        self._timeout = timeout
        first, *rest = command.split()
        places = [(word, (base / word).absolute()) for word in rest]
        words = [str(place) if place.is_file() else word for word, place in places]
        self._argv = [str(find_program(first, base)), *words]

    def produce(self, question: Question, workspace: Workspace) -> Body:
        """What the command prints, without white space around it.

        Raises:
            RetrievalError: it failed, said more than 8 MiB, or changed the copy, which is made anew.
        """
        root = workspace.path
        task = root.parent / "task.txt"
        task.write_bytes(encoded(question.text))
        argv = [*self._argv, "--root", str(root), "--task-file", str(task), "--limit", str(question.limit)]
        if question.subject is not None:
            argv += ["--subject", question.subject]
        try:
            done = run(
                [*map(encoded, argv)],
                timeout=self._timeout,
                cwd=root,
                environment=inherited_environment(),
                traced=True,
            )
            output = output_of(done, self._timeout, may_refuse=False)
        except (ArmError, ProgramError) as error:
            raise _with_dirt(str(error), workspace) from error
        finally:
            task.unlink(missing_ok=True)
        _refuse_dirt(workspace)
        return Body(output.decode("utf-8", "replace").strip())

    def facts(self) -> dict[str, Any]:
        """That it asks a command; nothing is known of its version."""
        capabilities = asdict(Capabilities(worktree=True, timeout=self._timeout))
        return {"name": "aider", "version": "unknown", "capabilities": capabilities}

    def identity(self) -> dict[str, str]:
        """The command as typed."""
        return {"command": self._command}


def _state(text: str) -> str:
    """What the whole packet says of itself: its ``state``, else that of its ``context``."""
    try:
        packet = json.loads(text)
    except (ValueError, RecursionError):
        return UNREADABLE
    inner = packet.get("context") if isinstance(packet, dict) else None
    for value in (packet, inner):
        state = value.get("state") if isinstance(value, dict) else None
        if isinstance(state, str) and state:
            return state
    return ""


def _refuse_dirt(workspace: Workspace) -> None:
    dirt = workspace.mend()
    if dirt is not None:
        raise ContextError(dirt)


def _with_dirt(reason: str, workspace: Workspace) -> ContextError:
    dirt = workspace.mend()
    return ContextError(reason if dirt is None else f"{reason}; {dirt}")
