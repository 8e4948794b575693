"""A session with a server of the Model Context Protocol, kept by a thread of its own.

The SDK is asynchronous and what it asks may never answer. So each session has one event loop in one thread;
whoever asks waits outside of it, for so many seconds and no more.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import logging
import signal
import threading
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any, TypeVar

from pytest_retrieval.arms.engine.mcp_links import Link
from pytest_retrieval.engines.tools import Greeting
from pytest_retrieval.programs.groups import ProgramError
from pytest_retrieval.programs.peer import Peer

_STOPPING = 5.0  # seconds for a loop to wind up
_PAGES = 100  # of a list of tools
_CLOSED = -32000  # what the SDK answers in place of a server that is gone
_LOGGERS = ("mcp", "client", "httpx", "httpx2")

T = TypeVar("T")


class CallError(ProgramError):
    """The server answered a request with an error; the session goes on."""


class Session:
    """A session over the link that ``make`` makes in the session's loop; ``peer`` is the server's program.

    ``roots`` is the folder that a server is told when it asks for one. ``timeout`` are the seconds until the
    server must have said who it is and what its tools are. ``values`` are the template fields it was started
    with, for who wants to show them.

    Raises:
        ProgramError: it did not, or has ended.
    """

    def __init__(
        self, make: Callable[[], Link], peer: Peer | None, *, roots: Path | None, timeout: float
    ) -> None:
        _be_quiet()
        self.values: Mapping[str, str] = {}
        self._make = make
        self._peer = peer
        self._roots = roots
        self._opened: concurrent.futures.Future[Greeting] = concurrent.futures.Future()
        self._loop = asyncio.new_event_loop()
        self._session: Any = None
        self._open = False
        self._link: Link | None = None
        self._stop: asyncio.Event | None = None
        self._thread = threading.Thread(target=self._run, name="mcp session", daemon=True)
        self._thread.start()
        try:
            self.greeting = self._result(self._opened, timeout)
            self._open = True
        except BaseException:
            self.kill()
            raise

    def call(self, tool: str, arguments: Mapping[str, Any], timeout: float) -> Mapping[str, Any]:
        """The result of a call of a tool, as ``tools/call`` has it.

        After any other error than :class:`CallError` the session is in no known state: end it.

        Raises:
            CallError: the server refused.
            ProgramError: there was no answer in time, the server has ended, or said what cannot be read.
        """
        asked = self._called(tool, dict(arguments))
        try:
            future = asyncio.run_coroutine_threadsafe(asked, self._loop)
        except RuntimeError:
            asked.close()
            raise ProgramError(self._trouble() or "the session has ended") from None
        return self._result(future, timeout)

    def peak_rss(self) -> int | None:
        """The most memory that the server's program has needed, in bytes, where it was started here."""
        return None if self._peer is None else self._peer.peak_rss()

    def close(self) -> None:
        """End the session, and then its server, which may end by itself first."""
        self._wind_up()
        if self._link is not None:
            self._link.leave()
        if self._peer is not None:
            self._peer.close()

    def kill(self) -> None:
        """End the session and its server at once."""
        if self._peer is not None:
            self._peer.signal(signal.SIGKILL)
        self._wind_up()
        if self._peer is not None:
            self._peer.kill()

    def _result(self, future: concurrent.futures.Future[T], timeout: float) -> T:
        """What a future gives in time."""
        try:
            return future.result(timeout)
        except concurrent.futures.CancelledError:
            raise ProgramError(self._trouble() or "the session has ended") from None
        except TimeoutError:
            future.cancel()
            trouble = self._trouble()
            raise ProgramError(f"timed out after {timeout:g} s{f'; {trouble}' if trouble else ''}") from None
        except ProgramError:
            raise
        # Whatever the SDK raises, in a group or alone, is an answer that could not be had.
        except Exception as error:
            raise self._explained(_leaf(error)) from error

    def _explained(self, error: BaseException) -> ProgramError:
        """One line for what was raised; a :class:`CallError` where the session goes on."""
        if isinstance(error, ProgramError):
            return error
        told = getattr(error, "error", None)
        code = getattr(told, "code", None)
        said = str(getattr(told, "message", error)).partition("For further information")[0]
        text = " ".join(said.split())[:300] or type(error).__name__
        trouble = self._trouble()
        if code == _CLOSED or (self._link is not None and self._link.ended.is_set()):
            return ProgramError(trouble or self._ending() or text)
        text += f" ({trouble})" if trouble else ""
        if not self._open:
            return ProgramError(f"no session: {text}")
        if told is not None:
            return CallError(f"the server answered with error {code}: {text}")
        return CallError(f"the answer cannot be taken: {text}")

    def _ending(self) -> str | None:
        """How the server ended, if it was started here and closed the connection for that."""
        if self._peer is None:
            return None
        ending = self._peer.ending()
        return ending if self._peer.exited() else None

    def _trouble(self) -> str | None:
        return None if self._link is None else self._link.trouble()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._kept())
        # It is told to whoever waits for the session to open; later nobody does.
        except BaseException as error:  # noqa: BLE001
            if not self._opened.done():
                self._opened.set_exception(
                    error if isinstance(error, Exception) else ProgramError(str(error))
                )
        finally:
            with contextlib.suppress(RuntimeError):
                self._finish()

    def _finish(self) -> None:
        """Cancel what is left in the loop, and close it."""
        left = asyncio.all_tasks(self._loop)
        for task in left:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.close()

    async def _kept(self) -> None:
        """Open the session and keep it until it is to stop."""
        from mcp import ClientSession

        listed_roots: Any = self._listed_roots  # versions of the SDK differ in what they call its argument
        self._stop = asyncio.Event()
        self._link = link = self._make()
        async with (
            link.open() as (read, write),
            ClientSession(read, write, list_roots_callback=listed_roots) as session,
        ):
            self._session = session
            self._opened.set_result(await self._while_alive(self._greeted()))
            await self._stop.wait()

    async def _greeted(self) -> Greeting:
        """Say hello, and ask for the tools."""
        greeting = await self._hello()
        cursor: str | None = None
        for _ in range(_PAGES):
            page = await self._page(cursor)
            greeting.tools.update({str(tool["name"]): tool for tool in page["tools"]})
            cursor = page.get("nextCursor")
            if not cursor:
                break
        return greeting

    async def _hello(self) -> Greeting:
        """The handshake; a server that has none any more is asked what it is."""
        from mcp import types

        try:
            begun = (await self._session.initialize()).model_dump(by_alias=True, mode="json")
            told, protocol = begun.get("serverInfo") or {}, begun.get("protocolVersion")
        except Exception as error:
            if not isinstance(error, _refusals()) or not hasattr(types, "DiscoverResult"):
                raise
            await self._session.discover()
            info = self._session.server_info
            told = {} if info is None else info.model_dump(by_alias=True, mode="json")
            protocol = self._session.protocol_version
        return Greeting(str(told.get("name") or ""), str(told.get("version") or ""), str(protocol))

    async def _page(self, cursor: str | None) -> dict[str, Any]:
        from mcp.types import PaginatedRequestParams

        params = PaginatedRequestParams(cursor=cursor) if cursor else None
        page = await self._session.list_tools(params=params)
        dumped: dict[str, Any] = page.model_dump(by_alias=True, mode="json", exclude_none=True)
        return dumped

    async def _called(self, tool: str, arguments: dict[str, Any]) -> Mapping[str, Any]:
        assert self._link is not None
        self._link.begin()
        result = await self._while_alive(self._session.call_tool(tool, arguments))
        dumped: dict[str, Any] = result.model_dump(by_alias=True, mode="json", exclude_none=True)
        return dumped

    async def _while_alive(self, asked: Coroutine[Any, Any, T]) -> T:
        """What ``asked`` gives, unless the link ends before."""
        assert self._link is not None
        answer = asyncio.ensure_future(asked)
        ended = asyncio.ensure_future(self._link.ended.wait())
        try:
            await asyncio.wait({answer, ended}, return_when=asyncio.FIRST_COMPLETED)
            if not answer.done():
                raise ProgramError(self._link.trouble() or "the connection has ended")
            return answer.result()
        finally:
            ended.cancel()
            answer.cancel()

    async def _listed_roots(self, _: Any) -> Any:
        """The roots of a client, which some servers ask for: the tree."""
        from mcp import types

        roots = [] if self._roots is None else [{"uri": self._roots.as_uri()}]
        return types.ListRootsResult.model_validate({"roots": roots})

    def _wind_up(self) -> None:
        """Have the thread end; one that does not in time is left to itself, for its server is gone."""
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._cancel)
        self._thread.join(_STOPPING)

    def _cancel(self) -> None:
        if self._stop is not None:
            self._stop.set()
        if not self._opened.done():
            for task in asyncio.all_tasks(self._loop):
                task.cancel()


def _leaf(error: BaseException) -> BaseException:
    """The first error within groups of errors."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _refusals() -> tuple[type[Exception], ...]:
    """What the SDK raises for an error that the server sent, by the names that its versions have for it."""
    import mcp

    found = (getattr(mcp, name, None) for name in ("MCPError", "McpError"))
    return tuple(kind for kind in found if kind is not None)


def _be_quiet() -> None:
    """What the SDK logs is told as a fault where it is one; a console shows no logs of strangers."""
    for name in _LOGGERS:
        logger = logging.getLogger(name)
        if not logger.handlers:
            logger.addHandler(logging.NullHandler())
