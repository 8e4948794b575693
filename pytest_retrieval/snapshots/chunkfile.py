"""A release's chunk file: one JSON row per line, of which the rows of kind ``file`` are the snapshot."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import orjson

from pytest_retrieval.errors import SnapshotError
from pytest_retrieval.snapshots.arb import CUT_MARK, TEXT_CAP
from pytest_retrieval.snapshots.base import MemoryContents, Tree, TreeFile
from pytest_retrieval.snapshots.paths import folders, is_safe, is_text
from pytest_retrieval.snapshots.zstd import open_plain_or_zstd

LINE_LIMIT = 64 << 20
# A row can only be of kind "file" if it spells that word, or a letter of it as an escape.
_ESCAPED_LETTER = re.compile(rb"\\u00(?:6[69cC5])")
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
            at all, or a compressed file that is damaged, truncated or wants too large a window.
    """
    shown = shown or str(path)
    with open_plain_or_zstd(path, shown) as reader:
        return read_rows(reader, shown)


def read_rows(reader: BinaryIO, shown: str) -> Tree:
    """The tree of the rows in ``reader``; raises as :func:`read_chunk_file` does."""
    return _tree(file_rows(reader, shown), shown)


def file_rows(reader: BinaryIO, shown: str) -> Iterator[tuple[str, str]]:
    """Path and text of each row of kind ``file``, in file order, paths unchecked; other rows are skipped."""
    for number, line in _lines(reader, shown):
        if not may_be_file_row(line):
            continue
        row = _parse(line, f"{shown}:{number}")
        if row.get("kind") != "file":
            continue
        path, text = row.get("path"), row.get("text")
        for field, value in (("path", path), ("text", text)):
            if not isinstance(value, str):
                raise SnapshotError(f"{shown}:{number}: field {field!r} of a file row must be a string")
        yield str(path), str(text)


def copy_file_rows(reader: BinaryIO, writer: Writer, shown: str) -> None:
    """Copy the lines that may be rows of kind ``file``, as they are."""
    for _, line in _lines(reader, shown):
        if may_be_file_row(line):
            writer.write(line + b"\n")


def may_be_file_row(line: bytes) -> bool:
    """Whether a line must be parsed: False is certain to be an object of another kind, or no row at all.

    Six rows in seven describe symbols, so they are told apart by bytes: inside a string the quotes of
    ``"file"`` would be escaped, and every other spelling of the word has an escaped letter.
    """
    if b'"file"' in line or (b"\\u00" in line and _ESCAPED_LETTER.search(line) is not None):
        return True
    return not (line.startswith(b"{") and line.endswith(b"}"))


def _lines(reader: BinaryIO, shown: str) -> Iterator[tuple[int, bytes]]:
    """Number and bytes of each line that is not blank; lines end at LF and nothing else."""
    number = 0
    while line := reader.readline(LINE_LIMIT + 2):
        number += 1
        if len(line) - line.endswith(b"\n") > LINE_LIMIT:
            raise SnapshotError(f"{shown}:{number}: the line is over {LINE_LIMIT >> 20} MiB")
        if number == 1:
            line = line.removeprefix(_BOM)
        if line := line.strip():
            yield number, line


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


def _tree(rows: Iterable[tuple[str, str]], shown: str) -> Tree:
    """The last text of each path that may be taken, each distinct text held once."""
    taken: dict[str, tuple[TreeFile, bool]] = {}
    held: dict[str, bytes] = {}
    dropped: Counter[str] = Counter()
    for path, text in rows:
        if not is_safe(path):
            dropped["refused path"] += 1
            continue
        content = _encoded(text)
        digest = hashlib.sha256(content).hexdigest()
        held[digest] = content
        taken[path] = TreeFile(path, len(content), digest, is_text(len(content), content)), is_cut(text)
    for path in folders(taken):
        if taken.pop(path, None) is not None:
            dropped["both file and folder"] += 1
    if not taken:
        refused = f" ({dropped.total()} rows are refused)" if dropped else ""
        raise SnapshotError(f"{shown}: no row of kind 'file'{refused}; a chunk file has one for each file")
    files = tuple(file for file, _ in taken.values())
    cut = frozenset(path for path, (_, is_short) in taken.items() if is_short)
    return Tree(files, _contents(files, held), "chunks", cut, dropped)


def _contents(files: Iterable[TreeFile], held: dict[str, bytes]) -> MemoryContents:
    """Only what the files need: a row that a later one replaced leaves its text behind."""
    return MemoryContents({file.digest: held[file.digest] for file in files})


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
