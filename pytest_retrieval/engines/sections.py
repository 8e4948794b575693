"""The parts of a description that have rules of their own: commands, parse rules, templates."""

from __future__ import annotations

import re
from dataclasses import replace

from pytest_retrieval.engines.description import FORMATS, JSON, PERSISTENT, REGEX, Command, Parse
from pytest_retrieval.engines.durations import parse_duration
from pytest_retrieval.engines.expressions import beyond_re2, compile_count, compile_expression, compile_plain
from pytest_retrieval.engines.fields import Fields, Notes
from pytest_retrieval.engines.template import EVERYWHERE, OF_QUERY, OF_SERVER, Template, parse_template
from pytest_retrieval.errors import closest

_COMMAND_KEYS = ("command", "dir", "timeout", "stdin", "ok_exit")
_INDEX_KEYS = (*_COMMAND_KEYS, "chunks")
_PARSE_KEYS = ("format", "results", "path", "start", "end", "text", "score", "regex", "empty")


def read_command(
    top: Fields, name: str, default_timeout: float, of_query: tuple[str, ...], notes: Notes
) -> Command | None:
    """The command at ``name`` of ``top``; None where there is none.

    ``of_query`` are the fields of a query that its words and its directory may name.
    """
    fields = top.child(name, _INDEX_KEYS if name == "index" else _COMMAND_KEYS)
    if fields is None:
        return None
    command = read_words(fields, default_timeout, (*EVERYWHERE, *of_query), notes)
    if command is None:
        if name != "index" and not isinstance(fields.raw("command"), str):
            fields.fault("command", "is empty")
        return None
    stdin = fields.text("stdin")
    if fields.raw("ok_exit") == []:
        fields.fault("ok_exit", "is empty, so that no exit status would do; leave it out for 0 alone")
    known = (*EVERYWHERE, *(OF_QUERY if name == "search" else ()))
    return replace(
        command,
        stdin=read_template(notes, fields.place("stdin"), stdin, known) if stdin else None,
        ok_exit=frozenset(fields.wholes("ok_exit")) if "ok_exit" in fields else None,
        chunks=_chunks(fields, notes),
    )


def read_words(
    fields: Fields, default_timeout: float, known: tuple[str, ...], notes: Notes
) -> Command | None:
    """The words, the directory and the bound of a command; None where there are no words."""
    if isinstance(fields.raw("command"), str):
        fields.fault(
            "command", 'must be a list of words, ["tool", "--flag", "{{.Query}}"]; no shell reads it'
        )
        return None
    words = fields.texts("command")
    argv = [read_template(notes, fields.place(f"command[{n}]"), word, known) for n, word in enumerate(words)]
    folder = fields.text("dir")
    if words and not words[0].strip():
        fields.fault("command[0]", "is blank; it names the program")
    command = Command(
        tuple(template for template in argv if template is not None),
        read_timeout(fields, default_timeout),
        dir=read_template(notes, fields.place("dir"), folder, known) if folder else None,
    )
    return command if words else None


def read_parse(top: Fields, mode: str, notes: Notes) -> Parse | None:
    """The parse rules of ``top``; None where there are none, which is a fault."""
    fields = top.child("parse", _PARSE_KEYS)
    if fields is None:
        if "parse" not in top:
            top.fault("parse", "missing; it says how the output of a search is read")
        return None
    shape = one_of(fields, "format", FORMATS)
    if shape is None:
        if "format" not in fields:
            fields.fault("format", f"missing; it is one of {', '.join(FORMATS)}")
        return None
    if mode == PERSISTENT and shape != JSON:
        fields.fault(
            "format", f"must be json in persistent mode, where a reply is one JSON line, not {shape!r}"
        )
    texts = {name: fields.text(name) for name in ("results", "path", "start", "end", "text", "score")}
    regex = _regex(fields, notes) if shape == REGEX else None
    if shape != REGEX and not texts["path"].strip():
        fields.fault("path", "missing; it is the dotted path to a result's file")
    return Parse(shape, regex=regex, empty=read_pattern(fields, "empty", notes), **texts)


def one_of(fields: Fields, name: str, known: tuple[str, ...]) -> str | None:
    """The text at ``name`` if it is one of ``known``; None where it is absent, blank or unknown."""
    text = fields.text(name)
    if text and text not in known:
        fields.fault(name, f"{text!r} is unknown{closest(text, known)} (known: {', '.join(known)})")
    return text if text in known else None


def read_template(notes: Notes, place: str, text: str, known: tuple[str, ...]) -> Template | None:
    """The template at ``place``, which may name the ``known`` fields; None where it has faults."""
    template = notes.checked(place, parse_template, text)
    if template is None:
        return None
    early = [name for name in (*OF_QUERY, *OF_SERVER) if name in template.fields - set(known)]
    if early:
        shown = ", ".join(f"{{{{.{name}}}}}" for name in early)
        why = "there is no query yet" if early[0] in OF_QUERY else "it is the port of a server with a url"
        notes.fault(place, f"{shown} is not known here: {why}")
    return template


def read_pattern(fields: Fields, name: str, notes: Notes) -> re.Pattern[str] | None:
    """The regular expression at ``name``; None where there is none, or it has faults."""
    text = fields.text(name)
    return notes.checked(fields.place(name), compile_plain, text) if text else None


def _regex(fields: Fields, notes: Notes) -> re.Pattern[str] | None:
    text = fields.text("regex")
    if not text:
        fields.fault("regex", "missing; the format regex needs one, with a group (?P<path>…)")
        return None
    beyond = beyond_re2(text)
    if beyond is not None:
        notes.warnings.append(
            f"{fields.place('regex')}: {beyond} is read here, but not by RE2 in the original"
        )
    return notes.checked(fields.place("regex"), compile_expression, text)


def _chunks(fields: Fields, notes: Notes) -> re.Pattern[str] | None:
    text = fields.text("chunks")
    return notes.checked(fields.place("chunks"), compile_count, text) if text else None


def read_timeout(fields: Fields, default: float, name: str = "timeout") -> float:
    """The seconds of the duration at ``name``; ``default`` where there is none."""
    value = fields.raw(name)
    if isinstance(value, int | float) and not isinstance(value, bool):
        fields.fault(name, f'a bare number is no duration; write "{value}s"')
        return default
    text = fields.text(name)
    try:
        return (parse_duration(text) if text else 0.0) or default
    except ValueError as error:
        fields.fault(name, str(error))
        return default
