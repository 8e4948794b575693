"""An agent description from its file: every fault in one go, each with the file and the place in it."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from pytest_retrieval.agents.description import (
    EVENTS,
    FIELDS,
    FILE,
    OF_RUN,
    REPLIES,
    AgentDescription,
    Retry,
    Words,
)
from pytest_retrieval.agents.event_rules import read_events
from pytest_retrieval.engines.durations import parse_duration
from pytest_retrieval.engines.fields import Fields, Notes
from pytest_retrieval.engines.files import DescriptionError, json_document, read_description
from pytest_retrieval.engines.template import Template, parse_template
from pytest_retrieval.errors import UsageError, closest
from pytest_retrieval.regular import is_named

SHIPPED = Path(__file__).parent / "shipped"

_KEYS = (
    "name",
    "about",
    "command",
    "stdin",
    "reply",
    "events",
    "version",
    "retry",
    "env",
    "env_pass",
)
_RETRY_KEYS = ("pattern", "attempts", "delay", "longest")
_ATTEMPTS = range(1, 101)
_VARIABLE = re.compile(r"[^=\0]+")
_SCRIPT = "; an executable is named script:PATH"  # said of what is no JSON at all
_PROMPT = frozenset({"Prompt", "PromptFile"})


def shipped_names() -> list[str]:
    """The names of the descriptions that ship with the package."""
    return sorted(file.stem for file in SHIPPED.glob("*.json"))


def find_description(text: str, base: Path) -> Path:
    """The file that a user named: a shipped description's name, or a path, relative to ``base``.

    Raises:
        UsageError: there is no such file.
    """
    known = shipped_names()
    if text in known:
        return SHIPPED / f"{text}.json"
    path = base / Path(text).expanduser()
    if is_named(path):
        return path.absolute()
    raise UsageError(
        f"agent {text!r}: there is no file of that name, and no shipped description{closest(text, known)} "
        f"(shipped: {', '.join(known)}; an executable is named script:PATH)"
    )


def load_description(path: Path, shown: str | None = None) -> AgentDescription:
    """The description in the file ``path``; ``shown`` is its name in messages.

    Raises:
        DescriptionError: it cannot be read, or has faults; the text lists all of them.
    """
    name = str(path) if shown is None else shown
    return parse_description(read_description(path, name), name, path.absolute().parent)


def parse_description(data: bytes, shown: str, folder: Path) -> AgentDescription:
    """The description that ``data`` is; ``folder`` is what ``{{.Here}}`` means.

    Raises:
        DescriptionError: it has faults; the text lists all of them, and the unknown keys.
    """
    notes = Notes()
    top = Fields(json_document(data, shown, "agent", _SCRIPT), "", _KEYS, notes)
    top.text("about")
    description = AgentDescription(
        _name(top),
        _command(top, "command", FIELDS, notes),
        _reply(top),
        folder,
        hashlib.sha256(data).hexdigest(),
        stdin=_template(notes, "stdin", top.text("stdin"), FIELDS) if "stdin" in top else None,
        events=read_events(top, notes),
        version=_command(top, "version", OF_RUN, notes) if "version" in top else None,
        retry=_retry(top, notes),
        env=_environment(top, notes),
        env_pass=_passed(top),
        unknown=tuple(notes.unknown),
    )
    _check_whole(description, notes)
    if notes.faults:
        raise DescriptionError(shown, [*notes.faults, *notes.unknown])
    return description


def _name(top: Fields) -> str:
    name = top.text("name").strip()
    if not name and not isinstance(top.raw("name"), int | float | list | dict):
        top.fault("name", "missing; it is what reports call the agent")
    return name


def _command(top: Fields, key: str, known: tuple[str, ...], notes: Notes) -> tuple[Words, ...]:
    """The words of a command line; a list among them is a group that vanishes with an empty field."""
    found = top.raw(key)
    if not isinstance(found, list) or not found:
        top.fault(key, 'must be a list of words, ["tool", "--flag", "{{.Prompt}}"]; no shell reads it')
        return ()
    groups = []
    for number, entry in enumerate(found):
        place = f"{key}[{number}]"
        words = entry if isinstance(entry, list) else [entry]
        if not words or not all(isinstance(word, str) for word in words):
            notes.fault(
                place, "must be a text, or a list of texts that vanishes where a field of it is empty"
            )
            continue
        templates = [_template(notes, place, word, known) for word in words]
        group = Words(tuple(t for t in templates if t is not None), optional=isinstance(entry, list))
        if group.optional and not group.fields:
            notes.fault(place, "a list of words has a field, such as {{.Effort}}, whose absence removes it")
        groups.append(group)
    if isinstance(found[0], list) or not str(found[0]).strip():
        notes.fault(f"{key}[0]", "names the program, and so is a text that is not blank")
    return tuple(groups)


def _reply(top: Fields) -> str:
    text = top.text("reply")
    if text and text not in REPLIES:
        known = ", ".join(REPLIES)
        top.fault("reply", f"{text!r} is unknown{closest(text, REPLIES)} (known: {known})")
    elif not text and "reply" not in top:
        top.fault("reply", f"missing; it says where the reply comes out: {', '.join(REPLIES)}")
    return text


def _retry(top: Fields, notes: Notes) -> Retry | None:
    fields = top.child("retry", _RETRY_KEYS)
    if fields is None:
        return None
    pattern = notes.checked(fields.place("pattern"), _compiled, fields.text("pattern"))
    attempts = fields.whole("attempts", 5)
    if attempts not in _ATTEMPTS:
        fields.fault("attempts", f"must be 1 to {_ATTEMPTS[-1]}, not {attempts}")
    delay, longest = (
        notes.checked(fields.place(name), parse_duration, fields.text(name) or default)
        for name, default in (("delay", "15s"), ("longest", "5m"))
    )
    if pattern is None or delay is None or longest is None:
        return None
    return Retry(pattern, attempts, delay, longest)


def _compiled(text: str) -> re.Pattern[str]:
    if not text:
        raise ValueError("missing; it is what an agent says when it is to be asked again later")
    try:
        return re.compile(text)
    except (re.error, RecursionError, OverflowError) as error:
        raise ValueError(f"does not compile: {error}") from error


def _environment(top: Fields, notes: Notes) -> tuple[tuple[str, Template], ...]:
    variables = []
    for number, entry in enumerate(top.texts("env")):
        name, equals, value = entry.partition("=")
        if not equals or not _VARIABLE.fullmatch(name):
            notes.fault(f"env[{number}]", f"{entry!r:.60} is not of the form KEY=value")
            continue
        template = _template(notes, f"env[{number}]", value, FIELDS)
        if template is not None:
            variables.append((name, template))
    return tuple(variables)


def _passed(top: Fields) -> tuple[str, ...] | None:
    names = top.texts("env_pass")
    for number, name in enumerate(names):
        if not _VARIABLE.fullmatch(name):
            top.fault(f"env_pass[{number}]", f"{name!r:.60} is no variable's name")
    return names if "env_pass" in top else None


def _check_whole(description: AgentDescription, notes: Notes) -> None:
    """What no key alone can tell."""
    if description.command and description.fields.isdisjoint(_PROMPT):
        notes.fault(
            "command", 'nothing names {{.Prompt}} or {{.PromptFile}}; "stdin": "{{.Prompt}}" is a way'
        )
    if description.reply == FILE and "Reply" not in description.fields:
        notes.fault("reply", "a file is the one at {{.Reply}}, which the command does not name")
    if description.reply == EVENTS and (description.events is None or not description.events.messages):
        notes.fault("reply", "events.message is missing; it says which event holds the reply")


def _template(notes: Notes, place: str, text: str, known: tuple[str, ...]) -> Template | None:
    template = notes.checked(place, lambda word: parse_template(word, FIELDS), text)
    for name in sorted(frozenset() if template is None else template.fields - set(known)):
        notes.fault(place, f"{{{{.{name}}}}} is not known here: there is no invocation yet")
    return template
