"""Small releases in the benchmark's layout."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Mapping
from pathlib import Path

import zstandard

COMMIT = "a" * 40
OTHER = "b" * 40


def sample(identity: str, repo: str = "o/n", commit: str = COMMIT) -> dict[str, object]:
    return {"id": identity, "task_type": "code2test", "repo": repo, "base_commit": commit}


def lines(*rows: Mapping[str, object]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def chunks(text: str) -> bytes:
    symbol = {"kind": "symbol", "path": "a.py", "text": text * 100}
    return lines({"kind": "file", "path": "a.py", "text": text}, symbol, symbol)


def release(identity: str, **chunk_files: bytes) -> dict[str, bytes]:
    """The files of one release with one sample at each of two commits."""
    files = {
        f"benchmark/{identity}/samples.jsonl": lines(sample("1"), sample("2", commit=OTHER)),
        f"benchmark/{identity}/code2test.jsonl": lines(sample("1")),
        f"corpus/{identity}/o__n/{COMMIT}.chunks.jsonl": chunks("first"),
        f"corpus/{identity}/o__n/{OTHER}.chunks.jsonl": chunks("second"),
        f"corpus/{identity}/o__n/{'c' * 40}.chunks.jsonl": chunks("third"),
        f"eval/{identity}/x.json": b"{}",
    }
    return {**files, **chunk_files}


def write_tree(root: Path, files: Mapping[str, bytes]) -> Path:
    for path, content in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content)
    return root


def write_archive(path: Path, files: Mapping[str, bytes]) -> Path:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w") as writer:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            writer.addfile(info, io.BytesIO(content))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(zstandard.compress(target.getvalue()))
    return path
