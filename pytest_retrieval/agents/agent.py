"""An agent at work: its program found once and known by its content, and each invocation under bounds."""

from __future__ import annotations

import errno
import hashlib
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pytest_retrieval.agents.description import FIELDS, AgentDescription, Words
from pytest_retrieval.agents.environment import agent_environment
from pytest_retrieval.agents.events import NOT_OBSERVED
from pytest_retrieval.agents.loading import SHIPPED, find_description, load_description
from pytest_retrieval.agents.observation import Observation, observation
from pytest_retrieval.agents.program import digest_of, find_program
from pytest_retrieval.errors import RetrievalError, UsageError
from pytest_retrieval.programs.process import Completed, ProgramError, run
from pytest_retrieval.snapshots.scratch import passing_folder

_GRACE = 0.1  # seconds between TERM and KILL
_VERSION_SECONDS = 30.0
_SCRIPT = "script"
_ABSENT = dict.fromkeys(FIELDS, "")
# What stands in the identity for what differs between invocations and machines.
_PLACEHOLDERS = {
    **_ABSENT,
    "Root": "ROOT",
    "Dir": "ROOT",
    "Prompt": "PROMPT",
    "PromptFile": "PROMPT_FILE",
    "Reply": "REPLY",
}


class AgentError(RetrievalError):
    """An invocation that gave no observation: not started, out of time, or impossible."""


@dataclass(frozen=True, slots=True)
class ToolServer:
    """How an agent starts the tools server that it may use."""

    command: str
    arguments: tuple[str, ...]

    def config(self) -> str:
        """A configuration file as command lines of agents read it."""
        return json.dumps({"mcpServers": {"retrieval": {"command": self.command, "args": self.arguments}}})


class Agent:
    """A description with what the run gives it; ``command`` is the executable of a script, as typed.

    ``kind`` is the description's name, ``program`` the file that is run.
    """

    def __init__(
        self, description: AgentDescription, base: Path, *, model: str, effort: str, command: str | None
    ) -> None:
        self.description = description
        self.kind = description.name
        self.effort = effort
        self._base = base
        self._typed = command
        self._fixed = {
            **_ABSENT,
            "Command": "" if command is None else str(find_program(command, base)),
            "Model": model,
            "Effort": effort,
            "Here": str(description.folder),
            "Python": sys.executable,
        }
        self.program = find_program(description.command[0].words[0].render(self._fixed), base)

    @property
    def serves_tools(self) -> bool:
        """Whether the agent can be told of a tools server."""
        return self.description.serves_tools

    @property
    def warnings(self) -> tuple[str, ...]:
        """Lines on what nothing reads in its description."""
        return self.description.unknown

    def identity(self) -> dict[str, Any]:
        """Who was asked, for the report: looked at once.

        Raises:
            UsageError: the program cannot be read, or does not tell its version.
        """
        return dict(self._identity)

    def run(
        self, directory: Path, prompt: str, timeout: float, scratch: Path, server: ToolServer | None = None
    ) -> Observation:
        """Ask once, in ``directory``; whatever it started is gone afterwards.

        Files that it is given, or writes its reply to, are in a folder of their own below ``scratch``.

        Raises:
            AgentError: it could not be started, or had not ended after ``timeout`` seconds.
        """
        if not timeout > 0:
            raise AgentError(f"{self.kind}: a timeout of {timeout:g}s leaves no time to run")
        with passing_folder(scratch, "reply-") as folder:
            values = self._values(directory.absolute(), prompt, folder, server)
            done = self._call(values, timeout)
            if done.timed_out:
                raise AgentError(f"{self.kind} {self.program.name}: deadline exceeded after {timeout:g}s")
            return observation(done, self.description, Path(values["Reply"]))

    @cached_property
    def _identity(self) -> dict[str, Any]:
        description = self.description
        identity: dict[str, Any] = {"kind": self.kind, "command": self._shown_command()}
        identity["sha256"] = digest_of(self.program)
        if "Effort" in description.fields:
            identity["effort"] = self.effort or NOT_OBSERVED
        if description.version is not None:
            identity["version"] = self._version(description.version)
        if description.folder != SHIPPED:
            identity["description_sha256"] = description.digest
        scripts = [path for path in self._named_files() if path != self.program]
        if scripts:
            whole = "".join(f"{path.name}\0{digest_of(path)}\n" for path in scripts)
            identity["scripts_sha256"] = hashlib.sha256(whole.encode()).hexdigest()
        return identity

    def _shown_command(self) -> str:
        """The command line with placeholders, without the program; of a script its path, as typed."""
        if self._typed is not None:
            return self._typed
        own = {name: self._fixed[name] for name in ("Model", "Effort")}
        shown = {**_PLACEHOLDERS, "Here": "HERE", "Python": "PYTHON", **own}
        return " ".join(_words(self.description.command, shown)[1:])

    def _named_files(self) -> list[Path]:
        """The files that words of the command line name which are the same in every invocation."""
        fixed = {"Command", "Here", "Python"}
        words = (word for group in self.description.command for word in group.words if word.fields <= fixed)
        paths = [self._base / word.render(self._fixed) for word in words]
        return list(dict.fromkeys(path for path in paths if path.is_file()))

    def _version(self, command: tuple[Words, ...]) -> str:
        argv = _words(command, self._fixed)
        program = find_program(argv[0], self._base)
        shown = " ".join(argv)
        try:
            done = run(
                [str(program), *argv[1:]],
                timeout=_VERSION_SECONDS,
                environment=agent_environment(self.description, Path.cwd(), self._fixed),
                traced=True,
            )
        except ProgramError as error:
            raise UsageError(f"agent {self.kind}: {error}") from error
        said = done.stdout.decode("utf-8", "replace").strip()
        if done.timed_out:
            raise UsageError(f"agent {self.kind}: {shown} did not end within {_VERSION_SECONDS:g} s")
        if done.returncode != 0 or not said:
            raise UsageError(f"agent {self.kind}: {shown} told no version (exit status {done.returncode})")
        return said

    def _values(
        self, directory: Path, prompt: str, folder: Path, server: ToolServer | None
    ) -> dict[str, str]:
        """Every field of an invocation; the files that they name are written."""
        values = {
            **self._fixed,
            "Root": str(directory),
            "Dir": str(directory),
            "Prompt": prompt,
            "PromptFile": str(folder / "prompt.txt"),
            "Reply": str(folder / "reply.txt"),
        }
        if "PromptFile" in self.description.fields:
            (folder / "prompt.txt").write_bytes(_encoded(prompt))
        if server is not None:
            config = folder / "mcp.json"
            config.write_text(server.config(), encoding="utf-8")
            values |= {"McpConfig": str(config), "McpCommand": server.command}
            values["McpArgs"] = json.dumps(server.arguments)
        return values

    def _call(self, values: Mapping[str, str], timeout: float) -> Completed:
        words = [_encoded(word) for word in _words(self.description.command, values)[1:]]
        if any(b"\0" in word for word in words):
            raise AgentError(
                f"{self.kind}: an argument holds a NUL character, which no program can be given; a "
                'description can hand the prompt over as "stdin": "{{.Prompt}}"'
            )
        stdin, directory = self.description.stdin, Path(values["Dir"])
        try:
            return run(
                [str(self.program), *words],
                timeout=timeout,
                cwd=directory,
                stdin=None if stdin is None else _encoded(stdin.render(values)),
                environment=agent_environment(self.description, directory, values),
                grace=_GRACE,
                traced=True,
                overflow_ends=False,
                lingers=False,
            )
        except ProgramError as error:
            if isinstance(error.__cause__, OSError) and error.__cause__.errno == errno.E2BIG:
                size = max(map(len, words))
                raise AgentError(
                    f"{self.kind}: an argument of {size:,} bytes is longer than this system passes; a "
                    'description can hand the prompt over as "stdin": "{{.Prompt}}", or in {{.PromptFile}}'
                ) from error
            raise AgentError(f"{self.kind}: {error}") from error


def load_agent(
    text: str, base: Path, *, model: str = "", effort: str = "", command: str | None = None
) -> Agent:
    """The agent that a user named: ``codex``, ``script:PATH``, ``FILE.json``; paths are relative to ``base``.

    ``command`` is the executable of a script that is named apart.

    Raises:
        UsageError: there is no such description or program, or something is missing that it needs.
    """
    name, colon, path = text.partition(":")
    if colon and name == _SCRIPT:
        text, command = name, path or command
    description = load_description(find_description(text, base), text)
    takes_command = "Command" in description.fields
    if takes_command and not command:
        raise UsageError(f"agent {text}: which executable? Write {text}:PATH")
    if command and not takes_command:
        raise UsageError(f"agent {text}: takes no executable ({command}); its description names the program")
    for field, given in (("Model", model), ("Effort", effort)):
        if field in description.needs and not given:
            name = field.lower()
            raise UsageError(
                f"agent {text}: its command line names {{{{.{field}}}}}, and no {name} was given: "
                f"give --retrieval-{name} (--{name} of `agent probe`)"
            )
    return Agent(description, base, model=model, effort=effort, command=command)


def _words(groups: tuple[Words, ...], values: Mapping[str, str]) -> list[str]:
    return [word for group in groups for word in group.render(values)]


def _encoded(text: str) -> bytes:
    """``text`` as UTF-8, with a question mark where JSON smuggled in half a character."""
    return text.encode("utf-8", "replace")
