"""Git, run so that nothing but Git runs.

A repository's own configuration may name programs (file monitors, filters, hooks, fetch helpers, pagers).
Every call here names the Git directory explicitly, overrides those settings from the command line, forbids
every transport, and takes no configuration of the machine or the user.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

from pytest_retrieval.errors import SnapshotError
from pytest_retrieval.programs.process import Completed, ProgramError, allowed_environment, run, stream

TIMEOUT = 600.0
HEX = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")

_ENVIRONMENT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_SYSTEM": "/dev/null",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    # Git before 2.44 knows no GIT_NO_LAZY_FETCH: with no transport allowed a lazy fetch cannot start one.
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
_OVERRIDES = (
    "safe.directory=*",
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.attributesFile=/dev/null",
    "core.excludesFile=/dev/null",
    "core.protectNTFS=false",
    "core.protectHFS=false",
    "core.quotePath=true",
    "protocol.allow=never",
    "submodule.recurse=false",
    "gc.auto=0",
    # Only private work trees are written, and they die with the run.
    "core.fsync=none",
    "core.looseCompression=0",
    "maintenance.auto=false",
)


def git_directory(path: Path) -> Path:
    """The Git directory of a clone: ``path/.git`` (a folder or a gitfile) if it exists, else ``path`` itself.

    Raises:
        SnapshotError: there is no repository.
    """
    inside = path / ".git"
    if inside.exists():
        return inside
    if (path / "HEAD").is_file() and (path / "objects").is_dir():
        return path
    raise SnapshotError(f"{path}: not a Git repository")


class Git:
    """One repository, addressed by its Git directory; ``worktree`` only where a command needs one."""

    def __init__(self, directory: Path, worktree: Path | None = None) -> None:
        self.directory = directory
        self.worktree = worktree

    def run(
        self,
        *arguments: str,
        stdin: bytes | None = None,
        variables: Mapping[str, str] | None = None,
        stdout_limit: int = 1 << 20,
    ) -> Completed:
        """Run one command to its end; the caller looks at the exit code.

        Raises:
            SnapshotError: Git is not installed, ran out of time, or said more than ``stdout_limit`` bytes.
        """
        try:
            done = run(
                self._argv(arguments),
                timeout=TIMEOUT,
                cwd=self.worktree,
                stdin=stdin,
                environment=_environment(variables),
                stdout_limit=stdout_limit,
            )
        except ProgramError as error:
            raise SnapshotError(f"{self.directory}: {error}; is Git installed?") from error
        if done.timed_out or done.stdout_truncated:
            fault = f"ran longer than {TIMEOUT:.0f} s" if done.timed_out else "said more than is believable"
            raise SnapshotError(f"{self.directory}: git {arguments[0]} {fault}")
        return done

    def output(
        self, *arguments: str, stdin: bytes | None = None, variables: Mapping[str, str] | None = None
    ) -> bytes:
        """The output of a command that must succeed.

        Raises:
            SnapshotError: it did not; the text holds Git's own last line.
        """
        done = self.run(*arguments, stdin=stdin, variables=variables)
        if done.returncode != 0:
            said = done.stderr.decode("utf-8", "replace").strip().splitlines()
            reason = said[-1] if said else f"exit code {done.returncode}"
            raise SnapshotError(f"{self.directory}: git {arguments[0]}: {reason}")
        return done.stdout

    @contextlib.contextmanager
    def stream(self, *arguments: str, stdin: bytes | None = None) -> Iterator[BinaryIO]:
        """The output of a command as a reader, for what is too big to keep.

        Raises:
            SnapshotError: Git cannot be started or fails.
        """
        try:
            with stream(
                self._argv(arguments), timeout=TIMEOUT, stdin=stdin, environment=_environment(None)
            ) as reader:
                yield reader
        except ProgramError as error:
            raise SnapshotError(f"{self.directory}: git {arguments[0]}: {error}") from error

    def resolve(self, revision: str) -> str | None:
        """The full name of the commit that ``revision`` means here, or None."""
        if not revision or "\n" in revision or "\0" in revision:
            return None
        # Asked on standard input, so that no revision is ever taken for an option.
        asked = revision.encode("utf-8", "surrogateescape") + b"^{commit}\n"
        words = self.output("cat-file", "--batch-check", stdin=asked).split()
        if len(words) == 3 and words[1] == b"commit":
            return words[0].decode("ascii")
        return None

    def _argv(self, arguments: Sequence[str]) -> list[str]:
        options = [word for setting in _OVERRIDES for word in ("-c", setting)]
        place = [f"--git-dir={self.directory.absolute()}"]
        if self.worktree is not None:
            place.append(f"--work-tree={self.worktree.absolute()}")
        return ["git", "--no-pager", *options, *place, *arguments]


def _environment(variables: Mapping[str, str] | None) -> dict[str, str]:
    return allowed_environment(("PATH", "TMPDIR"), {**_ENVIRONMENT, **(variables or {})})
