"""One arm over one repository, served to an agent while it runs, and a log of what it asked."""

from __future__ import annotations

import json
import shutil
import socketserver
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from pytest_retrieval.agents.agent import ToolServer
from pytest_retrieval.errors import RetrievalError
from pytest_retrieval.text.cutting import truncate
from pytest_retrieval.trial import toolserver
from pytest_retrieval.trial.placement import Context
from pytest_retrieval.trial.sources import ContextSource, Question
from pytest_retrieval.trial.workspace import Workspace

RESULT_BYTES = 1 << 16
CALLS = 1_000  # that are logged of one invocation
LINES = 200  # that a read shows unless it is told otherwise
_QUERY_BYTES = 2_000
_LIMITS = range(1, 51)
_SOCKET_BYTES = 100  # a socket's path may be a few bytes longer, nowhere more
_POLL = 0.05
_LAST_CALL = 10.0  # seconds


class ToolHost:
    """Serves ``source`` over ``workspace`` within a ``with`` block; ``question`` is the task's own.

    ``calls`` are the logged calls: ``tool``, ``query``, ``n_results``, ``ms``, and ``error`` of a failed one.
    """

    def __init__(
        self, source: ContextSource, question: Question, workspace: Workspace, scratch: Path
    ) -> None:
        self.calls: list[dict[str, Any]] = []
        self._source = source
        self._question = question
        self._workspace = workspace
        self._scratch = scratch
        self._one_at_a_time = threading.Lock()
        self._ended = False

    def __enter__(self) -> ToolServer:
        self._folder = _short_folder(self._scratch)
        place = self._folder / "s"
        try:
            self._server = _Server(str(place), _Handler)
            self._server.host = self
            listening = {"poll_interval": _POLL}
            threading.Thread(target=self._server.serve_forever, kwargs=listening, daemon=True).start()
        except BaseException:
            shutil.rmtree(self._folder, ignore_errors=True)
            raise
        return ToolServer(sys.executable, ("-I", "-S", toolserver.__file__, str(place)))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        shutil.rmtree(self._folder, ignore_errors=True)
        # A call that is still running ends before the repository goes, but no arm may hold up a run for ever.
        held = self._one_at_a_time.acquire(timeout=_LAST_CALL)
        self._ended = True
        if held:
            self._one_at_a_time.release()

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """What a tool says to a request of the server, logged."""
        tool, arguments = request.get("tool"), request.get("arguments")
        with self._one_at_a_time:
            if self._ended:
                return {"text": "the invocation has ended", "error": True}
            started = time.perf_counter()
            shown, fault, count = str(arguments), None, 0
            try:
                shown, text, count = self._used(tool, arguments if isinstance(arguments, dict) else {})
            except (RetrievalError, OSError, ValueError) as error:
                text = fault = " ".join(str(error).split())
            call: dict[str, Any] = {
                "tool": str(tool),
                "query": truncate(shown, _QUERY_BYTES)[0],
                "n_results": count,
                "ms": int((time.perf_counter() - started) * 1_000),
                **({} if fault is None else {"error": fault}),
            }
            if len(self.calls) < CALLS:
                self.calls.append(call)
        return {"text": truncate(text, RESULT_BYTES)[0], "error": fault is not None}

    def _used(self, tool: object, arguments: dict[str, Any]) -> tuple[str, str, int]:
        """What was asked as one text, what is answered, and how many results that is."""
        if tool == "search":
            return self._search(arguments)
        if tool == "read":
            return self._read(arguments)
        raise ValueError(f"there is no tool {tool!r}; there are search and read")

    def _search(self, arguments: dict[str, Any]) -> tuple[str, str, int]:
        query = arguments.get("query")
        if not isinstance(query, str) or not query.strip():
            raise ValueError("search: `query` is a text that is not blank")
        limit = _whole(arguments, "limit", self._question.limit)
        if limit not in _LIMITS:
            raise ValueError(f"search: `limit` is {_LIMITS[0]} to {_LIMITS[-1]}, not {limit}")
        asked = Question(query, limit, self._question.changed_file, self._question.subject)
        body = self._source.produce(asked, self._workspace)
        found = Context(body.text)
        return query, body.text, len(found.ranked(None)) or len(found.results) * (found.packet is not None)

    def _read(self, arguments: dict[str, Any]) -> tuple[str, str, int]:
        path = arguments.get("path")
        if not isinstance(path, str) or not path:
            raise ValueError("read: `path` is the path of a file within the repository")
        path = path.removeprefix("./")
        first = _whole(arguments, "start", 1)
        last = _whole(arguments, "end", first + LINES - 1)
        lines = self._workspace.snapshot.text(path).split("\n")
        lines = lines[:-1] if lines[-1] == "" else lines
        if not 1 <= first <= last:
            raise ValueError(f"read: lines {first} to {last} are none; both count from 1")
        shown = [f"{number}\t{line}" for number, line in enumerate(lines, start=1)][first - 1 : last]
        head = f"{path}, {len(lines)} lines"
        return f"{path}:{first}-{last}", "\n".join([head, *shown]), 1


class _Server(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True
    block_on_close = False
    host: ToolHost


class _Handler(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        """Answer each line of one connection."""
        assert isinstance(self.server, _Server)
        with suppress(OSError, ValueError):  # the agent did not wait, or is not who should ask here
            for line in self.rfile:
                answer = self.server.host.answer(json.loads(line))
                self.wfile.write(json.dumps(answer).encode() + b"\n")


def _whole(arguments: dict[str, Any], name: str, default: int) -> int:
    value = arguments.get(name)
    if value is None:
        return default
    if not isinstance(value, int) or isinstance(value, bool):
        # What a caller got wrong is a ValueError, whatever it is.
        raise ValueError(f"`{name}` is a whole number, not {value!r:.40}")  # noqa: TRY004
    return value


def _short_folder(scratch: Path) -> Path:
    """A new private folder whose path leaves room for a socket's name."""
    for base in (scratch, Path(tempfile.gettempdir())):
        if len(str(base)) + len("/tools-12345678/s") <= _SOCKET_BYTES:
            return Path(tempfile.mkdtemp(prefix="tools-", dir=base))
    return Path(tempfile.mkdtemp(prefix="tools-", dir="/tmp"))
