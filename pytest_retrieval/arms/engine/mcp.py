"""An engine that is a server of the Model Context Protocol: started or reached, set up, waited for, asked."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterator, Mapping
from typing import Any

from pytest_retrieval.arms.engine.calls import shown_command
from pytest_retrieval.arms.engine.mcp_connect import connect
from pytest_retrieval.arms.engine.mcp_session import CallError, Session
from pytest_retrieval.arms.engine.talk import RESTARTS
from pytest_retrieval.engines.description import Description, Server, ToolCall
from pytest_retrieval.engines.output import OutputError
from pytest_retrieval.engines.replies import Reply, read_reply, reply_text
from pytest_retrieval.engines.tools import argument_notes, nearest_tool, schema_of
from pytest_retrieval.errors import ArmError
from pytest_retrieval.programs.groups import ProgramError

_SHOWN = 300
_PATIENCE = 5.0  # seconds for the last look at whether a server is ready


class Asked:
    """A server that is asked by calls of its tools; see :class:`~pytest_retrieval.arms.engine.talk.Talk`.

    After a fault that leaves it in no known state it is started anew, :data:`RESTARTS` times.
    """

    sets_up = True

    def __init__(self, description: Description, values: Mapping[str, str]) -> None:
        assert description.server is not None
        self._description = description
        self._server: Server = description.server
        self._values = values
        self._session: Session | None = None
        self._faults: list[str] = []
        self._lines: list[str] = []
        self.set_up = 0.0
        self.tool_schema: str | None = None

    def start(self) -> None:
        """Start the server unless it runs, make the set-up calls, and wait until it is ready.

        Raises:
            ArmError: it cannot be started, has no such tool, refused a call, or is not ready in time.
        """
        if len(self._faults) > RESTARTS:
            raise ArmError(f"given up after {RESTARTS} restarts; the last fault: {self._faults[-1]}")
        if self._session is None:
            try:
                self._open()
            except ArmError as error:
                self._faults.append(str(error))
                raise

    def ask(self, values: Mapping[str, str]) -> Reply:
        """What the tool replied.

        Raises:
            ArmError: it replied with an error, or not at all.
        """
        self.start()
        assert self._session is not None
        call = self._server.search
        try:
            result = self._session.call(call.tool, call.arguments.render(values), call.timeout)
        except CallError as error:
            raise ArmError(str(error)) from error
        except ProgramError as error:
            self._begin_again(error)
            raise ArmError(str(error)) from error
        except BaseException:  # an interrupt: the server is busy, and would not end by itself
            self._kill()
            raise
        _check(result, call)
        try:
            return read_reply(result, self._server.reply, self._description.parse)
        except OutputError as error:
            raise ArmError(str(error)) from error

    def about(self) -> Iterator[str]:
        """Lines on the server, its tools, and how it was set up."""
        yield from self._lines

    def shown(self, values: Mapping[str, str]) -> Iterator[str]:
        """The call of a query."""
        yield f"call: {_shown_call(self._server.search, values)}"

    def peak_rss(self, values: Mapping[str, str]) -> int | None:
        """The most memory that the server has needed; None for one that was not started here."""
        return None if self._session is None else self._session.peak_rss()

    def close(self) -> None:
        """End the session, and the server if it was started here."""
        session, self._session = self._session, None
        if session is not None:
            session.close()

    def _begin_again(self, fault: ProgramError) -> None:
        """End the server and start it now: no other query's time may contain that."""
        self._faults.append(str(fault))
        self._kill()
        with contextlib.suppress(ArmError):
            self.start()

    def _kill(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            session.kill()

    def _open(self) -> None:
        started = time.perf_counter()
        self._lines = []
        session = connect(self._description, self._values)
        try:
            self._look(session)
            for number, call in enumerate(self._server.setup):
                self._set_up(session, f"setup[{number}]", call)
            if self._server.ready is not None:
                self._wait(session, self._server.ready)
        except BaseException:
            session.kill()
            raise
        self._session = session
        self.set_up = time.perf_counter() - started

    def _look(self, session: Session) -> None:
        """See that the server has the tools."""
        greeting = session.greeting
        said = greeting.shown or "without a name"
        self._lines.append(f"server: {said}, protocol {greeting.protocol}")
        if self._server.command is not None:
            self._lines.append(f"process: {shown_command(self._server.command, session.values)}")
        self._lines.append(f"tools: {', '.join(greeting.tools)}")
        for call in self._server.calls:
            if call.tool not in greeting.tools:
                raise ArmError(nearest_tool(call.tool, tuple(greeting.tools)))
        self.tool_schema = schema_of(self._server, greeting.tools)
        self._lines += [f"warning: {note}" for note in argument_notes(self._server, greeting.tools)]

    def _set_up(self, session: Session, place: str, call: ToolCall) -> None:
        started = time.perf_counter()
        try:
            result = session.call(call.tool, call.arguments.render(self._values), call.timeout)
            _check(result, call)
        except (ProgramError, ArmError) as error:
            raise ArmError(f"{place} ({call.tool}): {error}") from error
        said = reply_text(result)
        if call.match is not None and not call.match.search(said):
            pattern = call.match.pattern
            raise ArmError(f"{place} ({call.tool}): the reply does not match {pattern!r}: {_line(said)}")
        self._note(place, call, said, started)

    def _wait(self, session: Session, call: ToolCall) -> None:
        """Ask until the reply matches."""
        started = time.perf_counter()
        deadline = time.monotonic() + call.timeout
        arguments = call.arguments.render(self._values)
        while True:
            left = max(deadline - time.monotonic(), _PATIENCE)
            try:
                result = session.call(call.tool, arguments, left)
            except CallError as error:
                said = str(error)
            except ProgramError as error:
                raise ArmError(f"ready ({call.tool}): {error}") from error
            else:
                said = reply_text(result)
                if not result.get("isError") and call.match is not None and call.match.search(said):
                    break
            if time.monotonic() + call.interval >= deadline:
                raise ArmError(f"not ready after {call.timeout:g} s: {call.tool} says {_line(said)}")
            time.sleep(call.interval)
        self._note("ready", call, said, started)

    def _note(self, place: str, call: ToolCall, said: str, started: float) -> None:
        seconds = time.perf_counter() - started
        self._lines.append(f"{place}: {_shown_call(call, self._values)}")
        self._lines.append(f"  {seconds:.3f} s: {_line(said)}")


def _check(result: Mapping[str, Any], call: ToolCall) -> None:
    """Refuse a result that is an error."""
    if result.get("isError"):
        raise ArmError(f"the tool {call.tool!r} replied with an error: {_line(reply_text(result))}")


def _shown_call(call: ToolCall, values: Mapping[str, str]) -> str:
    return f"{call.tool} {json.dumps(call.arguments.render(values), ensure_ascii=False)}"


def _line(text: str) -> str:
    shown = " ".join(text.split())
    return f"{shown[:_SHOWN]}…" if len(shown) > _SHOWN else shown or "nothing"
