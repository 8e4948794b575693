"""A tar stream read member by member: regular files only, every length and name bounded and checked.

Reads ustar, pax (``path`` and ``size``) and GNU long names. Links, devices and anything else are counted and
passed over; nothing is ever written here.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from pytest_retrieval.errors import SnapshotError
from pytest_retrieval.snapshots.paths import is_safe

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_BLOCK = 512
_SIZE_LIMIT = 1 << 40
_EXTENSION_LIMIT = 1 << 20
_PIECE = 1 << 20
_REGULAR = frozenset({b"0", b"\0", b"7"})
_NOT_NEEDED = frozenset({b"g", b"K"})
_WITHOUT_DATA = frozenset({b"1", b"2", b"3", b"4", b"5", b"6"})


@dataclass(frozen=True, slots=True)
class Member:
    """A regular file of the archive; ``data`` can be read until the next member is asked for."""

    name: str
    size: int
    data: BinaryIO


@dataclass(frozen=True, slots=True)
class _Header:
    name: str
    size: int
    kind: bytes


class TarReader:
    """The members of the tar stream ``source``; ``shown`` names it in errors."""

    def __init__(self, source: BinaryIO, shown: str) -> None:
        self._source = source
        self._shown = shown
        self.ignored: Counter[str] = Counter()

    def __iter__(self) -> Iterator[Member]:
        """Each regular file whose name may be used.

        Raises:
            SnapshotError: the archive is truncated, or a header is damaged.
        """
        extended: dict[str, str] = {}
        while (header := self._header()) is not None:
            if header.kind in {b"x", b"L"}:
                extended |= self._extension(header)
                continue
            if header.kind in _NOT_NEEDED:
                self._pass_over(header.size)
                continue
            name, size = self._effective(header, extended)
            window = _Window(self, 0 if header.kind in _WITHOUT_DATA else size)
            reason = _reason(header.kind, name, extended)
            if reason is None:
                yield Member(name, size, io.BufferedReader(window, 1 << 16))
            else:
                self.ignored[reason] += 1
            window.skip()
            self.take(-window.size % _BLOCK)
            extended = {}

    def take(self, count: int) -> bytes:
        """Exactly ``count`` bytes of the stream."""
        data = self._source.read(count)
        if len(data) != count:
            raise SnapshotError(f"{self._shown}: the archive ends too early; it is truncated")
        return data

    def _header(self) -> _Header | None:
        """The next header; None at the zero block that ends an archive."""
        block = self.take(_BLOCK)
        if not any(block):
            return None
        said = self._number(block[148:156])
        blank = block[:148] + b" " * 8 + block[156:]
        signed = sum(byte - 256 if byte > 127 else byte for byte in blank)
        if said not in {sum(blank), signed}:
            raise SnapshotError(f"{self._shown}: a member's header is damaged (its checksum does not fit)")
        name = block[:100].partition(b"\0")[0]
        if block[257:263] == b"ustar\0" and (prefix := block[345:500].partition(b"\0")[0]):
            name = prefix + b"/" + name
        return _Header(_decoded(name), self._number(block[124:136]), block[156:157])

    def _number(self, field: bytes) -> int:
        """An octal field, or a GNU base-256 one."""
        try:
            number = int.from_bytes(field[1:]) if field[0] == 0x80 else int(field.strip(b" \0") or b"0", 8)
        except ValueError:
            number = -1
        return self._bounded(number)

    def _bounded(self, number: int) -> int:
        if not 0 <= number <= _SIZE_LIMIT:
            raise SnapshotError(f"{self._shown}: a member's header is damaged (a number is out of range)")
        return number

    def _extension(self, header: _Header) -> dict[str, str]:
        """What a pax or long-name header says of the member that follows."""
        if header.size > _EXTENSION_LIMIT:
            raise SnapshotError(f"{self._shown}: a member's extended header is over 1 MiB")
        data = self.take(header.size)
        self.take(-header.size % _BLOCK)
        if header.kind == b"L":
            return {"path": _decoded(data.partition(b"\0")[0])}
        return dict(self._pax_records(data))

    def _pax_records(self, data: bytes) -> Iterator[tuple[str, str]]:
        while data:
            length, _, rest = data.partition(b" ")
            if not length.isdigit() or len(length) > 7 or not len(length) + 1 < int(length) <= len(data):
                raise SnapshotError(f"{self._shown}: a member's extended header is damaged")
            record = rest[: int(length) - len(length) - 2]
            key, _, value = record.partition(b"=")
            yield _decoded(key), _decoded(value)
            data = data[int(length) :]

    def _effective(self, header: _Header, extended: dict[str, str]) -> tuple[str, int]:
        name = extended.get("path", header.name)
        while name.startswith("./"):
            name = name[2:]
        size = extended.get("size", "")
        if not size:
            return name, header.size
        return name, self._bounded(int(size) if size.isascii() and size.isdigit() and len(size) < 20 else -1)

    def _pass_over(self, size: int) -> None:
        _Window(self, size).skip()
        self.take(-size % _BLOCK)


def _reason(kind: bytes, name: str, extended: dict[str, str]) -> str | None:
    """Why a member is passed over, or None."""
    if kind in _WITHOUT_DATA or (kind in _REGULAR and name.endswith("/")):
        return "folder" if kind == b"5" or name.endswith("/") else "link or device"
    if kind not in _REGULAR or any(key.startswith("GNU.sparse") for key in extended):
        return "unknown kind"
    return None if is_safe(name) else "refused path"


def _decoded(name: bytes) -> str:
    return name.decode("utf-8", "surrogateescape")


class _Window(io.RawIOBase):
    """The next ``size`` bytes of the archive."""

    def __init__(self, archive: TarReader, size: int) -> None:
        self._archive = archive
        self.size = size
        self._left = size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer).cast("B")
        count = min(len(view), self._left)
        view[:count] = self._archive.take(count)
        self._left -= count
        return count

    def skip(self) -> None:
        """Pass over what was not read."""
        while self._left:
            self._left -= len(self._archive.take(min(self._left, _PIECE)))
