"""A release's chunk file: one JSON row per line, of which the rows of kind ``file`` are the snapshot."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Protocol

import orjson

from pytest_retrieval.errors import SnapshotError
from pytest_retrieval.snapshots.arb import CUT_MARK, TEXT_CAP
from pytest_retrieval.snapshots.base import MemoryContents, Tree, TreeFile
from pytest_retrieval.snapshots.paths import folders, is_safe, is_text
from pytest_retrieval.snapshots.zstd import open_plain_or_zstd

LINE_LIMIT = 64 << 20
# Of one file, for some kilobytes of zstd can become anything: a builder writes at most 20,000 paths of 8,000
# characters, and some symbols for each.
LINES_LIMIT = 4_000_000
SIZE_LIMIT = 4 << 30
ROWS_LIMIT = 1 << 30
# A row can only be of kind "file" if it spells that word, or a letter of it as an escape.
_ESCAPED_LETTER = re.compile(rb"\\u00(?:6[69cC5])")
# How a builder writes a row: keys sorted, so the kind is known before the text is looked at. The first group
# ends behind the keys that are the row's own; the second is there in a symbol.
_HEAD = re.compile(
    rb'(\{"base_commit": ?"\w*", ?"chunk_id": ?"\w*", ?)"end_line": ?\d+, ?"kind": ?"(?:(symbol)|file)", ?"'
)
_OWN, _IS_SYMBOL = 1, 2
_OWN_KEYS = re.compile(rb'\{"base_commit": ?"\w*", ?"chunk_id": ?"\w*", ?')
_KEY_SIZE = 200  # bytes behind the own keys; they hold the path
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_BOM = b"\xef\xbb\xbf"


class Writer(Protocol):
    """Anything that takes bytes."""

    def write(self, data: bytes, /) -> object:
        """Take ``data``."""


def read_chunk_file(path: Path, shown: str | None = None) -> Tree:
    """The tree of a ``.chunks.jsonl`` or ``.chunks.jsonl.zst`` file; ``shown`` names it in messages.

    Raises:
        SnapshotError: a row that is no JSON object or lacks its path or text, a line over 64 MiB, no file row
            at all, more than 4 million lines, 4 GiB, or 1 GiB of file rows, or a compressed file that is
            damaged, truncated or wants too large a window.
    """
    shown = shown or str(path)
    with open_plain_or_zstd(path, shown) as reader:
        return read_rows(reader, shown)


def read_rows(reader: BinaryIO, shown: str) -> Tree:
    """The tree of the rows in ``reader``; raises as :func:`read_chunk_file` does."""
    return _tree(_reader.rows(reader, shown), shown)


class FileRow(NamedTuple):
    """A row of kind ``file`` as a tree takes it."""

    file: TreeFile
    content: bytes
    cut: bool


class KnownRow(NamedTuple):
    """A line without the keys that are its own, and the row that it is."""

    rest: bytes
    row: FileRow | None


class RowReader:
    """Reads rows of kind ``file``; those of the latest tree are known again without being parsed.

    Neighbouring snapshots share nearly all rows but for the commit and the row's own id, which come first and
    decide nothing.
    """

    def __init__(self) -> None:
        self._latest: dict[bytes, KnownRow] = {}

    def rows(self, reader: BinaryIO, shown: str) -> Iterator[FileRow | None]:
        """Each row of kind ``file`` in file order, None for one whose path is refused; others are skipped.

        Raises:
            SnapshotError: a line is no JSON object, or a file row without its path or text, or too much.
        """
        seen: dict[bytes, KnownRow] = {}
        for number, start, line in _candidates(reader, shown):
            # Hashing whole rows would take as long as reading them.
            key = line[start : start + _KEY_SIZE] if start else b""
            known = self._latest.get(key)
            if known is None or len(line) - start != len(known.rest) or not line.endswith(known.rest):
                found = _path_and_text(_parse(line, f"{shown}:{number}"), f"{shown}:{number}")
                if found is None:
                    continue
                known = KnownRow(line[start:], _file_row(*found))
            if start:
                seen[key] = known
            yield known.row
        self._latest = seen


def _path_and_text(row: Mapping[str, Any], place: str) -> tuple[str, str] | None:
    """What a row says of its file; None for a row of another kind."""
    if row.get("kind") != "file":
        return None
    path, text = row.get("path"), row.get("text")
    for field, value in (("path", path), ("text", text)):
        if not isinstance(value, str):
            raise SnapshotError(f"{place}: field {field!r} of a file row must be a string")
    return str(path), str(text)


def _file_row(path: str, text: str) -> FileRow | None:
    if not is_safe(path):
        return None
    content = _encoded(text)
    digest = hashlib.sha256(content).hexdigest()
    file = TreeFile(path, len(content), digest, is_text(len(content), content))
    return FileRow(file, content, is_cut(text))


def copy_file_rows(reader: BinaryIO, writer: Writer, shown: str) -> None:
    """Copy the lines that may be rows of kind ``file``, as they are."""
    for _, _, line in _candidates(reader, shown):
        writer.write(line + b"\n")


def may_be_file_row(line: bytes) -> bool:
    """Whether a line must be parsed: False is certain to be an object of another kind, or no row at all.

    Six rows in seven describe symbols, so they are told apart by bytes: inside a string the quotes of
    ``"file"`` would be escaped, and every other spelling of the word has an escaped letter. A row that starts
    as builders write symbols is believed at once; it could only be a file by naming its kind twice.
    """
    if line.endswith(b"}") and (head := _HEAD.match(line)) is not None:
        return head.lastindex != _IS_SYMBOL
    if b'"file"' in line or (b"\\u00" in line and _ESCAPED_LETTER.search(line) is not None):
        return True
    return not (line.startswith(b"{") and line.endswith(b"}"))


_reader = RowReader()


def _candidates(reader: BinaryIO, shown: str) -> Iterator[tuple[int, int, bytes]]:
    """Each line that may be a row of kind ``file``: number, size of its own keys, bytes.

    Lines end at LF and nothing else. The size is 0 where a row does not start with these keys.
    """
    lines = iter(partial(reader.readline, LINE_LIMIT + 1), b"")
    size = rows = 0
    for number, line in enumerate(lines, start=1):
        size += len(line)
        if size > SIZE_LIMIT or number > LINES_LIMIT:
            bounds = f"{LINES_LIMIT:,} lines or {SIZE_LIMIT >> 20:,} MiB"
            raise SnapshotError(f"{shown}:{number}: unpacked, a chunk file has at most {bounds}")
        head = _HEAD.match(line) if line.endswith(b"}\n") else None
        if head is not None and head.lastindex == _IS_SYMBOL:  # first, for nearly all lines are so
            continue
        if len(line) - line.endswith(b"\n") > LINE_LIMIT:
            raise SnapshotError(f"{shown}:{number}: the line is over {LINE_LIMIT >> 20} MiB")
        if head is not None:
            start, row = head.end(_OWN), line[:-1]
        else:
            row = (line.removeprefix(_BOM) if number == 1 else line).strip()
            own = _OWN_KEYS.match(row)
            start = 0 if own is None else own.end()
        if head is not None or (row and may_be_file_row(row)):
            rows += len(row)
            if rows > ROWS_LIMIT:
                raise SnapshotError(
                    f"{shown}:{number}: the rows of kind 'file' are over {ROWS_LIMIT >> 20} MiB"
                )
            yield number, start, row


def _parse(line: bytes, place: str) -> dict[str, Any]:
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError:
        # The standard library also takes lone surrogates and huge numbers.
        try:
            row = json.loads(line.decode("utf-8", "replace"))
        except (ValueError, RecursionError) as error:
            reason = getattr(error, "msg", "nested too deeply or out of range")
            raise SnapshotError(f"{place}: not JSON ({reason})") from error
    if not isinstance(row, dict):
        raise SnapshotError(f"{place}: the row is no JSON object")
    return row


def _tree(rows: Iterable[FileRow | None], shown: str) -> Tree:
    """The last text of each path that may be taken, each distinct text held once."""
    taken: dict[str, FileRow] = {}
    dropped: Counter[str] = Counter()
    for row in rows:
        if row is None:
            dropped["refused path"] += 1
        else:
            taken[row.file.path] = row
    for path in folders(taken):
        if taken.pop(path, None) is not None:
            dropped["both file and folder"] += 1
    if not taken:
        refused = f" ({dropped.total()} rows are refused)" if dropped else ""
        raise SnapshotError(f"{shown}: no row of kind 'file'{refused}; a chunk file has one for each file")
    files = tuple(row.file for row in taken.values())
    cut = frozenset(path for path, row in taken.items() if row.cut)
    held = {row.file.digest: row.content for row in taken.values()}
    return Tree(files, MemoryContents(held), "chunks", cut, dropped)


def _encoded(text: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        return _LONE_SURROGATE.sub("\ufffd", text).encode("utf-8")


def is_cut(text: str) -> bool:
    """Whether a builder shortened ``text``: it ends with the mark, and what precedes it is as long as a cut.

    A cut has 8,000 characters before it is right-stripped, so half of that is the least that is believed.
    """
    return text.endswith(CUT_MARK) and TEXT_CAP // 2 < len(text) - len(CUT_MARK) <= TEXT_CAP
