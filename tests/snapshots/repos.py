"""Git repositories made by plumbing: no attribute or filter stands between a test and its blobs."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable
from pathlib import Path

_ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@localhost",
    "GIT_COMMITTER_NAME": "c",
    "GIT_COMMITTER_EMAIL": "c@localhost",
    "GIT_AUTHOR_DATE": "2001-01-01T00:00:00Z",
    "GIT_COMMITTER_DATE": "2001-01-01T00:00:00Z",
}


def git(folder: Path, *arguments: str | bytes, stdin: bytes = b"") -> bytes:
    """Run Git in ``folder`` and return its output."""
    done = subprocess.run(
        ["git", *arguments], cwd=folder, env=_ENVIRONMENT, input=stdin, capture_output=True, check=True
    )
    return done.stdout


def bare_repository(
    folder: Path, entries: Iterable[tuple[str, bytes, bytes]], object_format: str = "sha1"
) -> str:
    """Make a bare repository of one commit with ``(mode, path, content)``; returns the commit.

    The content of a submodule entry is the name of its commit.
    """
    folder.mkdir()
    git(folder, "init", "--quiet", "--bare", f"--object-format={object_format}", "--initial-branch=main")
    lines = []
    oids: dict[bytes, bytes] = {}
    for mode, path, content in entries:
        if mode != "160000" and content not in oids:
            oids[content] = git(folder, "hash-object", "-w", "--stdin", stdin=content).strip()
        lines.append(mode.encode() + b" " + oids.get(content, content) + b"\t" + path + b"\0")
    git(folder, "update-index", "-z", "--index-info", stdin=b"".join(lines))
    tree = git(folder, "write-tree").strip()
    commit = git(folder, "commit-tree", tree, "-m", "one").strip()
    git(folder, "update-ref", "refs/heads/main", commit)
    return commit.decode()


def checkout(folder: Path, files: dict[str, bytes]) -> str:
    """Make an ordinary repository that is clean at its one commit; returns the commit."""
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=main")
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    git(folder, "add", "-A")
    git(folder, "commit", "--quiet", "-m", "one")
    return git(folder, "rev-parse", "HEAD").strip().decode()
