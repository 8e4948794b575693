"""Full-text search of SQLite as a persistent engine.

``fts5.py index DATABASE ROOT`` cuts files into pieces of :data:`LINES` lines; the parts of compound names
are words, too. ``fts5.py serve DATABASE`` answers lines ``{"id", "query", "n"}`` by lines ``{"id", "hits"}``.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

LINES = 40
LARGEST = 1 << 20  # bytes of a file that is read
_WORD = re.compile(r"[^\W_]+")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_SCHEMA = """
create virtual table pieces using fts5(path, body, parts, first unindexed, last unindexed);
create table complete (files integer);
"""


def index(database: Path, root: Path) -> None:
    """Make the index, unless a whole one is there, which belongs to this tree; say how big it is."""
    if not database.exists() or not _is_complete(database):
        _build(database, root)
    with closing(sqlite3.connect(database)) as connection:
        count = connection.execute("select count(*) from pieces").fetchone()[0]
    sys.stdout.write(f"{count} pieces\n")


def _build(database: Path, root: Path) -> None:
    database.unlink(missing_ok=True)
    connection = sqlite3.connect(database)
    try:
        connection.executescript(_SCHEMA)
        files = 0
        for path, text in texts(root):
            connection.executemany("insert into pieces values (?, ?, ?, ?, ?)", pieces(path, text))
            files += 1
        connection.execute("insert into complete values (?)", (files,))
        connection.commit()
    finally:
        connection.close()


def texts(root: Path) -> Iterator[tuple[str, str]]:
    """The text files below ``root`` in the order of their paths, relative to it."""
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name != ".git")
        for name in sorted(names):
            path = Path(folder) / name
            if path.is_symlink() or not path.is_file() or path.stat().st_size > LARGEST:
                continue
            data = path.read_bytes()
            if b"\0" not in data:
                yield path.relative_to(root).as_posix(), data.decode("utf-8", "replace")


def pieces(path: str, text: str) -> Iterator[tuple[str, str, str, int, int]]:
    """The rows of a file: path, text, parts of its names, first and last line."""
    lines = text.removesuffix("\n").split("\n")
    shown = path.encode("utf-8", "replace").decode()
    for start in range(0, len(lines), LINES):
        body = "\n".join(lines[start : start + LINES])
        yield shown, body, parts(f"{shown} {body}"), start + 1, min(start + LINES, len(lines))


def parts(text: str) -> str:
    """The parts of the compound names in ``text``."""
    return " ".join(part for word in _WORD.findall(text) for part in _PART.findall(word) if part != word)


def answer(connection: sqlite3.Connection, question: str, count: int) -> list[dict[str, Any]]:
    """The ``count`` best pieces for the words of ``question``, which has no syntax here."""
    words = dict.fromkeys(word.lower() for word in _WORD.findall(question))
    if not words:
        return []
    expression = " OR ".join(f'"{word}"' for word in words)
    rows = connection.execute(
        "select path, first, last, body, bm25(pieces) from pieces where pieces match ? "
        "order by bm25(pieces), path, first limit ?",
        (expression, count),
    )
    return [dict(zip(("path", "start", "end", "text", "score"), row, strict=True)) for row in rows]


def serve(database: Path) -> None:
    """Answer requests until there are no more."""
    connection = sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro", uri=True)
    for line in sys.stdin.buffer:
        request = json.loads(line)
        hits = answer(connection, request["query"], request["n"])
        sys.stdout.write(json.dumps({"id": request["id"], "hits": hits}) + "\n")
        sys.stdout.flush()
    connection.close()


def main(arguments: Sequence[str]) -> None:
    """Run one of the two commands."""
    if arguments[0] == "index":
        index(Path(arguments[1]), Path(arguments[2]))
    else:
        serve(Path(arguments[1]))


def _is_complete(database: Path) -> bool:
    connection = sqlite3.connect(database)
    try:
        return len(connection.execute("select files from complete").fetchall()) == 1
    except sqlite3.DatabaseError:
        return False
    finally:
        connection.close()


if __name__ == "__main__":
    main(sys.argv[1:])
