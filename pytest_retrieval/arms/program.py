"""A program that arms ask: found once, known by its content, called under bounds, and its end judged.

How a call that did not succeed is told apart (:func:`output_of`):

* A *declared refusal*: the program looked at the question, said in one line why it does not serve it, and
  left. That is exit status 2, nothing on standard output, and exactly one line of UTF-8 on standard error:
  plain text, or an object like ``{"code": "unsupported-impact-path-suffix", "error": "...", "ok": false}``.
  It scores zero and fails nothing.
* A *fault*: everything else. A signal, a timeout, more output than the bound, any other exit status, half an
  answer before the exit, silence, or the many lines of a usage text or of a crash (Go's and Python's argument
  parsers and Go's panics leave with status 2 too, but never with one line).
"""

from __future__ import annotations

import codecs
import errno
import hashlib
import os
import shutil
import signal
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Protocol, TypeGuard

import orjson

from pytest_retrieval.errors import ArmError, RetrievalError, UsageError
from pytest_retrieval.programs.process import OUTPUT_LIMIT, Completed, ProgramError, run

TIMEOUT = 120.0
REFUSED = 2  # the exit status of a declared refusal
SHOWN = 400  # characters of diagnostics in a message
_VERSION_SHOWN = 120
_GIT = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}


class RefusalError(RetrievalError):
    """The program, or the arm in its place, does not serve this sample; the text says why."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Which program was measured: what it says of its version, and the SHA-256 of its file."""

    version: str
    sha256: str

    def __str__(self) -> str:
        return f"{self.version} sha256:{self.sha256[:12]}"


class Asking(Protocol):
    """An arm that asks a program, which is identified in the report's section ``section``."""

    program: Program
    section: ClassVar[str]


def is_asking(arm: object) -> TypeGuard[Asking]:
    """Whether ``arm`` is such an arm."""
    return isinstance(getattr(arm, "program", None), Program) and hasattr(arm, "section")


class Program:
    """An executable file; ``path`` is absolute, with links as they are."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def find(cls, text: str) -> Program:
        """The program that a user named by a path, or by a name that PATH knows.

        Raises:
            UsageError: there is none, or it is not executable.
        """
        wanted = str(Path(text).expanduser().absolute()) if os.sep in text else text
        found = shutil.which(wanted)
        if found is None:
            raise UsageError(f"{text!r} is no program; give the path of an executable file or a name on PATH")
        return cls(Path(found).absolute())

    @cached_property
    def identity(self) -> Identity:
        """The identity as first read; see :meth:`read_identity`."""
        return self.read_identity()

    def read_identity(self) -> Identity:
        """The identity as it is now: read before a run and again after it, both must agree.

        Raises:
            UsageError: the file cannot be read, or does not answer ``--version``.
        """
        try:
            with self.path.resolve().open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            done = self.call(["--version"])
            version = one_line(output_of(done, TIMEOUT, may_refuse=False), limit=_VERSION_SHOWN)
        except (OSError, RetrievalError) as error:
            raise UsageError(f"{self.path} --version: {error}") from error
        if not version:
            raise UsageError(f"{self.path} --version: it said nothing; is this the right program?")
        return Identity(version, digest)

    def call(
        self,
        arguments: Sequence[str | bytes],
        *,
        cwd: Path | None = None,
        environment: Mapping[str, str] | None = None,
        timeout: float = TIMEOUT,
    ) -> Completed:
        """Run the program to its end under the bounds of :mod:`pytest_retrieval.programs.process`.

        ``environment`` is the whole environment; by default it is :func:`inherited_environment`.

        Raises:
            RefusalError: this system passes no argument as long as one of ``arguments``.
            ArmError: the program cannot be started.
        """
        variables = inherited_environment() if environment is None else environment
        try:
            return run([str(self.path), *arguments], timeout=timeout, cwd=cwd, environment=variables)
        except ProgramError as error:
            if isinstance(error.__cause__, OSError) and error.__cause__.errno == errno.E2BIG:
                longest = max(map(len, arguments))
                raise RefusalError(
                    f"an argument of {longest:,} characters is too long for this system"
                ) from error
            raise ArmError(str(error)) from error


def inherited_environment(without: Collection[str] = (), **extra: str) -> dict[str, str]:
    """This process's variables, less those in ``without`` and Git's, with ``extra``.

    A ``GIT_DIR`` of the caller (a hook's, say) would send the program to another repository than its copy,
    and a user's Git configuration would change what it sees there.
    """
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in without and not name.startswith("GIT_")
    }
    return {**kept, **_GIT, **extra}


def output_of(done: Completed, timeout: float, *, may_refuse: bool) -> bytes:
    """The standard output of a call that succeeded; ``timeout`` is only for the message.

    Raises:
        RefusalError: the call is a declared refusal (see above), and ``may_refuse`` says that there are such.
        ArmError: the call failed; the text says how, with the program's diagnostics.
    """
    if done.timed_out:
        raise ArmError(f"did not end within {timeout:g} s{_said(done)}")
    if done.stdout_truncated:
        raise ArmError(f"standard output exceeds {OUTPUT_LIMIT:,} bytes")
    if done.returncode == 0:
        return done.stdout
    reason = declared_refusal(done) if may_refuse else None
    if reason is not None:
        raise RefusalError(reason)
    raise ArmError(f"{_ending(done.returncode)}{_said(done)}")


def declared_refusal(done: Completed) -> str | None:
    """The reason of a declared refusal, or None where ``done`` is something else."""
    if done.returncode != REFUSED or done.stdout or done.stderr_truncated:
        return None
    try:
        lines = done.stderr.decode("utf-8").strip().splitlines()
    except UnicodeDecodeError:
        return None
    return _shortened(_legible(lines[0])) if len(lines) == 1 else None


def diagnostics(done: Completed) -> str:
    """What the program said on standard error, as one line of at most :data:`SHOWN` characters."""
    return one_line(done.stderr, truncated=done.stderr_truncated)


def one_line(data: bytes, *, truncated: bool = False, limit: int = SHOWN) -> str:
    """``data`` as one printable line; of a longer one the beginning and the end, for both may tell.

    No character is cut in two: not by ``limit``, nor where ``truncated`` data ends inside of one.
    """
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    return _shortened(_legible(decoder.decode(data, final=not truncated)), limit)


def _legible(text: str) -> str:
    """``text`` in one line, an error object as its code and message, and nothing that moves a cursor."""
    text = _error_object(text) or text
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in " ".join(text.split()))


def _error_object(text: str) -> str | None:
    """``CODE: ERROR`` of ``{"code": CODE, "error": ERROR, "ok": false}``; the code may be absent."""
    try:
        said = orjson.loads(text)
    except ValueError:
        return None
    if not isinstance(said, dict) or said.get("ok") is not False or not isinstance(said.get("error"), str):
        return None
    return ": ".join(part for part in (said.get("code"), said["error"]) if isinstance(part, str) and part)


def _shortened(text: str, limit: int = SHOWN) -> str:
    half = (limit - 3) // 2
    return text if len(text) <= limit else f"{text[:half]} … {text[-half:]}"


def _said(done: Completed) -> str:
    said = diagnostics(done)
    return f": {said}" if said else " and said nothing"


def _ending(code: int) -> str:
    if code >= 0:
        return f"ended with exit status {code}"
    try:
        return f"was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"was ended by signal {-code}"
