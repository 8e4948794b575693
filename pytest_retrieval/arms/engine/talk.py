"""How an engine is asked: one process per query, or one process for all of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Protocol, runtime_checkable

from pytest_retrieval.arms.engine.calls import (
    OUTPUT_LIMIT,
    call,
    check_end,
    clean,
    environment,
    folder,
    shown_command,
    words,
)
from pytest_retrieval.engines.description import MCP, ONESHOT, Description
from pytest_retrieval.engines.replies import Reply
from pytest_retrieval.errors import ArmError
from pytest_retrieval.programs.dialogue import Dialogue
from pytest_retrieval.programs.process import ProgramError

_SHOWN = 200
RESTARTS = 2  # of a persistent process on one tree: the third would be the end


@runtime_checkable
class Metered(Protocol):
    """A way of asking whose memory can be measured."""

    def peak_rss(self, values: Mapping[str, str]) -> int | None:
        """The most memory of the process that answers, in bytes; it may be asked ``values`` once more."""


class Talk(Protocol):
    """A way of asking; ``values`` are all template fields of a query.

    Where getting ready ``sets_up`` what is kept in the state, it is part of building the index, and
    ``set_up`` are the seconds that it took. ``tool_schema`` is how an agent is told of the tool.
    """

    sets_up: bool
    set_up: float
    tool_schema: str | None

    def start(self) -> None:
        """Get ready for queries.

        Raises:
            ArmError: the program cannot be started.
        """

    def ask(self, values: Mapping[str, str]) -> Reply:
        """The output that answers a query.

        Raises:
            ArmError: there is none.
        """

    def about(self) -> Iterator[str]:
        """Lines on what was started, for who tries a description."""

    def shown(self, values: Mapping[str, str]) -> Iterator[str]:
        """Lines on how a query is asked, for who tries a description."""

    def close(self) -> None:
        """End whatever runs."""


def talk_of(description: Description, values: Mapping[str, str]) -> Talk:
    """The way of asking that ``description`` says; ``values`` are the fields of the tree and of the depth."""
    if description.mode == MCP:
        from pytest_retrieval.arms.engine.mcp import Asked

        return Asked(description, values)
    return (OneShot if description.mode == ONESHOT else Persistent)(description, values)


class _Called:
    """A program of which nothing is known but its command."""

    sets_up = False
    set_up = 0.0
    tool_schema: str | None = None


class OneShot(_Called):
    """Each query starts the tool anew, and its start is part of the query's time."""

    def __init__(self, description: Description, values: Mapping[str, str]) -> None:
        self._description = description
        self._peaks: list[int | None] = []  # of the one search that was measured

    def start(self) -> None:
        """Nothing: there is no process between queries."""

    def ask(self, values: Mapping[str, str]) -> Reply:
        """The standard output of a search; see :class:`Talk`."""
        command = self._description.search
        done = call(self._description, command, values)
        check_end(done, command, may_find_nothing=True)
        return Reply(done.stdout, done.stdout, done.stderr)

    def about(self) -> Iterator[str]:
        """Nothing: there is no process between queries."""
        yield from ()

    def shown(self, values: Mapping[str, str]) -> Iterator[str]:
        """The command, and what it is given to read."""
        yield f"search: {shown_command(self._description.search, values)}"
        yield from _shown_input(self._description, values)

    def peak_rss(self, values: Mapping[str, str]) -> int | None:
        """That of one more search: measuring takes time, which no answer's own time may contain."""
        if not self._peaks:
            usage = call(self._description, self._description.search, values, metered=True).usage
            self._peaks.append(None if usage is None else usage.peak)
        return self._peaks[0]

    def close(self) -> None:
        """Nothing."""


class Persistent(_Called):
    """One process answers a line per query; after a fault it is started anew, :data:`RESTARTS` times."""

    def __init__(self, description: Description, values: Mapping[str, str]) -> None:
        self._description = description
        self._values = values
        self._dialogue: Dialogue | None = None
        self._asked = 0
        self._faults: list[str] = []

    def start(self) -> None:
        """Start the process unless it runs; see :class:`Talk`."""
        if len(self._faults) > RESTARTS:
            raise ArmError(f"given up after {RESTARTS} restarts; the last fault: {self._faults[-1]}")
        if self._dialogue is None:
            command = self._description.search
            variables = environment(self._description, self._values)
            argv = words(command, self._values, variables)
            try:
                self._dialogue = Dialogue(argv, cwd=folder(command, self._values), environment=variables)
            except ProgramError as error:
                raise ArmError(str(error)) from error

    def ask(self, values: Mapping[str, str]) -> Reply:
        """The line that answers; see :class:`Talk`."""
        self.start()
        assert self._dialogue is not None
        self._asked += 1
        line = self._request(values)
        try:
            reply = self._dialogue.ask(line, timeout=self._description.search.timeout, limit=OUTPUT_LIMIT)
            self._check(reply)
        except ProgramError as error:
            self._dialogue.kill()
            self._dialogue = None
            self._faults.append(str(error))
            raise ArmError(str(error)) from error
        return Reply(reply, reply)

    def about(self) -> Iterator[str]:
        """The command of the process."""
        yield f"process: {shown_command(self._description.search, self._values)}"

    def shown(self, values: Mapping[str, str]) -> Iterator[str]:
        """The line it is given, where that is described."""
        yield from _shown_input(self._description, values)

    def peak_rss(self, values: Mapping[str, str]) -> int | None:
        """What the process has needed until now; see :class:`Metered`."""
        return None if self._dialogue is None else self._dialogue.peak_rss()

    def close(self) -> None:
        """End the process, if there is one."""
        dialogue, self._dialogue = self._dialogue, None
        if dialogue is not None:
            dialogue.close()

    def _request(self, values: Mapping[str, str]) -> bytes:
        template = self._description.search.stdin
        if template is not None:
            line = template.render(values).removesuffix("\n")
            if "\n" in line:
                raise ArmError("search.stdin came out as several lines; write {{json .Query}} for one")
        else:
            query = {
                "id": self._asked,
                "query": values["Query"],
                "k": int(values["K"]),
                "n": int(values["N"]),
                "per_file": int(values["PerFile"]),
            }
            line = json.dumps(query)
        return clean(line).encode("utf-8")

    def _check(self, reply: bytes) -> None:
        """Refuse a line that is no JSON, or that answers another query: the process is out of step then."""
        try:
            document: Any = json.loads(reply)
        except (ValueError, RecursionError) as error:
            why = f"the reply is no JSON ({error}): {reply[:120]!r}"
            raise ProgramError(f"{why}; a persistent tool prints replies alone, one line each") from error
        if isinstance(document, dict) and document.get("id", self._asked) != self._asked:
            raise ProgramError(f"the reply has the id {document['id']!r:.40}, the request had {self._asked}")


def _shown_input(description: Description, values: Mapping[str, str]) -> Iterator[str]:
    if description.search.stdin is not None:
        yield f"stdin: {description.search.stdin.render(values)!r:.{_SHOWN}}"
