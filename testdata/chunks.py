"""Pack a plain tree into a release's chunk file, and unpack one again.

The embedded release holds hand-written repositories in the shape that Agent Retrieval Bench ships: one
``OWNER__NAME/COMMIT.chunks.jsonl`` each, with a row for each file and, after it, a row for each symbol.

    python testdata/chunks.py commit DIR                        the base commit of a tree
    python testdata/chunks.py pack DIR OWNER/NAME COMMIT OUT    write the chunk file, print its manifest row
    python testdata/chunks.py unpack FILE DIR                   write every file row below DIR

Standard library only; the same tree gives the same bytes on every machine.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

TEXT_LIMIT = 8_000
TRUNCATED = "\n...[truncated]"
FILE_LIMIT = 400_000
# A release stamps the time it was built; ours is a constant, so that packing again changes nothing.
GENERATED_AT = "2026-01-01T00:00:00+00:00"

SYMBOLS = {
    ".go": r"(?:func\s+(?:\([^)]*\)\s*)?|type\s+)(?P<name>\w+)",
    ".java": r"(?:(?:public|protected|private|static|final|abstract|sealed|synchronized)\s+)*"
    r"(?:(?:class|interface|enum|record)\s+(?P<name>\w+)"
    r"|(?!return|throw|else)\w[\w<>\[\], ?]*\s(?P<method>\w+)\([^;]*\{$)",
    ".py": r"(?:async\s+)?(?:def|class)\s+(?P<name>\w+)",
    ".rs": r"(?:pub(?:\([^)]*\))?\s+)?(?:(?:async|const|unsafe)\s+)*"
    r"(?:fn|struct|enum|trait|type)\s+(?P<name>\w+)",
    ".ts": r"(?:export\s+)?(?:default\s+)?(?:abstract\s+)?(?:async\s+)?"
    r"(?:function|class|interface|enum|type)\s+(?P<name>\w+)",
}
PATTERNS = {suffix: re.compile(r"(?P<indent>[ \t]*)(?:" + body + ")") for suffix, body in SYMBOLS.items()}
PATTERNS[".tsx"] = PATTERNS[".ts"]

Row = dict[str, Any]


def tree_files(root: Path) -> list[tuple[str, bytes]]:
    """The regular files below ``root`` with their content, by path bytes; ``.git`` is not walked."""
    found = []
    for file in root.rglob("*"):
        path = file.relative_to(root).as_posix()
        if file.is_file() and not file.is_symlink() and ".git" not in PurePosixPath(path).parts:
            found.append((path, file.read_bytes()))
    return sorted(found, key=lambda entry: entry[0].encode())


def base_commit(files: Sequence[tuple[str, bytes]]) -> str:
    """The first 40 hex digits of the SHA-256 over the lines ``PATH NUL SHA256-OF-CONTENT LF``."""
    lines = (
        path.encode() + b"\0" + hashlib.sha256(data).hexdigest().encode() + b"\n" for path, data in files
    )
    return hashlib.sha256(b"".join(lines)).hexdigest()[:40]


def cut(text: str) -> str:
    """The text of a row: stripped, and at most 8,000 characters before the mark that says it was cut."""
    text = text.strip()
    return text if len(text) <= TEXT_LIMIT else text[:TEXT_LIMIT].rstrip() + TRUNCATED


def block_end(lines: Sequence[str], start: int, indent: str, closing: str) -> int:
    """The index of the last line of the block that line ``start`` opens, judged by indentation alone."""
    last = start
    for index in range(start + 1, len(lines)):
        line = lines[index]
        if not line.strip():
            continue
        if not line.startswith(tuple(indent + opening for opening in " \t){")):
            return index if closing and line.startswith(indent + closing) else last
        last = index
    return last


def symbols(path: str, lines: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    """Functions and types of a file as (name, first line, last line), both from 1 and included."""
    suffix = PurePosixPath(path).suffix
    if suffix not in PATTERNS:
        return
    for index, line in enumerate(lines):
        if match := PATTERNS[suffix].match(line):
            names = match.groupdict()
            end = block_end(lines, index, names["indent"], "" if suffix == ".py" else "}")
            yield names["name"] or names["method"], index + 1, end + 1


def row(repo: str, commit: str, path: str, text: str, *, span: tuple[int, int], symbol: str = "") -> Row:
    """One chunk row of exactly nine keys: a symbol's, or the file's own when ``symbol`` is empty."""
    start, end = span
    kind = "symbol" if symbol else "file"
    identity = "\x1f".join((repo, commit, path, kind, symbol, str(start), str(end)))
    return {
        "base_commit": commit,
        "chunk_id": hashlib.sha256(identity.encode()).hexdigest()[:24],
        "end_line": end,
        "kind": kind,
        "path": path,
        "repo": repo,
        "start_line": start,
        "symbol": symbol,
        "text": cut(text),
    }


def file_rows(repo: str, commit: str, path: str, data: bytes) -> Iterator[Row]:
    """The file's own row, then one for each of its symbols in the order of their lines."""
    text = data.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    yield row(repo, commit, path, text, span=(1, len(text.splitlines())))
    lines = text.split("\n")
    for name, start, end in symbols(path, lines):
        block = "\n".join(lines[start - 1 : end])
        yield row(repo, commit, path, block, span=(start, end), symbol=name)


def pack(root: Path, repo: str, commit: str, out: Path) -> Row:
    """Write the chunk file of a tree and give its row of ``corpus_manifest.jsonl``."""
    rows: list[Row] = []
    skipped_large = 0
    for path, data in tree_files(root):
        skipped_large += len(data) > FILE_LIMIT
        if 0 < len(data) <= FILE_LIMIT and b"\0" not in data:
            rows.extend(file_rows(repo, commit, path, data))
    out.parent.mkdir(parents=True, exist_ok=True)
    dumped = (json.dumps(each, ensure_ascii=False, sort_keys=True) + "\n" for each in rows)
    out.write_bytes("".join(dumped).encode())
    files = sum(each["kind"] == "file" for each in rows)
    return {
        "base_commit": commit,
        "chunk_count": len(rows),
        "chunks_path": f"{repo.replace('/', '__')}/{commit}.chunks.jsonl",
        "file_count": files,
        "generated_at": GENERATED_AT,
        "repo": repo,
        "skipped_large": skipped_large,
        "status": "ok",
        "symbol_count": len(rows) - files,
    }


def unpack(chunks: Path, root: Path) -> int:
    """Write the text of every file row below ``root``; the number of files. Cut text stays cut."""
    count = 0
    for line in chunks.read_bytes().split(b"\n"):
        entry = json.loads(line) if line.strip() else {}
        if entry.get("kind") == "file":
            path = PurePosixPath(entry["path"])
            if path.is_absolute() or not path.parts or {"..", ".git"} & set(path.parts):
                raise SystemExit(
                    f"{chunks}: path {entry['path']!r} leaves the folder; nothing more is written"
                )
            target = root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(entry["text"].encode())
            count += 1
    return count


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description="pack a tree into a chunk file, or unpack one")
    verbs = parser.add_subparsers(dest="verb", required=True)
    verb = verbs.add_parser("commit", help="print the base commit of a tree")
    verb.add_argument("root", type=Path, metavar="DIR")
    verb = verbs.add_parser("pack", help="write a chunk file and print its manifest row")
    verb.add_argument("root", type=Path, metavar="DIR")
    verb.add_argument("repo", metavar="OWNER/NAME")
    verb.add_argument("commit", metavar="COMMIT")
    verb.add_argument("chunks", type=Path, metavar="OUT.jsonl")
    verb = verbs.add_parser("unpack", help="write every file row below a folder")
    verb.add_argument("chunks", type=Path, metavar="FILE")
    verb.add_argument("root", type=Path, metavar="DIR")
    options = parser.parse_args(arguments)
    if options.verb == "commit":
        said = base_commit(tree_files(options.root))
    elif options.verb == "pack":
        manifest = pack(options.root, options.repo, options.commit, options.chunks)
        said = json.dumps(manifest, sort_keys=True)
    else:
        said = f"{unpack(options.chunks, options.root)} files"
    sys.stdout.write(said + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
