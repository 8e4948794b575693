"""What an invocation left: read out of its output and the file it was told to write, and not judged."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pytest_retrieval.agents.description import FILE, STDOUT, AgentDescription
from pytest_retrieval.agents.events import Observed, Tokens, read_stream
from pytest_retrieval.programs.process import Completed

REPLY_BYTES = 1 << 20  # of a reply that a record keeps
_LIMIT_TAIL = 64 << 10  # bytes of the output in which the words of a rate limit are looked for
_SHOWN = 400  # characters of the last words


@dataclass(frozen=True, slots=True)
class Observation:
    """What an invocation that ended by itself left: facts, none of them judged.

    ``exit_code`` is -1 where a signal ended it. ``tokens`` and ``tool_calls`` are None where nothing told
    them. ``limited`` says that it failed and named a rate limit; ``said`` is the last that it told of a
    failure, in its events or its diagnostics.
    """

    reply: str
    exit_code: int
    tokens: Tokens | None = None
    tool_calls: int | None = None
    commands: tuple[str, ...] = ()
    reply_truncated: bool = False
    stdout_truncated: bool = False
    limited: bool = False
    said: str = ""


def observation(done: Completed, description: AgentDescription, place: Path) -> Observation:
    """What stands in the output and in the reply file at ``place``.

    Events that were cut off have told nothing whole, so they count nothing.
    """
    seen = Observed() if description.events is None else read_stream(done.stdout, description.events)
    cut = done.stdout_truncated
    written = _reply_file(place) if description.reply == FILE else None
    if description.reply == STDOUT:
        reply = done.stdout.decode("utf-8", "replace")
    else:
        reply = (seen.message or "") if written is None else written.decode("utf-8", "replace")
    return Observation(
        reply,
        done.returncode if done.returncode >= 0 else -1,
        tokens=None if cut else seen.tokens,
        tool_calls=None if cut else seen.tool_calls,
        commands=seen.commands,
        reply_truncated=cut and written is None,
        stdout_truncated=cut,
        limited=_is_limited(done, description),
        said=_last_words(seen.error or done.stderr.decode("utf-8", "replace")),
    )


def _is_limited(done: Completed, description: AgentDescription) -> bool:
    """Whether it failed, and named a rate limit; a reply that speaks of one is no failure."""
    if description.retry is None or done.returncode == 0:
        return False
    said = done.stderr + b"\n" + done.stdout[-_LIMIT_TAIL:]
    return description.retry.pattern.search(said.decode("utf-8", "replace")) is not None


def _reply_file(place: Path) -> bytes | None:
    """What the agent wrote as its reply, up to a byte more than is kept; None where there is no such file."""
    with suppress(OSError):
        descriptor = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            if stat.S_ISREG(os.fstat(descriptor).st_mode):
                return file.read(REPLY_BYTES + 1)
    return None


def _last_words(diagnostics: str) -> str:
    """The last line that is not blank, made printable and not too long."""
    lines = diagnostics.strip().splitlines()
    shown = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in lines[-1]) if lines else ""
    return shown[:_SHOWN]
