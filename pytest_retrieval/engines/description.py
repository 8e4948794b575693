"""The nouns of an engine description: how to drive a code-search tool that nobody here has seen."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from pytest_retrieval.engines.template import Template

ONESHOT, PERSISTENT = "oneshot", "persistent"
MODES = (ONESHOT, PERSISTENT)
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


@dataclass(frozen=True, slots=True)
class Parse:
    """How to read a tool's output; each of ``path`` to ``score`` is a dotted path into one result.

    ``results`` is the dotted path to the list of results in a JSON document. ``regex`` is set exactly for the
    format ``regex``, and has a group ``path``.
    """

    format: str
    results: str = ""
    path: str = ""
    start: str = ""
    end: str = ""
    text: str = ""
    score: str = ""
    regex: re.Pattern[str] | None = None


@dataclass(frozen=True, slots=True)
class Description:
    """A tool, how it is called, and what it declares of itself.

    ``folder`` is where the file lies, ``digest`` the SHA-256 of its bytes. ``index`` is None when there is
    nothing to index. ``candidates`` times the wanted files is the raw depth to ask for. ``env_pass`` and
    ``version`` are additions: the variables that are passed on (all, where it is None), and a command that
    says which version of the tool this is.
    """

    name: str
    mode: str
    search: Command
    parse: Parse
    folder: Path
    digest: str
    index: Command | None = None
    version: Command | None = None
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
        return re.sub(r"[^A-Za-z0-9_.+-]+", "-", self.name).strip("-") or "engine"

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
        templates = [part for command in self.commands for part in command.argv]
        templates += [t for c in self.commands for t in (c.dir, c.stdin) if t is not None]
        templates += [template for _, template in self.env]
        return self.index is not None or any("State" in template.fields for template in templates)

    @property
    def commands(self) -> tuple[Command, ...]:
        """The commands that there are, the index command first."""
        return tuple(command for command in (self.index, self.search) if command is not None)
