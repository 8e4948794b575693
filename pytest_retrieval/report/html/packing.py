"""Rows of the list in a form that is small in a file and quick to read in a browser."""

from __future__ import annotations

import zlib
from base64 import b64encode
from collections.abc import Mapping
from typing import Any

from pytest_retrieval.report.canonical import encode

_LEVEL = 9  # zlib


class Packer:
    """Packs rows one by one, so that they never stand in memory together."""

    def __init__(self) -> None:
        self._stream = zlib.compressobj(_LEVEL)
        self._packed: list[bytes] = [self._stream.compress(b'{"samples":[')]
        self.count = 0

    def add(self, row: Mapping[str, Any]) -> None:
        """One more row."""
        separator = b"," if self.count else b""
        self._packed.append(self._stream.compress(separator + encode(row)))
        self.count += 1

    def finished(self, facts: Mapping[str, Any]) -> str:
        """All rows as ``samples`` beside ``facts``: JSON in a zlib stream in Base64; the last call."""
        members = b"".join(b"," + encode(name) + b":" + encode(value) for name, value in facts.items())
        self._packed += [self._stream.compress(b"]" + members + b"}"), self._stream.flush()]
        return b64encode(b"".join(self._packed)).decode("ascii")
