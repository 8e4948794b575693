"""How messages get to a server of the Model Context Protocol and back: over its pipes, or over HTTP.

The SDK's session takes two streams of messages. Its own way to a program would start the program itself;
here the program is started as every other is, so that nothing of it is left whatever happens.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import signal
import time
from collections.abc import AsyncIterator, Mapping
from typing import Any, Protocol
from urllib.parse import urlsplit

from pytest_retrieval.programs.groups import DRAIN, ProgramError
from pytest_retrieval.programs.peer import Peer, read_piece

_TICK = 0.05
_CONNECT = 30.0  # seconds to connect, and to send
_REFUSED = 400  # the least status that is an error
_ENCODING = {"Accept-Encoding": "identity"}  # so that the size of what comes is what is counted


class Link(Protocol):
    """A way to a server; all of it is used in one event loop."""

    ended: asyncio.Event

    def open(self) -> contextlib.AbstractAsyncContextManager[tuple[Any, Any]]:
        """The streams of messages from the server and to it."""

    def begin(self) -> None:
        """Start to count what the server says."""

    def leave(self) -> None:
        """Let the server know that nobody will ask any more; for after the session."""

    def trouble(self) -> str | None:
        """Why there will be no answer, or why there was none; None where nothing is known."""


class PipeLink:
    """The way over the pipes of a started server, one message per line.

    A line that is no message is counted and passed over, as other clients do: servers print.
    """

    def __init__(self, peer: Peer, limit: int) -> None:
        self._peer = peer
        self._limit = limit
        self._heard = 0
        self._odd = 0  # lines that are no messages
        self._first = b""
        self._fault: str | None = None
        self.ended = asyncio.Event()

    @contextlib.asynccontextmanager
    async def open(self) -> AsyncIterator[tuple[Any, Any]]:
        """See :class:`Link`."""
        import anyio

        incoming, read = anyio.create_memory_object_stream[Any](0)
        write, outgoing = anyio.create_memory_object_stream[Any](0)
        async with incoming, read, write, outgoing, anyio.create_task_group() as tasks:
            tasks.start_soon(self._hear, incoming)
            tasks.start_soon(self._speak, outgoing)
            tasks.start_soon(_drain, self._peer, self.ended)
            try:
                yield read, write
            finally:
                tasks.cancel_scope.cancel()

    def begin(self) -> None:
        """See :class:`Link`."""
        self._heard = self._odd = 0

    def leave(self) -> None:
        """Nothing: the end of its input tells it."""

    def trouble(self) -> str | None:
        """See :class:`Link`."""
        if self._fault is not None:
            return self._fault
        if self.ended.is_set():
            return self._peer.ending()
        if self._odd:
            return f"{self._odd} lines of its output are no messages, the first is {self._first!r:.160}"
        return None

    async def _hear(self, incoming: Any) -> None:
        rest: list[bytes] = []  # of a line, whose end has not come yet
        while not self.ended.is_set() and self._fault is None:
            await _ready(self._peer.stdout, self.ended)
            piece = read_piece(self._peer.stdout)
            if piece == b"":
                break
            first, *lines = (piece or b"").split(b"\n")
            rest.append(first)
            self._count(len(piece or b""))
            if lines and self._fault is None:
                await self._pass_on([b"".join(rest), *lines[:-1]], incoming)
                rest = lines[-1:]
        self.ended.set()
        await incoming.aclose()

    async def _pass_on(self, lines: list[bytes], incoming: Any) -> None:
        for line in filter(bytes.strip, lines):
            message = _message(line)
            if message is None:
                self._first = self._first if self._odd else line[:160]
                self._odd += 1
            else:
                await incoming.send(message)

    def _count(self, size: int) -> None:
        self._heard += size
        if self._heard > self._limit:
            self._fault = f"its output exceeds {self._limit:,} bytes"

    async def _speak(self, outgoing: Any) -> None:
        async for message in outgoing:
            line = message.message.model_dump_json(by_alias=True, exclude_unset=True)
            rest = memoryview(line.encode() + b"\n")
            while rest and not self.ended.is_set():
                await _ready(self._peer.stdin, self.ended, writing=True)
                rest = self._peer.write(rest)


class WebLink:
    """The way over streamable HTTP to ``url``; ``peer`` is the server where it was started here."""

    def __init__(
        self, url: str, headers: Mapping[str, str], peer: Peer | None, limit: int, timeout: float
    ) -> None:
        self._url = url
        self._headers = headers
        self._peer = peer
        self._limit = limit
        self._timeout = timeout
        self._heard = 0
        self.status = 0  # of the latest response
        self._fault: str | None = None
        self.ended = asyncio.Event()

    @contextlib.asynccontextmanager
    async def open(self) -> AsyncIterator[tuple[Any, Any]]:
        """See :class:`Link`; a server that was started here is waited for."""
        import anyio
        from mcp.client.streamable_http import streamable_http_client

        async with anyio.create_task_group() as tasks, self._client() as client:
            if self._peer is not None:
                tasks.start_soon(_drain, self._peer, self.ended)
                tasks.start_soon(_swallow, self._peer, self.ended)
                await self._wait()
            leave = self._peer is None  # one that was started here is ended anyway
            try:
                async with streamable_http_client(
                    self._url, http_client=client, terminate_on_close=leave
                ) as streams:
                    yield streams[0], streams[1]
            finally:
                tasks.cancel_scope.cancel()

    def begin(self) -> None:
        """See :class:`Link`."""
        self._heard = self.status = 0

    def leave(self) -> None:
        """See :class:`Link`: it listens until it is told."""
        if self._peer is not None:
            self._peer.signal(signal.SIGTERM)

    def trouble(self) -> str | None:
        """See :class:`Link`."""
        if self._fault is not None:
            return self._fault
        if self._peer is not None and self.ended.is_set():
            return self._peer.ending()
        return f"HTTP status {self.status}" if self.status >= _REFUSED else None

    def _client(self) -> Any:
        """A client whose reading has no bound but that of a call, and which counts what it reads.

        No proxy stands between this and a server that was started here.
        """
        utilities = importlib.import_module("mcp.shared._httpx_utils")
        library: Any = getattr(utilities, "httpx2", None) or utilities.httpx
        link = self

        # The library is known at run time only: the two versions of the SDK have different ones.
        class Counted(library.AsyncByteStream):  # type: ignore[misc]
            def __init__(self, stream: Any) -> None:
                self._stream = stream

            async def __aiter__(self) -> AsyncIterator[bytes]:
                async for piece in self._stream:
                    link.count(len(piece))
                    yield piece

            async def aclose(self) -> None:
                await self._stream.aclose()

        async def count(response: Any) -> None:
            link.status = response.status_code
            response.stream = Counted(response.stream)

        return library.AsyncClient(
            headers={**_ENCODING, **self._headers},
            timeout=library.Timeout(_CONNECT, read=None),
            trust_env=self._peer is None,
            event_hooks={"response": [count]},
        )

    def count(self, size: int) -> None:
        """Take note of ``size`` more bytes."""
        self._heard += size
        if self._heard > self._limit:
            self._fault = f"its output exceeds {self._limit:,} bytes"
            self.ended.set()
            raise ProgramError(self._fault)

    async def _wait(self) -> None:
        """Wait until somebody listens at the address.

        Raises:
            ProgramError: nobody does in time, or the server has ended.
        """
        parts = urlsplit(self._url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        deadline = time.monotonic() + self._timeout * 0.9  # before whoever waits gives up
        while not self.ended.is_set():
            try:
                _, writer = await asyncio.open_connection(parts.hostname, port)
            except OSError as error:
                if time.monotonic() >= deadline:
                    raise ProgramError(f"nobody listens at {parts.hostname}:{port}: {error}") from error
                await asyncio.sleep(_TICK)
            else:
                writer.close()
                return
        raise ProgramError(self.trouble() or "it has ended")


async def _drain(peer: Peer, ended: asyncio.Event) -> None:
    """Take in the diagnostics of a server, and notice its end even where others hold its pipes on."""
    open_end = True
    while not peer.exited():
        if open_end:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(_ready(peer.stderr, ended), _TICK * 4)
                open_end = peer.hear_diagnostics()
        else:
            await asyncio.sleep(_TICK * 4)
    await asyncio.sleep(DRAIN / 5)  # what it said last is still in its pipe
    ended.set()


async def _swallow(peer: Peer, ended: asyncio.Event) -> None:
    """Read the standard output of a server that answers elsewhere."""
    while read_piece(peer.stdout) != b"":
        await _ready(peer.stdout, ended)
        if ended.is_set():
            return


async def _ready(descriptor: int, ended: asyncio.Event, *, writing: bool = False) -> None:
    """Wait until the descriptor can be read from or written to, or the server has ended."""
    loop, event = asyncio.get_running_loop(), asyncio.Event()
    add, remove = (loop.add_writer, loop.remove_writer) if writing else (loop.add_reader, loop.remove_reader)
    waits = [asyncio.ensure_future(event.wait()), asyncio.ensure_future(ended.wait())]
    add(descriptor, event.set)
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        remove(descriptor)
        for wait in waits:
            wait.cancel()


def _message(line: bytes) -> Any:
    """The message that a line is, as the SDK has it; None where it is none."""
    from mcp import types
    from mcp.shared.message import SessionMessage

    adapter: Any = getattr(types, "jsonrpc_message_adapter", None)
    try:
        if adapter is not None:  # of the second version of the SDK
            return SessionMessage(adapter.validate_json(line, by_name=False))
        # Of the first version; the stubs are those of the one that is installed.
        return SessionMessage(types.JSONRPCMessage.model_validate_json(line))  # type: ignore[attr-defined]
    except ValueError:
        return None
