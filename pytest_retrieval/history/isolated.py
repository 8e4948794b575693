"""The objects of a repository without its configuration: an empty repository that borrows them."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path

from pytest_retrieval.snapshots.program import Git


@contextlib.contextmanager
def isolated(git: Git) -> Iterator[Git]:
    """A repository with the objects of ``git`` and nothing else of it, for as long as the block lasts.

    Neither its configuration (external diffs, prefixes), nor its attributes, grafts or replaced objects can
    then change what a diff says. The source is only read.
    """
    objects = (git.directory / git.output("rev-parse", "--git-common-dir").decode().strip()).absolute()
    form = git.output("rev-parse", "--show-object-format").decode("ascii").strip()
    with tempfile.TemporaryDirectory(prefix="pytest-retrieval-history-") as folder:
        place = Path(folder) / "objects-only.git"
        own = Git(place)
        own.output("init", "--quiet", "--bare", "--template=", f"--object-format={form}", str(place))
        alternates = place / "objects" / "info" / "alternates"
        alternates.parent.mkdir(exist_ok=True)
        alternates.write_bytes(bytes(objects / "objects") + b"\n")
        yield own
