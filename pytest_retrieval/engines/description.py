"""The nouns of an engine description: how to drive a code-search tool that nobody here has seen."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pytest_retrieval.engines.arguments import Arguments
from pytest_retrieval.engines.template import Template

ONESHOT, PERSISTENT, MCP = "oneshot", "persistent", "mcp"
MODES = (ONESHOT, PERSISTENT, MCP)
JSON, JSONL, REGEX = "json", "jsonl", "regex"
FORMATS = (JSON, JSONL, REGEX)


@dataclass(frozen=True, slots=True)
class Command:
    """One invocation: ``argv`` (no shell reads it), working directory, standard input, seconds allowed.

    ``ok_exit`` (an addition) are the exit codes that mean success; None leaves that to the rules of the call.
    ``chunks`` (an addition, of the index command) finds in what was printed how many pieces the index has.
    """

    argv: tuple[Template, ...]
    timeout: float
    dir: Template | None = None
    stdin: Template | None = None
    ok_exit: frozenset[int] | None = None
    chunks: re.Pattern[str] | None = None

    @property
    def templates(self) -> Iterator[Template]:
        """All that its fields are put into."""
        yield from self.argv
        yield from (template for template in (self.dir, self.stdin) if template is not None)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool of a server: its name, its arguments, and the seconds allowed.

    ``match`` is what the text of the reply must have in it; None where any reply will do. A call that is
    repeated until it matches is so every ``interval`` seconds.
    """

    tool: str
    arguments: Arguments
    timeout: float
    match: re.Pattern[str] | None = None
    interval: float = 0.0


@dataclass(frozen=True, slots=True)
class Server:
    """A server of the Model Context Protocol (the mode is an addition), and how it is asked.

    It is started by ``command`` and talked to over its standard input and output; or over HTTP where there is
    a ``url``, with or without a command. ``headers`` are names of headers with names of environment variables
    whose values they carry. ``setup`` calls are made once per process, then ``ready`` is repeated until it
    matches. ``reply`` says which part of a reply is read.
    """

    command: Command | None
    url: Template | None
    headers: tuple[tuple[str, str], ...]
    timeout: float
    search: ToolCall
    setup: tuple[ToolCall, ...] = ()
    ready: ToolCall | None = None
    reply: str = "auto"

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """All calls there are, the one of a search last."""
        return (*self.setup, *(() if self.ready is None else (self.ready,)), self.search)

    @property
    def templates(self) -> Iterator[Template]:
        """All that fields are put into, but for those of a search."""
        yield from () if self.command is None else self.command.templates
        yield from () if self.url is None else (self.url,)
        for call in self.calls[:-1]:
            yield from call.arguments.templates


@dataclass(frozen=True, slots=True)
class Parse:
    """How to read a tool's output; each of ``path`` to ``score`` is a dotted path into one result.

    ``results`` is the dotted path to the list of results in a JSON document. ``regex`` is set exactly for the
    format ``regex``, and has a group ``path``. ``empty`` (an addition) is found in an output that cannot be
    read because it says that nothing was found.
    """

    format: str
    results: str = ""
    path: str = ""
    start: str = ""
    end: str = ""
    text: str = ""
    score: str = ""
    regex: re.Pattern[str] | None = None
    empty: re.Pattern[str] | None = None


@dataclass(frozen=True, slots=True)
class Description:
    """A tool, how it is called, and what it declares of itself.

    ``folder`` is where the file lies, ``digest`` the SHA-256 of its bytes. ``index`` is None when there is
    nothing to index. ``candidates`` times the wanted files is the raw depth to ask for. ``env_pass`` and
    ``version`` are additions: the variables that are passed on (all, where it is None), and a command that
    says which version of the tool this is. ``server`` is set exactly in the mode ``mcp``, whose ``search``
    has no words.
    """

    name: str
    mode: str
    search: Command
    parse: Parse
    folder: Path
    digest: str
    index: Command | None = None
    version: Command | None = None
    server: Server | None = None
    candidates: int = 1
    spans: bool = False
    per_file: tuple[int, ...] = (1,)
    tokens: bool = False
    text_from_corpus: bool = False
    strip_prefix: Template | None = None
    line_base: int = 1
    env: tuple[tuple[str, Template], ...] = ()
    env_pass: tuple[str, ...] | None = None
    unknown: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """The name in the characters that labels may have."""
        return re.sub(r"-*[^A-Za-z0-9_.+-]+-*", "-", self.name).strip("-") or "engine"

    def supports(self, count: int) -> bool:
        """Whether the tool can serve ``count`` spans per file."""
        return count in self.per_file

    @property
    def has_tokens(self) -> bool:
        """Whether the price of an answer in tokens can be told."""
        return self.tokens or self.text_from_corpus

    @property
    def keeps_state(self) -> bool:
        """Whether anything of the tool outlives a call: an index, or a template that names its directory."""
        return self.index is not None or self.names("State")

    @property
    def knows_width(self) -> bool:
        """Whether the tool can tell how many spans per file are asked for, and may answer accordingly."""
        return self.mode == PERSISTENT or any("PerFile" in template.fields for template in self._asked())

    @property
    def knows_depth(self) -> bool:
        """Whether the tool is told how many results are wanted, so that asking for more can give more."""
        wanted = {"K", "N"}
        return self.mode == PERSISTENT or any(wanted & template.fields for template in self._asked())

    def names(self, field: str) -> bool:
        """Whether a template names the field."""
        return any(field in template.fields for template in self._templates())

    @property
    def commands(self) -> tuple[Command, ...]:
        """The commands that there are, the index command first."""
        server = None if self.server is None else self.server.command
        return tuple(command for command in (self.index, self.search, server) if command is not None)

    @property
    def secrets(self) -> tuple[str, ...]:
        """The names of the environment variables whose values are for the tool alone."""
        headers = () if self.server is None else self.server.headers
        return (*(self.env_pass or ()), *(variable for _, variable in headers))

    def _asked(self) -> Iterator[Template]:
        yield from self.search.templates
        if self.server is not None:
            yield from self.server.search.arguments.templates

    def _templates(self) -> Iterator[Template]:
        yield from self._asked()
        yield from () if self.index is None else self.index.templates
        yield from () if self.server is None else self.server.templates
        yield from (template for _, template in self.env)
