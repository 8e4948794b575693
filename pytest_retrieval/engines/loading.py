"""An engine description from its file: every fault in one go, each with the file and the place in it."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

from pytest_retrieval.engines.description import (
    MCP,
    MODES,
    ONESHOT,
    PERSISTENT,
    Command,
    Description,
    Parse,
    Server,
)
from pytest_retrieval.engines.fields import Fields, Notes
from pytest_retrieval.engines.files import DescriptionError, json_document, read_description
from pytest_retrieval.engines.sections import one_of, read_command, read_parse, read_template
from pytest_retrieval.engines.servers import read_server, refuse_server
from pytest_retrieval.engines.template import EVERYWHERE, OF_QUERY, OF_SERVER, Template
from pytest_retrieval.errors import UsageError, closest
from pytest_retrieval.regular import is_named

INDEX_TIMEOUT = 1800.0
SEARCH_TIMEOUT = 60.0
SHIPPED = Path(__file__).parent / "shipped"

_KEYS = (
    "name",
    "mode",
    "index",
    "search",
    "server",
    "setup",
    "ready",
    "parse",
    "candidates",
    "spans",
    "per_file",
    "tokens",
    "text_from_corpus",
    "strip_prefix",
    "line_base",
    "env",
    "env_pass",
    "version",
    "about",
)
_VARIABLE = re.compile(r"[^=\0]+")


def find_description(text: str, base: Path | None = None) -> Path:
    """The file that a user named: a path, relative to ``base``, or the name of a shipped description.

    Raises:
        UsageError: there is no such file.
    """
    path = (Path() if base is None else base) / Path(text).expanduser()
    if is_named(path):
        return path.absolute()
    known = sorted(file.stem for file in SHIPPED.glob("*.json"))
    if text in known:
        return SHIPPED / f"{text}.json"
    beside = sorted(str(Path(text).parent / file.name) for file in path.parent.glob("*.json"))
    whole = f"{text}.json"
    near = f"; did you mean {whole!r}?" if whole in beside else closest(text, [*known, *beside])
    raise UsageError(
        f"engine:{text}: there is no file {text!r}, and no shipped description of that name"
        f"{near} (shipped: {', '.join(known)})"
    )


def load_description(path: Path, shown: str | None = None) -> Description:
    """The description in the file ``path``; ``shown`` is its name in messages.

    Raises:
        DescriptionError: it cannot be read, or has faults; the text lists all of them.
    """
    name = str(path) if shown is None else shown
    return parse_description(read_description(path, name), name, path.absolute().parent)


def parse_description(data: bytes, shown: str, folder: Path) -> Description:
    """The description that ``data`` is; ``folder`` is what ``{{.Here}}`` means.

    Raises:
        DescriptionError: it has faults; the text lists all of them, and the unknown keys.
    """
    notes = Notes()
    description = _description(
        json_document(data, shown, "engine"), notes, folder, hashlib.sha256(data).hexdigest()
    )
    if notes.faults:
        raise DescriptionError(shown, [*notes.faults, *notes.unknown])
    return description


def _description(document: dict[str, Any], notes: Notes, folder: Path, digest: str) -> Description:
    """The description; nobody may use it when ``notes`` has faults."""
    top = Fields(document, "", _KEYS, notes)
    mode = one_of(top, "mode", MODES) or ONESHOT
    spans, strip = top.flag("spans"), top.text("strip_prefix")
    top.text("about")
    name = _name(top)
    search, server = _search(top, mode, notes)
    return Description(
        name,
        mode,
        search,
        read_parse(top, mode, notes) or Parse(""),
        folder,
        digest,
        index=read_command(top, "index", INDEX_TIMEOUT, (), notes),
        version=read_command(top, "version", SEARCH_TIMEOUT, (), notes),
        server=server,
        candidates=_candidates(top),
        spans=spans,
        per_file=_per_file(top),
        tokens=top.flag("tokens"),
        text_from_corpus=_text_from_corpus(top, spans=spans),
        strip_prefix=read_template(notes, "strip_prefix", strip, EVERYWHERE) if strip else None,
        line_base=top.whole("line_base", 1),
        env=_environment(top, (*EVERYWHERE, *(OF_SERVER if mode == MCP else ())), notes),
        env_pass=_passed(top),
        unknown=tuple(notes.unknown),
        warnings=tuple(notes.warnings),
    )


def _name(top: Fields) -> str:
    name = top.text("name")
    if top.raw("name") is None or (isinstance(top.raw("name"), str) and not name.strip()):
        top.fault("name", "missing; it is the label of the tool's row")
    return name.strip()


def _search(top: Fields, mode: str, notes: Notes) -> tuple[Command, Server | None]:
    """The search command; a persistent one starts before there is a query, but K and N never change.

    In the mode mcp it has no words, and there is a server.
    """
    if mode == MCP:
        server = read_server(top, notes)
        return Command((), SEARCH_TIMEOUT if server is None else server.search.timeout), server
    refuse_server(top, mode)
    search = read_command(
        top, "search", SEARCH_TIMEOUT, ("K", "N") if mode == PERSISTENT else OF_QUERY, notes
    )
    if "search" not in top:
        top.fault("search", "missing; search.command is how a query is asked")
    return search or Command((), SEARCH_TIMEOUT), None


def _candidates(top: Fields) -> int:
    count = top.whole("candidates", 1)
    if count < 0:
        top.fault("candidates", f"must be 1 or more, not {count}")
    return max(count, 1)


def _per_file(top: Fields) -> tuple[int, ...]:
    counts = top.wholes("per_file")
    if any(count < 1 for count in counts):
        top.fault("per_file", "a value is below 1")
    if counts and 1 not in counts:
        top.fault("per_file", "must contain 1, the protocol's own setting")
    return tuple(sorted(set(counts))) or (1,)


def _text_from_corpus(top: Fields, *, spans: bool) -> bool:
    wanted = top.flag("text_from_corpus")
    if wanted and not spans:
        top.fault("text_from_corpus", "needs spans: true, for the text is read at the tool's lines")
    return wanted


def _environment(top: Fields, known: tuple[str, ...], notes: Notes) -> tuple[tuple[str, Template], ...]:
    variables = []
    for number, entry in enumerate(top.texts("env")):
        place = f"env[{number}]"
        name, equals, value = entry.partition("=")
        if not equals or not _VARIABLE.fullmatch(name):
            notes.fault(place, f"{entry!r:.60} is not of the form KEY=value")
            continue
        template = read_template(notes, place, value, known)
        if template is not None:
            variables.append((name, template))
    return tuple(variables)


def _passed(top: Fields) -> tuple[str, ...] | None:
    names = top.texts("env_pass")
    for number, name in enumerate(names):
        if not _VARIABLE.fullmatch(name):
            top.fault(f"env_pass[{number}]", f"{name!r:.60} is no variable's name")
    return names if "env_pass" in top else None
