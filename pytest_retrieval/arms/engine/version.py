"""What is asked of a tool before there is a tree: which version it is, and how agents are told of it."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_retrieval.arms.engine.calls import call, check_end, fixed_values, hidden
from pytest_retrieval.arms.engine.identity import Identity, identify
from pytest_retrieval.arms.program import one_line
from pytest_retrieval.engines.description import Description

_SHOWN = 120


@dataclass(frozen=True, slots=True)
class Seen:
    """The identity of a tool, how an agent is told of it, and what speaks against its arguments."""

    identity: Identity
    tool_schema: str | None = None
    notes: tuple[str, ...] = ()


def look(description: Description) -> Seen:
    """What there is to see of the tool.

    Raises:
        ArmError: it is not there, or fails.
    """
    said, values = [_said_version(description)], fixed_values(description)
    if description.server is None:
        return Seen(identify(description, values, _joined(said, description)))
    from pytest_retrieval.arms.engine.mcp_connect import introduce
    from pytest_retrieval.engines.tools import argument_notes, schema_of

    greeting = introduce(description)
    if greeting is None:
        return Seen(identify(description, values, _joined(said, description)))
    said.append(greeting.shown)
    return Seen(
        identify(description, values, _joined(said, description)),
        schema_of(description.server, greeting.tools),
        tuple(argument_notes(description.server, greeting.tools)),
    )


def _said_version(description: Description) -> str | None:
    """The first line of what the version command says."""
    command = description.version
    if command is None:
        return None
    values = {**fixed_values(description), "Root": "", "Name": "", "Lang": "", "State": ""}
    done = call(description, command, values)
    check_end(done, command, may_find_nothing=False)
    first = (done.stdout or done.stderr).strip().partition(b"\n")[0]
    return one_line(first, limit=_SHOWN)


def _joined(said: list[str | None], description: Description) -> str | None:
    whole = "; ".join(" ".join(one.split())[:_SHOWN] for one in said if one)
    return hidden(whole, description) if whole else None
