"""What must stay the same while a run lasts: its variables, its own code, the program that it asks."""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from pytest_retrieval.arms.program import Program
from pytest_retrieval.programs.process import ProgramError, run
from pytest_retrieval.report.stored import NOT_RUN

DEPENDENCIES = ("numpy", "orjson", "pytest", "zstandard")
_PACKAGE = Path(__file__).parents[1]
_SHIPPED = ("suites", "release")  # data that an installed package holds and a checkout has elsewhere

_PREFIX = "CORVINT_CONTEXT_"
_NAMES = frozenset({"CORVINT_SNAPSHOT_FORMAT", "CORVINT_INDEX_SHARDS", "GOMAXPROCS", "GOGC"})
_FURTHER_PREFIX = "CORVINT_"
_FURTHER_NAMES = frozenset({"GODEBUG", "GOMEMLIMIT"})
_SET_BY_THE_BENCH = frozenset({"CORVINT_BENCH_SNAPSHOT_TRACE"})


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What is read before a run and again after it.

    ``environment`` are the listed variables as ``KEY=VALUE``, sorted. ``further_environment`` are others that
    a program may well read, by name with the SHA-256 of the value: one of them may be a secret. ``bench`` is
    :func:`bench_digest`. ``program`` and ``program_version`` are NOT_RUN where no arm asks a program.
    """

    environment: tuple[str, ...]
    further_environment: Mapping[str, str]
    bench: str
    program: str = NOT_RUN
    program_version: str = NOT_RUN

    @classmethod
    def read(cls, program: Program | None, variables: Mapping[str, str] | None = None) -> Fingerprint:
        """The fingerprint as it is now; ``program`` is asked for its version, ``None`` where no arm needs it.

        Raises:
            UsageError: the program cannot be read or does not answer.
        """
        found = os.environ if variables is None else variables
        listed, further = listed_environment(found), further_environment(found)
        bench = bench_digest()
        if program is None:
            return cls(listed, further, bench)
        identity = program.read_identity()
        return cls(listed, further, bench, identity.sha256, identity.version)


def identity_changes(before: Fingerprint, after: Fingerprint) -> list[str]:
    """What differs, a line each; with any of them a run publishes no report. Values are not shown."""
    changes = []
    old, new = dict(_pairs(before)), dict(_pairs(after))
    names = sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))
    if names:
        changes.append(f"environment variables changed while the benchmark ran: {', '.join(names)}")
    if before.bench != after.bench:
        changes.append("the files of pytest-retrieval or what it depends on changed while the benchmark ran")
    if (before.program, before.program_version) != (after.program, after.program_version):
        changes.append(
            "the Corvint program changed while the benchmark ran: it was "
            f"{before.program_version} sha256:{before.program[:12]} and is "
            f"{after.program_version} sha256:{after.program[:12]}"
        )
    return changes


def listed_environment(variables: Mapping[str, str]) -> tuple[str, ...]:
    """The variables of the original's list, ``CORVINT_CONTEXT_*`` and four others: ``KEY=VALUE``, sorted."""
    return tuple(sorted(f"{name}={value}" for name, value in variables.items() if _is_listed(name)))


def further_environment(variables: Mapping[str, str]) -> dict[str, str]:
    """The SHA-256 of the values of other variables that a Corvint program, or Go's runtime, may read."""
    return {
        name: hashlib.sha256(os.fsencode(value)).hexdigest()
        for name, value in sorted(variables.items())
        if not _is_listed(name) and name not in _SET_BY_THE_BENCH
        if name in _FURTHER_NAMES or name.startswith(_FURTHER_PREFIX)
    }


def bench_digest(package: Path = _PACKAGE) -> str:
    """SHA-256 of what grades: the files of this package, the interpreter and the hard dependencies.

    Over a line ``PATH NUL SHA256-OF-CONTENT LF`` for each regular file, sorted by the bytes of its path below
    the package, and then ``NAME NUL VERSION LF`` for the interpreter and each of :data:`DEPENDENCIES`. Byte
    code is left out, and so are the suites and the release that only an installed package holds: a checkout
    and its wheel have one digest.
    """
    whole = hashlib.sha256()
    for path in sorted(_sources(package), key=os.fsencode):
        digest = hashlib.sha256((package / path).read_bytes()).hexdigest()
        whole.update(os.fsencode(path) + f"\0{digest}\n".encode())
    for name, found in [_interpreter(), *((name, _version(name)) for name in DEPENDENCIES)]:
        whole.update(f"{name}\0{found}\n".encode())
    return whole.hexdigest()


def machine() -> dict[str, Any]:
    """The operating system, Git, and the load averages over 1, 5 and 15 minutes, as they are now."""
    system = f"{platform.system()} {platform.release()} {platform.machine()}"
    return {"git": _git_version(), "load_average": load_average(), "os": system}


def load_average() -> list[float] | None:
    """The load averages over 1, 5 and 15 minutes; None where the system does not tell."""
    try:
        return [round(load, 2) for load in os.getloadavg()]
    except OSError:
        return None


def _is_listed(name: str) -> bool:
    return name in _NAMES or name.startswith(_PREFIX)


def _pairs(fingerprint: Fingerprint) -> list[tuple[str, str]]:
    listed = [entry.partition("=")[::2] for entry in fingerprint.environment]
    return [*listed, *fingerprint.further_environment.items()]


def _sources(package: Path) -> list[str]:
    found = []
    for folder, folders, names in os.walk(package):
        inside = Path(folder).relative_to(package)
        left_out = {"__pycache__", *(_SHIPPED if inside == Path() else ())}
        folders[:] = [name for name in folders if name not in left_out]
        found += [(inside / name).as_posix() for name in names if not name.endswith(".pyc")]
    return found


def _interpreter() -> tuple[str, str]:
    return platform.python_implementation(), platform.python_version()


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "absent"


def _git_version() -> str:
    try:
        done = run(["git", "--version"], timeout=10)
    except ProgramError:
        return "absent"
    return done.stdout.decode("utf-8", "replace").strip().removeprefix("git version ") or "unknown"
