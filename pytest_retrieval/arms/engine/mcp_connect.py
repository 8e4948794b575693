"""How a session with a server comes about: its program, its address, and what it says first."""

from __future__ import annotations

import importlib.util
import os
import socket
import tempfile
from collections.abc import Mapping
from pathlib import Path

from pytest_retrieval.arms.engine.calls import OUTPUT_LIMIT, environment, fixed_values, folder, words
from pytest_retrieval.arms.engine.mcp_links import Link, PipeLink, WebLink
from pytest_retrieval.arms.engine.mcp_session import Session
from pytest_retrieval.engines.description import Description, Server
from pytest_retrieval.engines.tools import Greeting
from pytest_retrieval.errors import ArmError, UsageError
from pytest_retrieval.programs.groups import ProgramError
from pytest_retrieval.programs.peer import Peer

_PACKAGE = "mcp"


def require_package() -> None:
    """See that the SDK is installed, without the time of importing it.

    Raises:
        UsageError: it is not.
    """
    found = importlib.util.find_spec(_PACKAGE)
    if found is None or found.origin is None:
        raise UsageError(
            'the mode mcp needs the package "mcp", which is not installed; install pytest-retrieval[mcp]'
        )


def connect(description: Description, values: Mapping[str, str]) -> Session:
    """A session with the server of ``description``, which is started or reached for it.

    Raises:
        ArmError: there is none.
    """
    server = description.server
    assert server is not None
    try:
        require_package()
    except UsageError as error:
        raise ArmError(str(error)) from error
    values = {**values, "Port": str(_free_port())}
    url = None if server.url is None else server.url.render(values)
    headers = _headers(server)
    peer = _started(description, values)

    def link() -> Link:
        if url is not None:
            return WebLink(url, headers, peer, OUTPUT_LIMIT, server.timeout)
        assert peer is not None
        return PipeLink(peer, OUTPUT_LIMIT)

    try:
        roots = Path(values["Root"]) if values["Root"] else None
        session = Session(link, peer, roots=roots, timeout=server.timeout)
    except ProgramError as error:
        raise ArmError(f"server: {error}") from error
    except BaseException:
        if peer is not None:
            peer.kill()
        raise
    session.values = values
    return session


def introduce(description: Description) -> Greeting | None:
    """What the server says of itself before there is a tree: one is made for it, with a single file.

    None where it does not start that way: then its program alone tells which version it is.

    Raises:
        ArmError: it cannot be reached, or its program is not there.
    """
    with tempfile.TemporaryDirectory(prefix="retrieval-mcp-") as place:
        root, state = Path(place) / "tree", Path(place) / "state"
        root.mkdir()
        state.mkdir()
        (root / "README.md").write_text("A tree of one file.\n", encoding="utf-8")
        values = {"Root": str(root), "State": str(state), "Name": "tree", "Lang": ""}
        try:
            session = connect(description, {**fixed_values(description), **values})
        except ArmError:
            if description.server is not None and description.server.command is None:
                raise
            return None
        session.close()
        return session.greeting


def _started(description: Description, values: Mapping[str, str]) -> Peer | None:
    server = description.server
    if server is None or server.command is None:
        return None
    variables = environment(description, values)
    argv = words(server.command, values, variables)
    try:
        return Peer(argv, cwd=folder(server.command, values), environment=variables)
    except ProgramError as error:
        raise ArmError(str(error)) from error


def _headers(server: Server) -> dict[str, str]:
    for _, variable in server.headers:
        if variable not in os.environ:
            raise ArmError(
                f"the environment variable {variable}, which server.headers_from_env names, is not set"
            )
    return {name: os.environ[variable].strip() for name, variable in server.headers}


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
